"""The page to type into, in a real browser."""

import contextlib
import json

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from keras_selfattn.serving.server import page as page_routes  # noqa: E402
from tests.chromium import Chromium  # noqa: E402
from tests.chromium import needs_chromium  # noqa: E402
from tests.serving.server.running import ask  # noqa: E402
from tests.serving.server.running import running  # noqa: E402
from tests.serving.server.stand_ins import Pairs  # noqa: E402
from tests.serving.server.stand_ins import Reader  # noqa: E402
from tests.visualization.examples import HOSTILE  # noqa: E402

TOOLS = """
const $ = (id) => document.getElementById(id);
const all = (q) => [...document.querySelectorAll(q)];
const texts = (q) => all(q + ":not([hidden])").map((x) => x.innerText);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const until = async (ready) => {
  for (let i = 0; i < 200; i++) {
    const found = ready();
    if (found) return found;
    await pause(50);
  }
  return null;
};
const type = (id, text) => {
  $(id).value = text;
  $(id).dispatchEvent(new Event("input", { bubbles: true }));
};
const choose = (id, value) => {
  $(id).value = value;
  $(id).dispatchEvent(new Event("change", { bubbles: true }));
};
const verdicts = () => texts(".answer:not([hidden]) .verdict").join(" | ");
const says = (part) => until(() => verdicts().includes(part) && verdicts());
const frame = async (i = 0) => {
  const place = all(".answer")[i];
  await until(() => place.querySelector("iframe")
    && !place.querySelector(".coming"));
  return place.querySelector("iframe").contentDocument;
};
const words = async (i) => [...(await frame(i)).querySelectorAll("span.w")];
"""


class Page:
    def __init__(self, browser, url, fragment=""):
        self.url = url
        self.browser = browser.open(f"{url}/{fragment}")

    def run(self, script):
        return self.browser.run(TOOLS + script)


@pytest.fixture
def show(tmp_path):
    """Opens the page; nothing may complain, or be asked for elsewhere."""
    with contextlib.ExitStack() as stack:

        def open_page(servables, fragment="", **arguments):
            url = stack.enter_context(running(servables, ["127.0.0.1"]))
            browser = Chromium(tmp_path / "profile", **arguments)
            stack.enter_context(browser)
            shown.append((browser, url))
            return Page(browser, url, fragment)

        shown = []
        yield open_page
        for browser, url in shown:
            assert browser.complaints == []
            for asked in browser.requests:
                assert asked.startswith((f"{url}/", "data:,", "about:")), asked


@needs_chromium
def test_typing_changes_the_answer(show):
    page = show([Reader()])
    assert page.run("return $('text') === document.activeElement")
    assert page.run("return says('as you type')")
    page.browser.call("Input.insertText", text="good food")
    verdict = page.run("return says('good')")
    assert verdict == "reviews, version 1: good 100%"
    assert page.run("return texts('.classes li')") == [
        "bad\n0.0%",
        "good\n100%",
    ]
    shown = page.run("return (await words()).map((w) => w.textContent)")
    assert shown == ["good", "food"]
    page.browser.call("Input.insertText", text=" bad bad")
    assert page.run("return says('bad')") == "reviews, version 1: bad 67%"
    shown = page.run("return (await words()).map((w) => w.textContent)")
    assert shown == ["good", "food", "bad", "bad"]
    page.run("type('text', ' ')")
    assert page.run("return says('as you type')")
    assert page.run("return all('iframe').length") == 0


@needs_chromium
def test_what_decided(show):
    page = show([Reader()], "#text=good+bad+bad")
    assert page.run("return says('bad')")
    assert page.run("return texts('.answer .decided')[0]") == (
        "Probability of bad without one word: good 100%, bad 50%, bad 50%"
    )
    page.run("type('text', 'good '.repeat(101))")
    assert page.run("return says('good 100%')")
    assert page.run("return texts('.answer .decided')[0]") == (
        "What decided is told for up to 100 words."
    )


@needs_chromium
def test_a_text_that_is_too_long_is_told_and_not_cut(show):
    page = show([Reader()], "#text=good")
    assert page.run("return says('good 100%')")
    page.browser.call("Input.insertText", text="good " * 2001)
    assert page.run("return $('text').value.length") == 10_009
    assert page.run("return says('up to 10,000 characters')")
    # What was there is of another text.
    assert page.run("return all('iframe, .classes li').length") == 0
    assert page.run("return texts('.answer .decided')[0]") == ""
    # The browser tells of each answer that is no page.
    told = [each["entry"]["text"] for each in page.browser.complaints]
    assert told and all("413" in text for text in told)
    page.browser.complaints.clear()


