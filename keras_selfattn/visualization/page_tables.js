// What opens below a text: tables of all weights.

const counted = (n, name) => `${n} ${name}${n === 1 ? "" : "s"}`;
const details = (items) => {
  const box = make("details");
  const words = items.map((item) => item.n).join(" + ");
  box.append(make("summary", "", hasHeads
    ? `Table: weights of ${words} word${words === "1" ? "" : "s"} in ${
      counted(items[0].largest.length - 1, "head")}`
    : `Tables: how ${words} words look at each other`));
  box.addEventListener("toggle", () => {
    if (box.open && box.children.length === 1) fillDetails(items, box);
  });
  return box;
};

// A table in a box of its own that scrolls, and shows that it does.
const resized = new ResizeObserver((entries) => entries.forEach(
  ({ target }) => showMore(target)));
const showMore = (scroll) => {
  const hidden = scroll.scrollWidth - scroll.clientWidth;
  scroll.previousElementSibling.hidden = hidden < 2;
  scroll.classList.toggle("more", scroll.scrollLeft < hidden - 1);
  scroll.classList.toggle("before", scroll.scrollLeft > 1);
};
const scrolled = (label) => {
  const scroll = make("div", "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", label);
  const table = make("table");
  scroll.append(table);
  const top = table.createTHead().insertRow();
  top.append(make("th", "", "word"));
  scroll.addEventListener("scroll", () => showMore(scroll));
  const hint = make("p", "note", "Scroll sideways for all columns →");
  hint.hidden = true;
  resized.observe(scroll);
  return { shown: [hint, scroll], scroll, top, body: table.createTBody() };
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
  const { shown, scroll, top, body } = scrolled("Weights, words by heads");
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
  return shown;
};

const featureTables = (item) => {
  const largest = numbers(item.data.groupsLargest);
  const { level, weight } = decode(largest, item.data.groups, item.n);
  const groups = item.data.groups.length / 2 / largest.length / item.n;
  const parts = [make("p", "note", `Words × ${item.data.features
  } features of each head, in ${groups} groups of features that weigh the `
    + "same word most.")];
  largest.forEach((_, h) => {
    const { shown, scroll, top, body } = scrolled(`Features of head ${h + 1}`);
    top.lastChild.textContent = `head ${h + 1}`;
    const wide = make("td");
    wide.colSpan = groups;
    top.append(wide);
    item.words.forEach((word, i) => {
      const tr = line(body, word.textContent);
      for (let g = 0; g < groups; g++)
        tr.append(shaded(level(h, i * groups + g), "",
          `${word.textContent}: ${percent(weight(h, i * groups + g))}`));
    });
    scroll.classList.add("features");
    parts.push(...shown);
  });
  return parts;
};

// Each line a word that looks, each column a word looked at.
const matrix = (name, from, to, rows) => {
  const { shown, top, body } = scrolled(name);
  to.words.forEach((word) => upright(top, word.textContent));
  from.words.forEach((word, i) => {
    const tr = line(body, word.textContent);
    to.words.forEach((other, j) => {
      const weight = rows.weight(i, j);
      tr.append(shaded(rows.level(i, j), brief(weight), `${word.textContent
      } → ${other.textContent}: ${percent(weight)}`));
    });
  });
  return [make("p", "note", `${name}; each row adds up to 100%`), ...shown];
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

const allClasses = (box, probabilities) => {
  const list = make("ul", "classes");
  numbers(probabilities).forEach((p, i) => {
    const item = make("li");
    item.append(make("bdi", "", $("predicted").options[i + 1].text),
      ": " + percent(p));
    list.append(item);
  });
  box.append(list);
};
const fillDetails = (items, box) => {
  const { classes } = box.closest("article").dataset;
  if (classes) allClasses(box, classes);
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
