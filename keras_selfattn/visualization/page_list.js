// Which texts are shown, in what order, and those in sight drawn.

// Each text lies in a noscript: a browser without scripts shows them all,
// and another draws one when it first comes near the screen.
const keys = [...main.querySelectorAll("noscript")].map((place, given) => ({
  ...place.dataset, confidence: Number(place.dataset.confidence), place, given,
}));
const holder = document.createElement("template");
const cardOf = (key) => {
  if (!key.card) {
    holder.innerHTML = key.place.textContent;
    key.card = holder.content.firstElementChild;
  }
  return key.card;
};
const signs = { lt: "<", gt: ">", quot: '"', "#x27": "'", amp: "&" };
// Texts and what is sought in them, in one spelling.
const alike = (text) =>
  text.normalize("NFC").replace(/\s+/g, " ").trim().toLowerCase();
const textOf = (key) => {
  key.text ??= [...key.place.textContent.matchAll(
    /<p class="text"[^>]*>([^<]*)</g)].map((found) => alike(found[1].replace(
    /&([a-z]+|#x27);/g, (_, sign) => signs[sign]))).join("\n");
  return key.text;
};

const GROUP = 12;
const list = make("div");
main.append(list);
const near = new Set();
const come = (group) => {
  near.add(group);
  if (!group.firstChild) {
    group.append(...group.keys.map(cardOf));
    group.style.minHeight = "";
  }
  group.keys.forEach((key) => shade(key.card));
};
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries)
    isIntersecting ? come(target) : near.delete(target);
}, { rootMargin: "800px 0px" });
const layOut = (shown) => {
  watch.disconnect();
  near.clear();
  const groups = [];
  for (let i = 0; i < shown.length; i += GROUP) {
    const group = make("div");
    group.keys = shown.slice(i, i + GROUP);
    groups.push(group);
  }
  list.replaceChildren(...groups);
  // The first screen at once, before the first frame.
  groups.slice(0, 1).forEach(come);
  const height = list.offsetHeight / GROUP;
  for (const group of groups) {
    if (!group.firstChild)
      group.style.minHeight = height * group.keys.length + "px";
    watch.observe(group);
  }
};
const jump = () => {
  const number = Number(/^#t(\d+)$/.exec(location.hash)?.[1]);
  const group = [...list.children].find((x) =>
    x.keys.some((key) => key.given === number - 1));
  if (!group) return;
  come(group);
  $("t" + number).scrollIntoView();
};
addEventListener("hashchange", jump);
addEventListener("beforeprint", () => [...list.children].forEach(come));

const choosing = (group, choose) => {
  const buttons = [...group.querySelectorAll("button")];
  const pick = (button) => {
    for (const other of buttons) {
      other.setAttribute("aria-checked", String(other === button));
      other.tabIndex = other === button ? 0 : -1;
    }
    hush();
    choose(button.dataset);
    near.forEach(come);
  };
  group.addEventListener("click", (event) => {
    if (buttons.includes(event.target)) pick(event.target);
  });
  group.addEventListener("keydown", (event) => {
    const from = buttons.indexOf(event.target);
    const to = from < 0 ? null : move(buttons, event, from, false,
      { ArrowDown: from + 1, ArrowUp: from - 1 });
    if (to) pick(to);
  });
};
if (hasHeads) choosing($("heads"), (data) => { row = Number(data.row); });
if (methods.length) choosing($("shown"), show);

const surest = (a, b) => b.confidence - a.confidence || a.given - b.given;
const orders = {
  given: (a, b) => a.given - b.given,
  low: (a, b) => a.confidence - b.confidence || a.given - b.given,
  high: surest,
  class: (a, b) => a.predicted - b.predicted || surest(a, b),
  wrong: (a, b) => (b.outcome === "wrong") - (a.outcome === "wrong")
    || surest(a, b),
};
const arrange = () => {
  const [low, high] = numbers($("confidence").value);
  const sought = alike($("search").value);
  const shown = keys.filter((key) => key.confidence >= low
    && key.confidence < high
    && ["predicted", "label", "outcome"].every((name) =>
      !$(name).value || $(name).value === key[name])
    && (!sought || textOf(key).includes(sought)));
  layOut(shown.sort(orders[$("sort").value]));
  const count = (n) => n.toLocaleString("en");
  $("count").textContent = shown.length === keys.length
    ? `${count(keys.length)} shown`
    : `${count(shown.length)} of ${count(keys.length)} shown`;
  hush();
};

$("hint").before($("summary"));
if (keys.length) {
  if (!keys.some((key) => key.outcome))
    document.querySelectorAll(".known").forEach((part) => {
      part.hidden = true;
    });
  for (const id of ["hint", "picker"]) $(id).hidden = false;
  $("filters").hidden = keys.length === 1;
  $("search").addEventListener("input", arrange);
  // The search has told of each letter already.
  $("filters").addEventListener("change", (event) => {
    if (event.target !== $("search")) arrange();
  });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  arrange();
  jump();
}
