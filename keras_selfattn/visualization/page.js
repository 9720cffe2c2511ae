
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
  // As formatting.py writes them.
  const percent = (x) => (x > 0 && x < 0.0005 ? "under 0.05%"
    : (100 * x).toFixed(x === 0 || x >= 0.0995 ? 0 : x >= 0.00995 ? 1 : 2)
      + "%");
  const brief = (x) => (x < 0.0005 ? "" : percent(x));
  // Without heads the words of one sentence weigh those of the other.
  const hasHeads = Boolean(document.querySelector("[role=radiogroup]"));
  const short = (x) => (x >= 100 ? x.toFixed(0) : String(+x.toPrecision(3)));
  const rowName = (r) => (r ? "head " + r : "overall");
  const numbers = (text) => text.split(" ").map(Number);

  // The scale of shading.py.
  const steps = numbers($("scale").dataset.steps);
  const shares = (weight, words) => Math.round(100 * weight * words) / 100;
  const level = (weight, words) =>
    steps.filter((step) => shares(weight, words) >= step).length;

  // Weights of rows of a text's words, each two characters: see page.py.
  const decode = (largest, weights, words) => {
    const n = weights.length / 2 / largest.length;
    const digit = (k) => weights.charCodeAt(k) - 63;
    const weight = (r, i) => {
      const k = 2 * (r * n + i);
      return (64 * digit(k) + digit(k + 1)) / 4095 * largest[r];
    };
    return { largest, weight, level: (r, i) => level(weight(r, i), words) };
  };

  // A card's texts, read when it first comes near the screen.
  const read = (card) => {
    let items = ready.get(card);
    if (items) return items;
    items = [...card.querySelectorAll(".text")].map(readText);
    items.forEach((item, i) => { item.other = items[1 - i]; });
    ready.set(card, items);
    card.append(details(card, items));
    return items;
  };
  const itemsOf = (word) => read(word.closest("article"));
  const itemOf = (word) => {
    const place = word.closest(".text");
    return itemsOf(word).find((x) => x.place === place);
  };

  const readText = (place) => {
    const data = place.dataset;
    const steps = numbers(data.spans);
    const n = steps.length / 2;
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
    const note = make("p", "note",
      $("scale").dataset.note.replace("{}", percent(1 / n)));
    place.after(note);
    return { n, words, place, data, note, row: null,
      ...decode(numbers(data.largest), data.weights, n) };
  };

  const tint = (element, tone) =>
    element.style.setProperty("--w", String(tone / steps.length));
  // Row r of the weights of a text; no row leaves it plain.
  const paint = (item, r) => {
    if (item.row === r) return;
    item.row = r;
    const levels = item.words.map((_, i) => (r < 0 ? 0 : item.level(r, i)));
    item.words.forEach((word, i) => tint(word, levels[i]));
    item.note.hidden = r < 0 || item.n === 1 || levels.some(Boolean);
  };
  const shade = (card) => read(card).forEach((item) => paint(item, row));

  // In an alignment, where one word looks in the other sentence.
  let looking = null;
  const look = (word) => {
    if (hasHeads || word === looking) return;
    if (looking) {
      looking.classList.remove("looking");
      shade(looking.closest("article"));
    }
    looking = word;
    if (!word) return;
    const item = itemOf(word);
    word.classList.add("looking");
    paint(item, -1);
    paint(item.other, item.words.indexOf(word) + 1);
  };

  const counted = (n, name) => `${n} ${name}${n === 1 ? "" : "s"}`;
  const details = (card, items) => {
    const box = make("details");
    const words = items.map((item) => item.n).join(" + ");
    box.append(make("summary", "", hasHeads
      ? `All ${counted(items[0].largest.length - 1, "head")} × ${
        words} word${words === "1" ? "" : "s"}`
      : `All ${items.map((item) => item.n).join(" × ")} words`));
    box.addEventListener("toggle", () => {
      if (box.open && box.children.length === 1) fill(card, items, box);
    });
    return box;
  };

  // A table in a box of its own that scrolls.
  const scrolled = (label) => {
    const scroll = make("div", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", label);
    const table = make("table");
    scroll.append(table);
    const top = table.createTHead().insertRow();
    top.append(make("th", "", "word"));
    return { scroll, top, body: table.createTBody() };
  };
  const line = (body, text) => {
    const name = make("th", "", text);
    name.dir = "auto";
    name.title = text;
    const tr = body.insertRow();
    tr.append(name);
    return tr;
  };
  const upright = (top, text) => {
    const cell = make("th", "upright");
    const inner = make("div", "", text);
    inner.dir = "auto";
    cell.title = text;
    cell.append(inner);
    top.append(cell);
  };
  const shaded = (tone, text, title) => {
    const cell = make("td", "w", text);
    tint(cell, tone);
    cell.title = title;
    return cell;
  };

  const headTable = (item) => {
    const overlap = numbers(item.data.overlap);
    const penalty = numbers(item.data.penalty);
    const sum = (all) => all.reduce((a, b) => a + b, 0);
    const { scroll, top, body } = scrolled("Weights, words by heads");
    item.largest.forEach((_, r) => {
      const name = make("th", "", r || "all");
      name.title = rowName(r);
      top.append(name);
    });
    item.words.forEach((word, i) => {
      const tr = line(body, word.textContent);
      item.largest.forEach((_, r) => {
        const weight = item.weight(r, i);
        tr.append(shaded(item.level(r, i), brief(weight),
          `${word.textContent}, ${rowName(r)}: ${percent(weight)}`));
      });
    });
    const foot = scroll.firstChild.createTFoot();
    const measure = (name, show, all, values) => {
      const tr = foot.insertRow();
      tr.append(make("th", "", name));
      for (const x of [all, ...values])
        tr.append(make("td", "", show(x)));
    };
    measure("overlap", percent, sum(overlap) / overlap.length, overlap);
    measure("penalty", short, sum(penalty), penalty);
    return [scroll];
  };

  const featureTables = (item) => {
    const largest = numbers(item.data.groupsLargest);
    const { level, weight } = decode(largest, item.data.groups, item.n);
    const groups = item.data.groups.length / 2 / largest.length / item.n;
    const parts = [make("p", "note", `Words × ${item.data.features
    } features of each head, in ${groups} groups of features that weigh the `
      + "same word most.")];
    largest.forEach((_, h) => {
      const { scroll, top, body } = scrolled(`Features of head ${h + 1}`);
      top.lastChild.textContent = `head ${h + 1}`;
      const wide = make("th");
      wide.colSpan = groups;
      top.append(wide);
      item.words.forEach((word, i) => {
        const tr = line(body, word.textContent);
        for (let g = 0; g < groups; g++)
          tr.append(shaded(level(h, i * groups + g), "",
            `${word.textContent}: ${percent(weight(h, i * groups + g))}`));
      });
      scroll.classList.add("features");
      parts.push(scroll);
    });
    return parts;
  };

  // Each line a word that looks, each column a word looked at.
  const matrix = (name, from, to, rows) => {
    const { scroll, top, body } = scrolled(name);
    to.words.forEach((word) => upright(top, word.textContent));
    from.words.forEach((word, i) => {
      const tr = line(body, word.textContent);
      to.words.forEach((other, j) => {
        const weight = rows.weight(i, j);
        tr.append(shaded(rows.level(i, j), brief(weight), `${word.textContent
        } → ${other.textContent}: ${percent(weight)}`));
      });
    });
    return [make("p", "note", `${name}; each row adds up to 100%`), scroll];
  };
  const alignments = (items) => [
    ...items.flatMap((from) => matrix(`The ${from.data.name
    } (rows) looks at the ${from.other.data.name} (columns)`,
    from, from.other, { level: (i, j) => from.other.level(i + 1, j),
      weight: (i, j) => from.other.weight(i + 1, j) })),
    ...items.filter((item) => item.data.within).flatMap((item) => matrix(
      `The ${item.data.name} (rows) looks at itself (columns)`,
      item, item,
      decode(numbers(item.data.withinLargest), item.data.within, item.n))),
  ];

  const fill = (card, items, box) => {
    const classes = make("ul", "classes");
    classes.append(make("li", "", "Probability of each class"));
    numbers(card.dataset.classes).forEach((p, i) => {
      const item = make("li");
      item.append(make("bdi", "", labels[i]), ": " + percent(p));
      classes.append(item);
    });
    box.append(classes);
    if (!hasHeads) {
      box.append(...alignments(items));
      return;
    }
    for (const item of items) {
      if (item.data.name) box.append(make("h2", "side", item.data.name));
      box.append(...headTable(item));
      if (item.data.groups) box.append(...featureTables(item));
    }
  };

  const largestOf = (count, weight) => {
    let best = 0;
    for (let k = 1; k < count; k++) if (weight(k) > weight(best)) best = k;
    return best;
  };
  const inHeads = (item, i) => {
    const best = 1 + largestOf(item.largest.length - 1,
      (r) => item.weight(r + 1, i));
    return [` · ${percent(item.weight(row, i))} ${row ? "in " : ""
    }${rowName(row)}` + (row === best ? "" : ` · most in head ${best}, ${
      percent(item.weight(best, i))}`)];
  };
  const inOther = (item, i) => {
    const best = largestOf(item.other.n, (j) => item.other.weight(i + 1, j));
    return [" looks most at ",
      make("bdi", "", item.other.words[best].textContent),
      ` (${percent(item.other.weight(i + 1, best))}) · gets ${
        percent(item.weight(0, i))} of all looks`];
  };

  // The weight of the word under the pointer, finger or focus.
  const say = (word) => {
    const item = itemOf(word);
    const i = item.words.indexOf(word);
    tip.replaceChildren(make("bdi", "", word.textContent),
      ...(hasHeads ? inHeads(item, i) : inOther(item, i)));
    look(word);
    tip.hidden = false;
    const box = word.getClientRects()[0];
    const width = document.documentElement.clientWidth;
    const left = Math.max(4, Math.min(box.left, width - tip.offsetWidth - 4));
    const above = box.top - tip.offsetHeight - 6;
    // The other sentence, which is shaded now, stays in sight.
    const second = looking && item === itemsOf(word)[1];
    tip.style.left = left + scrollX + "px";
    tip.style.top = (above > 56 && !second ? above : box.bottom + 6) + scrollY
      + "px";
  };
  const hush = () => {
    tip.hidden = true;
    look(null);
  };
  const wordOf = (event) => event.target.closest?.("span.w");
  for (const kind of ["pointerover", "focusin", "click"])
    main.addEventListener(kind, (event) => {
      const word = wordOf(event);
      if (word) say(word);
      // Between two words the picture stays.
      else if (looking && event.target.closest(".text")) tip.hidden = true;
      else hush();
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
    const { words, place } = itemOf(word);
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
    card, given, predicted: card.dataset.predicted, label: card.dataset.label,
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
        && ["predicted", "label", "outcome"].every((name) =>
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

  $("hint").before($("summary"));
  if (cards.length) {
    if (!keys.some((key) => key.outcome))
      document.querySelectorAll(".known").forEach((part) => {
        part.hidden = true;
      });
    for (const id of ["hint", "filters", "picker"]) $(id).hidden = false;
    $("filters").addEventListener("change", arrange);
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    arrange();
  }
})();