@needs_chromium
def test_what_was_chosen_stays_so(show):
    page = show([Reader()])
    page.run("type('text', 'good bad a'); await frame();")
    page.run(
        "const old = await frame();"
        "for (const choice of ['[data-row=\"2\"]', '[data-shown=\"0\"]'])"
        "  old.querySelector(choice).click();"
        "old.querySelector('article details').open = true;"
        "type('text', 'good bad a a');"
        "await until(() => !old.defaultView)"
    )
    inner = "(await frame())"
    assert page.run(
        f"return [...{inner}.querySelectorAll('[aria-checked=true]')]"
        ".map((radio) => radio.dataset.row ?? radio.dataset.shown).sort()"
    ) == ["0", "2"]
    opened = f"{inner}.querySelector('article details').open"
    assert page.run(f"return {opened}") is True
    # And so the effects are told: without it the answer would be sure.
    told = page.run("return (await words())[0].getAttribute('aria-label')")
    assert told.startswith("good, effect -50")


@needs_chromium
def test_the_link_holds_the_text(show):
    page = show([Reader()], "#text=a+good%20%23+one")
    assert page.run("return $('text').value") == "a good # one"
    assert page.run("return says('good')")
    page.run("type('text', 'bad & bad')")
    assert page.run("return says('bad')")
    link = page.run("return location.href")
    assert "?" not in link
    page.run("type('text', ''); await says('as you type')")
    page.run("location.href = " + json.dumps(link))
    assert page.run("return says('bad')")
    assert page.run("return $('text').value") == "bad & bad"
    # What is behind the "#" is never asked for, and there is no query.
    assert {request.partition("#")[0] for request in page.browser.requests} <= {
        f"{page.url}/",
        f"{page.url}/ask.js",
        f"{page.url}/ask.css",
        f"{page.url}/explain",
        "data:,",
        "about:srcdoc",
    }


@needs_chromium
def test_two_models_side_by_side(show):
    servables = [Reader(), Pairs(), Reader(version=2, labels=("no", "yes"))]
    page = show(servables, width=1200)
    # Neither itself nor a model of pairs.
    assert page.run("return all('#beside option:disabled').length") == 2
    page.run("choose('beside', '1'); type('text', 'good')")
    both = "reviews, version 1: good 100% | reviews, version 2: yes 100%"
    assert page.run(f"return says({json.dumps(both)})") == both
    left, right = page.run(
        "await frame(0); await frame(1);"
        "return all('.answer').map((x) => x.getBoundingClientRect().left)"
    )
    assert right > left + 400
    assert "beside=reviews%2C+version+2" in page.run("return location.hash")
    # A link to one answer, opened where there were two.
    page.run("location.hash = '#text=bad'")
    assert page.run("return says('bad')") == "reviews, version 1: bad 100%"
    assert page.run("return $('beside').value") == ""
    page.run("choose('beside', '1')")
    page.run("choose('model', '2')")
    assert page.run("return $('beside').value") == ""


@needs_chromium
def test_a_pair_and_its_alignment(show):
    page = show([Pairs()], "#premise=a+b&hypothesis=c")
    assert page.run("return says('other')") == "pairs, version 1: other 75%"
    assert page.run("return texts('label:not([hidden])')[0]") == "Premise"
    found = page.run(
        "const inner = await frame(); inner.querySelectorAll('span.w')[0]"
        ".focus(); return inner.getElementById('tip').textContent"
    )
    assert found.startswith("a")
    assert "c" in found
    page.run("type('hypothesis', 'a b')")
    assert page.run("return says('same')")


@needs_chromium
def test_hostile_texts_and_labels_stay_text(show):
    labels = ["<img src=x onerror=alert(1)>", HOSTILE]
    reader = Reader(name="</option></select><script>x", labels=labels)
    page = show([reader])
    page.run(f"type('text', {json.dumps('good ' + HOSTILE)})")
    assert page.run(f"return says({json.dumps(HOSTILE.split()[0])})")
    inner = "(await frame())"
    assert page.run("return all('script').length") == 1
    assert page.run(f"return {inner}.querySelectorAll('script').length") == 1
    assert page.run(f"return {inner}.querySelectorAll('img').length") == 0
    assert page.run("return all('img').length") == 0
    assert page.run("return texts('.classes bdi')[0]") == labels[0]
    assert page.run("return $('model').options[0].text").startswith(reader.name)


