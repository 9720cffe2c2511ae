"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const model = $("model");
  const beside = $("beside");
  const places = [...document.querySelectorAll(".answer")];
  const fields = { single: ["text"], pair: ["premise", "hypothesis"] };
  const PAUSE = 250;

  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const percent = (x) => (100 * x).toFixed(x >= 0.0995 ? 0 : 1) + "%";
  const chosen = (select) => select.selectedOptions[0];
  const isPair = (option) => option.hasAttribute("data-pair");
  const kind = () => (isPair(chosen(model)) ? "pair" : "single");
  const typed = () => Object.fromEntries(
    fields[kind()].map((name) => [name, $(name).value]));

  // What the link holds, behind the "#" that no request sends.
  const toLink = () => {
    const said = new URLSearchParams(typed());
    if (model.length > 1) said.set("model", chosen(model).text);
    if (beside.value) said.set("beside", chosen(beside).text);
    history.replaceState(null, "", "#" + said);
  };
  const select = (menu, text) => {
    const option = [...menu.options].find((each) => each.text === text);
    if (option && !option.disabled) option.selected = true;
  };
  const fromLink = () => {
    const said = new URLSearchParams(location.hash.slice(1));
    select(model, said.get("model"));
    fit();
    beside.value = "";
    select(beside, said.get("beside"));
    for (const name of Object.values(fields).flat())
      if (said.has(name)) $(name).value = said.get(name);
  };

  // The fields that the model reads, and the models of the same kind.
  const fit = () => {
    for (const name of Object.keys(fields))
      document.querySelectorAll("label." + name).forEach((label) => {
        label.hidden = name !== kind();
      });
    for (const option of beside.options)
      option.disabled = option.value !== "" && (option.value === model.value
        || isPair(option) !== isPair(chosen(model)));
    if (chosen(beside).disabled) beside.value = "";
    $("second").hidden = model.length < 2;
  };

  // What the reader chose in the answer before holds for the next one too.
  const keepChoices = (from, to) => {
    const radios = (inner) => [...inner.querySelectorAll("[role=radio]")];
    const said = (radio) => radio.parentNode.id + radio.textContent;
    const wanted = radios(from).filter((radio) =>
      radio.getAttribute("aria-checked") === "true").map(said);
    for (const radio of radios(to))
      if (wanted.includes(said(radio))) radio.click();
    const boxes = to.querySelectorAll("details");
    from.querySelectorAll("details").forEach((box, i) => {
      if (box.open && boxes[i]) boxes[i].open = true;
    });
  };

  // One text needs no filters, and its answer is told above the words.
  const arrange = (inner) => {
    const sheet = new inner.defaultView.CSSStyleSheet();
    sheet.replaceSync("#filters, h1, .head { display: none !important; }");
    inner.adoptedStyleSheets = [sheet];
    inner.querySelector("main")?.after(inner.getElementById("top") ?? "");
  };

  // The words are drawn by the page of explanations, a document of its own;
  // the new one takes the place of the old when it is drawn.
  const show = (place, html, title) => {
    const seen = place.querySelector(".seen");
    seen.querySelectorAll(".coming").forEach((frame) => frame.remove());
    const old = seen.querySelector("iframe");
    const frame = make("iframe", "coming");
    frame.title = title;
    frame.addEventListener("load", () => {
      const inner = frame.contentDocument;
      arrange(inner);
      if (old) keepChoices(old.contentDocument, inner);
      const measure = () => {
        frame.style.height = inner.body.scrollHeight + "px";
      };
      measure();
      new ResizeObserver(measure).observe(inner.body);
      frame.className = "";
      old?.remove();
    });
    frame.srcdoc = html;
    seen.append(frame);
  };

  const clear = (place, text) => {
    const [verdict, classes, decided, seen] = place.children;
    verdict.textContent = text;
    verdict.classList.remove("failed");
    classes.replaceChildren();
    decided.textContent = "";
    seen.replaceChildren();
    place.classList.remove("late");
  };

  const whatDecided = ({ predicted, decided }) => {
    if (typeof decided === "string") return [decided];
    return ["Probability of ", make("bdi", "", predicted),
      " without one word: ",
      ...decided.flatMap((each, i) => [i ? ", " : "",
        make("b", "", each.word), " " + percent(each.probability)])];
  };

  const answered = (place, option, answer) => {
    const [verdict, classes, decided] = place.children;
    const best = Math.max(...answer.probabilities.map((x) => x.probability));
    verdict.classList.remove("failed");
    verdict.replaceChildren(make("bdi", "", option.text), ": ",
      make("b", "", answer.predicted), ` ${percent(best)}`);
    classes.replaceChildren(...answer.probabilities.map((each) => {
      const item = make("li");
      const bar = make("progress");
      bar.max = 1;
      bar.value = each.probability;
      bar.setAttribute("aria-hidden", "true");
      item.append(make("bdi", "", each.label), bar,
        make("span", "", percent(each.probability)));
      return item;
    }));
    decided.replaceChildren(...whatDecided(answer));
    show(place, answer.html, `What ${option.text} looked at`);
    place.classList.remove("late");
  };
  const failed = (place, message) => {
    clear(place, message);
    place.children[0].classList.add("failed");
  };

  const asking = new Map();
  const ask = async (place, option) => {
    asking.get(place)?.abort();
    const texts = Object.entries(typed());
    if (!option || !texts.some(([, text]) => text.trim())) {
      clear(place, option ? "The answer comes as you type." : "");
      return;
    }
    const control = new AbortController();
    asking.set(place, control);
    place.classList.add("late");
    try {
      const response = await fetch("explain", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ model: Number(option.value),
          inputs: Object.fromEntries(
            texts.map(([name, text]) => [name, [text]])) }),
        signal: control.signal,
      });
      const answer = await response.json();
      if (response.ok) answered(place, option, answer);
      else failed(place, answer.error);
    } catch (error) {
      if (error.name !== "AbortError")
        failed(place, "The server does not answer.");
    }
  };
  const askAll = () => {
    const two = Boolean(beside.value);
    document.body.classList.toggle("two", two);
    places[1].hidden = !two;
    toLink();
    ask(places[0], chosen(model));
    ask(places[1], two ? chosen(beside) : null);
  };

  let waiting = 0;
  $("texts").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(askAll, PAUSE);
  });
  $("choices").addEventListener("change", () => {
    fit();
    askAll();
  });
  $("ask").addEventListener("submit", (event) => event.preventDefault());
  $("copy").addEventListener("click", async () => {
    toLink();
    try {
      await navigator.clipboard.writeText(location.href);
      $("copied").textContent = "Copied.";
    } catch {
      $("copied").textContent = "Copy it from the address bar.";
    }
  });
  addEventListener("hashchange", () => {
    fromLink();
    askAll();
  });
  fromLink();
  askAll();
  document.querySelector("label:not([hidden]) textarea").focus();
})();
