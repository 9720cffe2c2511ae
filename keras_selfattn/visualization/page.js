
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const main = document.querySelector("main");
  const cards = [...main.querySelectorAll("article")];
  const labels = [...$("predicted").options].slice(1).map((o) => o.text);
  const tip = $("tip");
  const ready = new Map();
  let row = 0;

  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const percent = (x) => (x >= 0.0995 ? Math.round(100 * x).toString()
    : (100 * x).toFixed(1)) + "%";
  const rowName = (r) => (r ? "head " + r : "overall");
  const numbers = (text) => text.split(" ").map(Number);

  // A card's data, read when it first comes near the screen.
  const read = (card) => {
    let item = ready.get(card);
    if (item) return item;
    const data = card.dataset;
    const steps = numbers(data.spans);
    const n = steps.length / 2;
    const largest = numbers(data.largest);
    const share = (r, i) => (data.weights.charCodeAt(r * n + i) - 63) / 63;
    const place = card.querySelector(".text");
    const text = place.textContent;
    const parts = document.createDocumentFragment();
    const words = [];
    let at = 0;
    for (let i = 0; i < n; i++) {
      parts.append(text.slice(at, at += steps[2 * i]));
      const word = make("span", "w", text.slice(at, at += steps[2 * i + 1]));
      word.tabIndex = i ? -1 : 0;
      words.push(word);
      parts.append(word);
    }
    const rest = text.slice(at);
    if (rest.trim()) {
      const unread = make("span", "unread", rest);
      unread.title = "not read by the model";
      parts.append(unread);
    } else {
      parts.append(rest);
    }
    place.replaceChildren(parts);
    item = { n, largest, share, words, place, row: null,
      weight: (r, i) => share(r, i) * largest[r] };
    ready.set(card, item);
    card.append(details(card, item));
    return item;
  };

  const shade = (card) => {
    const item = read(card);
    if (item.row === row) return;
    item.row = row;
    item.words.forEach((word, i) =>
      word.style.setProperty("--w", item.share(row, i).toFixed(3)));
  };

  const details = (card, item) => {
    const heads = item.largest.length - 1;
    const box = make("details");
    box.append(make("summary", "", `All ${heads} head${heads > 1 ? "s" : ""
      } × ${item.n} word${item.n > 1 ? "s" : ""}`));
    box.addEventListener("toggle", () => {
      if (box.open && box.children.length === 1) fill(card, item, box);
    });
    return box;
  };

  const fill = (card, item, box) => {
    const overlap = numbers(card.dataset.overlap);
    const mean = overlap.reduce((a, b) => a + b, 0) / overlap.length;
    const classes = make("ul", "classes");
    classes.append(make("li", "", "Probability of each class"));
    numbers(card.dataset.classes).forEach((p, i) => {
      const line = make("li");
      line.append(make("bdi", "", labels[i]), ": " + percent(p));
      classes.append(line);
    });
    const scroll = make("div", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Weights, words by heads");
    const table = make("table");
    const top = table.createTHead().insertRow();
    top.append(make("th", "", "word"));
    item.largest.forEach((_, r) => {
      const name = make("th", "", r || "all");
      name.title = rowName(r);
      top.append(name);
    });
    const body = table.createTBody();
    item.words.forEach((word, i) => {
      const line = body.insertRow();
      const name = make("th", "", word.textContent);
      name.dir = "auto";
      name.title = word.textContent;
      line.append(name);
      item.largest.forEach((_, r) => {
        const weight = item.weight(r, i);
        const cell = make("td", "w",
          weight < 0.005 ? "" : Math.round(100 * weight));
        cell.style.setProperty("--w", item.share(r, i).toFixed(3));
        cell.title = `${word.textContent}, ${rowName(r)}: ${percent(weight)}`;
        line.append(cell);
      });
    });
    const foot = body.insertRow();
    foot.append(make("th", "", "overlap"), make("td"));
    overlap.forEach((x) => foot.append(make("td", "", x.toFixed(2))));
    scroll.append(table);
    box.append(classes, make("p", "note", `Weights in per cent. Redundancy ${
      mean.toFixed(2)}, penalty ${card.dataset.penalty}.`), scroll);
  };

  // The weight of the word under the pointer, finger or focus.
  const say = (word) => {
    const card = word.closest("article");
    const item = read(card);
    const i = item.words.indexOf(word);
    let best = 1;
    for (let r = 2; r < item.largest.length; r++)
      if (item.weight(r, i) > item.weight(best, i)) best = r;
    tip.replaceChildren(make("bdi", "", word.textContent),
      ` · ${percent(item.weight(row, i))} ${row ? "in " : ""}${rowName(row)}`
      + (row === best ? "" : ` · most in head ${best}, ${
        percent(item.weight(best, i))}`));
    tip.hidden = false;
    const box = word.getClientRects()[0];
    const width = document.documentElement.clientWidth;
    const left = Math.max(4, Math.min(box.left, width - tip.offsetWidth - 4));
    const above = box.top - tip.offsetHeight - 6;
    tip.style.left = left + scrollX + "px";
    tip.style.top = (above > 56 ? above : box.bottom + 6) + scrollY + "px";
  };
  const hush = () => { tip.hidden = true; };
  const wordOf = (event) => event.target.closest?.("span.w");
  for (const kind of ["pointerover", "focusin", "click"])
    main.addEventListener(kind, (event) => {
      const word = wordOf(event);
      word ? say(word) : hush();
    });
  main.addEventListener("pointerleave", hush);
  main.addEventListener("focusout", hush);

  const move = (items, event, from, rtl) => {
    const ahead = rtl ? "ArrowLeft" : "ArrowRight";
    const back = rtl ? "ArrowRight" : "ArrowLeft";
    const to = { [ahead]: from + 1, [back]: from - 1, Home: 0,
      End: items.length - 1 }[event.key];
    if (to === undefined || !items[to]) return null;
    event.preventDefault();
    items[from].tabIndex = -1;
    items[to].tabIndex = 0;
    items[to].focus();
    return items[to];
  };
  main.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hush();
    const word = wordOf(event);
    if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
    const { words, place } = read(word.closest("article"));
    const from = words.indexOf(word);
    // A pointer may have moved the focus past the word that Tab reaches.
    words.find((other) => other.tabIndex === 0).tabIndex = -1;
    word.tabIndex = 0;
    move(words, event, from, getComputedStyle(place).direction === "rtl");
  });

  // The first screen at once, before the first frame; the rest when near.
  const near = new Set(cards.slice(0, 12));
  near.forEach(shade);
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      isIntersecting ? near.add(target) : near.delete(target);
      if (isIntersecting) shade(target);
    }
  }, { rootMargin: "800px 0px" });
  cards.forEach((card) => watch.observe(card));
  addEventListener("beforeprint", () => cards.forEach(shade));

  const buttons = [...$("picker").querySelectorAll("button")];
  const pick = (button) => {
    row = Number(button.dataset.row);
    for (const other of buttons) {
      other.setAttribute("aria-checked", String(other === button));
      other.tabIndex = other === button ? 0 : -1;
    }
    hush();
    near.forEach(shade);
  };
  $("picker").addEventListener("click", (event) => {
    if (buttons.includes(event.target)) pick(event.target);
  });
  $("picker").addEventListener("keydown", (event) => {
    const from = buttons.indexOf(event.target);
    const to = from < 0 ? null : move(buttons, event, from, false);
    if (to) pick(to);
  });

  const keys = cards.map((card, given) => ({
    card, given, predicted: card.dataset.predicted, gold: card.dataset.gold,
    outcome: card.dataset.outcome, confidence: Number(card.dataset.confidence),
  }));
  const surest = (a, b) => b.confidence - a.confidence || a.given - b.given;
  const orders = {
    given: (a, b) => a.given - b.given,
    low: (a, b) => a.confidence - b.confidence || a.given - b.given,
    high: surest,
    class: (a, b) => a.predicted - b.predicted || surest(a, b),
    wrong: (a, b) => (b.outcome === "wrong") - (a.outcome === "wrong")
      || surest(a, b),
  };
  let sorted = "given";
  const arrange = () => {
    const [low, high] = numbers($("confidence").value);
    let shown = 0;
    for (const key of keys) {
      const keep = key.confidence >= low && key.confidence < high
        && ["predicted", "gold", "outcome"].every((name) =>
          !$(name).value || $(name).value === key[name]);
      key.card.hidden = !keep;
      shown += keep;
    }
    if ($("sort").value !== sorted) {
      sorted = $("sort").value;
      keys.sort(orders[sorted]);
      main.append(...keys.map((key) => key.card));
    }
    $("count").textContent = shown === cards.length
      ? `${shown.toLocaleString("en")} shown`
      : `${shown.toLocaleString("en")} of ${
        cards.length.toLocaleString("en")} shown`;
    hush();
  };

  $("top").append($("summary"));
  if (cards.length) {
    if (!keys.some((key) => key.outcome))
      document.querySelectorAll(".known").forEach((part) => {
        part.hidden = true;
      });
    $("filters").hidden = $("picker").hidden = false;
    $("filters").addEventListener("change", arrange);
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    arrange();
  }
})();