@needs_chromium
def test_no_script_of_a_page_runs_but_ours(show):
    page = show([Reader()], "#text=good")
    page.run("await frame()")
    blocked = page.run(
        "const inner = await frame();"
        "for (const place of [document, inner]) {"
        "  const script = place.createElement('script');"
        "  script.textContent = 'top.ran = true';"
        "  place.body.append(script);"
        "}"
        "await pause(100); return [window.ran ?? null, all('script').length]"
    )
    assert blocked == [None, 2]
    # The browser told of each, as this test wanted.
    told = [each["entry"]["text"] for each in page.browser.complaints]
    assert len(told) >= 2
    assert all("Content Security Policy" in text for text in told)
    page.browser.complaints.clear()


@needs_chromium
def test_by_keyboard_alone(show):
    page = show([Reader(), Reader(version=2)], "#text=good+food")
    page.run("await frame()")
    reached = []
    for _ in range(12):
        page.browser.press("Tab")
        reached.append(
            page.run(
                "let x = document.activeElement;"
                "if (x.contentDocument) x = x.contentDocument.activeElement;"
                "return x.id || x.className || x.tagName"
            )
        )
    assert reached[:3] == ["model", "beside", "copy"]
    assert {"BUTTON", "w", "SUMMARY"} <= set(reached[3:])


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_scrolls_down_only(show, dark):
    page = show(
        [Reader(labels=("bad" * 40, "good")), Reader(version=2)],
        "#text=" + "good " * 60 + "x" * 300 + "&beside=reviews,+version+2",
        width=390,
        height=844,
        phone=True,
        dark=dark,
    )
    page.run("await frame(0); await frame(1)")
    sizes = page.run(
        "const inner = (await frame(0)).documentElement;"
        "return [document.documentElement.scrollWidth, innerWidth,"
        " inner.scrollWidth <= inner.clientWidth,"
        " inner.scrollHeight <= inner.clientHeight + 1]"
    )
    assert sizes == [390, 390, True, True]
    for place in ("document", "(await frame())"):
        background = page.run(
            f"return getComputedStyle({place}.body).backgroundColor"
        )
        assert background.startswith("rgb(16" if dark else "rgb(246")


@needs_chromium
def test_the_weight_stays_by_its_word_on_a_phone(show):
    page = show(
        [Reader()],
        "#text=" + "good " * 200,
        width=390,
        height=844,
        phone=True,
    )
    apart = page.run(
        "const word = (await words())[100]; word.focus();"
        "const tip = word.ownerDocument.getElementById('tip');"
        "const [at, near] = [tip, word].map((x) => x.getBoundingClientRect());"
        "return Math.min(Math.abs(at.bottom - near.top),"
        " Math.abs(at.top - near.bottom))"
    )
    assert apart < 10


@needs_chromium
def test_the_server_is_gone(show):
    page = show([Reader()])
    page.run("window.fetch = () => Promise.reject(new Error('gone'))")
    page.run("type('text', 'good')")
    assert page.run("return says('The server does not answer')")


def test_what_the_page_is_refused(monkeypatch):
    with running([Reader()]) as url:

        def explain(body):
            code, _, text = ask(url, "POST", "/explain", body)
            return code, json.loads(text).get("error")

        assert explain({"model": 0, "inputs": ["good"]}) == (200, None)
        assert explain({"model": 1, "inputs": ["good"]})[0] == 400
        assert explain({"model": "x", "inputs": ["good"]})[0] == 400
        assert explain({"model": [0], "inputs": ["good"]})[0] == 400
        assert explain({"model": 0, "inputs": ["a", "b"]})[0] == 400
        monkeypatch.setattr(page_routes, "LONGEST_TEXT", 10)
        code, error = explain({"model": 0, "inputs": ["good " * 10]})
        assert (code, "up to 10 characters" in error) == (413, True)


def test_headers_of_the_page():
    with running([Reader()]) as url:
        for path in ("/", "/ask.js", "/ask.css"):
            code, headers, _ = ask(url, "GET", path)
            assert code == 200
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
        assert ask(url, "GET", "/page.py")[0] == 404
