// The words of a text, their shades, and what is told of one of them.

const $ = (id) => document.getElementById(id);
const main = document.querySelector("main");
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
const hasHeads = Boolean($("heads"));
const short = (x) => (x >= 100 ? x.toFixed(0) : String(+x.toPrecision(3)));
const rowName = (r) => (r ? "head " + r : "overall");
const numbers = (text) => text.split(" ").map(Number);

// The scale of shading.py.
const steps = numbers($("scale").dataset.steps);
const shares = (weight, words) => Math.round(100 * weight * words) / 100;
const level = (weight, words) =>
  steps.filter((step) => shares(weight, words) >= step).length;

// The roots of weights, each two characters: see page_card.py.
const decode = (largest, weights, words) => {
  const n = weights.length / 2 / largest.length;
  const digit = (k) => weights.charCodeAt(k) - 63;
  const weight = (r, i) => {
    const k = 2 * (r * n + i);
    return ((64 * digit(k) + digit(k + 1)) / 4095) ** 2 * largest[r];
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
  card.append(details(items));
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
    word.setAttribute("role", "button");
    words.push(word);
    parts.append(word);
  }
  const rest = text.slice(at);
  if (rest.trim()) {
    parts.append(make("span", "unread", rest));
  } else {
    parts.append(rest);
  }
  place.replaceChildren(parts);
  place.setAttribute("role", "group");
  place.setAttribute("aria-label",
    `Words of the ${data.name || "text"} and their weights`);
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
  if (method >= 0) {
    paintEffects(item);
    return;
  }
  if (item.row === r) return;
  item.row = r;
  leaveEffects(item);
  const levels = item.words.map((_, i) => (r < 0 ? 0 : item.level(r, i)));
  item.words.forEach((word, i) => {
    tint(word, levels[i]);
    word.setAttribute("aria-label", word.textContent
      + (r < 0 ? "" : ", " + percent(item.weight(r, i))));
  });
  item.note.hidden = r < 0 || item.n === 1 || levels.some(Boolean);
};
const shade = (card) => read(card).forEach((item) => paint(item, row));

// In an alignment, where one word looks in the other sentence.
let looking = null;
const look = (word) => {
  if (hasHeads || word === looking || (word && method >= 0)) return;
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
    ...(hasHeads ? inHeads(item, i) : inOther(item, i)),
    ...effectsTold(item, i));
  look(word);
  tip.hidden = false;
  putTip(word, item);
};
const narrow = matchMedia("(max-width: 640px)");
// A frame is as high as the page: its ends may be out of sight.
const docks = () => narrow.matches && window === top;
const putTip = (word, item) => {
  const box = word.getClientRects()[0];
  const width = document.documentElement.clientWidth;
  tip.classList.toggle("docked", docks());
  if (docks()) {
    // At an end of the screen, where it covers no text of the card.
    const texts = itemsOf(word).map((x) => x.place.getBoundingClientRect());
    const high = $("picker").getBoundingClientRect().bottom;
    const low = innerHeight - tip.offsetHeight - 12;
    const isHigh = texts.at(-1).bottom > low
      && (texts[0].top > high + tip.offsetHeight + 12
        || box.top > (high + low) / 2);
    tip.style.left = "12px";
    tip.style.top = (isHigh ? high + 4 : low) + "px";
    return;
  }
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

const move = (items, event, from, rtl, more) => {
  const ahead = rtl ? "ArrowLeft" : "ArrowRight";
  const back = rtl ? "ArrowRight" : "ArrowLeft";
  const to = { [ahead]: from + 1, [back]: from - 1, Home: 0,
    End: items.length - 1, ...more }[event.key];
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
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    say(word);
  }
  const { words, place } = itemOf(word);
  const from = words.indexOf(word);
  // A pointer may have moved the focus past the word that Tab reaches.
  words.find((other) => other.tabIndex === 0).tabIndex = -1;
  word.tabIndex = 0;
  move(words, event, from, getComputedStyle(place).direction === "rtl");
});
