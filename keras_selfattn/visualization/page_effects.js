// What decided: the effects of words in the place of the attention.

// The method that is shown, or -1 for the attention.
let method = -1;
const methods = [...document.querySelectorAll("[data-shown]")]
  .filter((button) => button.dataset.shown !== "");
// Of each word its shade, below 0 against the answer, and its effect.
const effectsOf = (item, k) => ({
  levels: [...item.data["effect" + k]].map((c) => c.charCodeAt(0) - 68),
  said: item.data["said" + k].split("|"),
  told: item.data["told" + k],
});

const paintEffects = (item) => {
  const row = "effect" + method;
  if (item.row === row) return;
  item.row = row;
  const { levels, said, told } = effectsOf(item, method);
  item.place.classList.add("effects");
  item.words.forEach((word, i) => {
    tint(word, Math.abs(levels[i]));
    word.classList.toggle("against", levels[i] < 0);
    word.setAttribute("aria-label", `${word.textContent}, effect ${said[i]}`);
  });
  item.told ??= item.note.parentNode.insertBefore(make("p", "note"), item.note);
  item.told.textContent = told;
  item.told.hidden = !told;
  item.note.hidden = true;
};
const leaveEffects = (item) => {
  item.place.classList.remove("effects");
  if (item.told) item.told.hidden = true;
};
const effectsTold = (item, i) => methods.map((button) =>
  ` · ${button.textContent.toLowerCase()} ${
    effectsOf(item, button.dataset.shown).said[i]}`);
const show = (data) => {
  method = data.shown === "" ? -1 : Number(data.shown);
  for (const id of ["heads", "picker-name", "scale"])
    if ($(id)) $(id).hidden = method >= 0;
  $("effects-scale").hidden = method < 0;
};
