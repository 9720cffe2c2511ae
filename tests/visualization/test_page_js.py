"""The page in a real browser: seen, pointed at, and read with the keyboard."""

import numpy as np
import pytest

from keras_selfattn.visualization import AlignmentExplanation
from keras_selfattn.visualization import PairExplanation
from keras_selfattn.visualization import Sentence
from keras_selfattn.visualization import write_html
from keras_selfattn.visualization.formatting import percent
from tests.chromium import Chromium
from tests.chromium import needs_chromium
from tests.visualization.examples import HOSTILE
from tests.visualization.examples import LABELS
from tests.visualization.examples import alignment
from tests.visualization.examples import alignment_with_effects
from tests.visualization.examples import explanation
from tests.visualization.examples import with_effects

pytestmark = needs_chromium
NOTHING = "No word stands out: each has less than 1.5× an even share ({})."
TOOLS = """
const all = (q) => [...document.querySelectorAll(q)];
const texts = (q) => all(q).map((x) => x.textContent);
const shades = (q = "") => all(q + " span.w").map(
  (w) => w.style.getPropertyValue("--w"));
const notes = (q) => all(q + " > .note").filter((x) => !x.hidden)
  .map((x) => x.textContent);
const order = () => all("article").filter((a) => !a.hidden)
  .map((a) => a.id).join(" ");
const choose = (id, value) => {
  const select = document.getElementById(id);
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
  return order();
};
const type = (sought) => {
  const search = document.getElementById("search");
  search.value = sought;
  search.dispatchEvent(new Event("input", { bubbles: true }));
  return texts("#count")[0];
};
const tip = () => {
  const box = document.getElementById("tip");
  return box.hidden ? null : box.textContent;
};
const $visible = (q) => Boolean(all(q)[0]?.offsetParent);
const pause = () => new Promise((done) => setTimeout(done, 200));
const opened = async (q) => {
  document.querySelector(q + " details").open = true;
  await pause();
};
"""


class Page:
    """A page of explanations in a browser."""

    def __init__(self, browser, path):
        self.browser = browser.open(path)

    def run(self, script):
        return self.browser.run(TOOLS + script)


@pytest.fixture
def show(tmp_path):
    """Opens a page of explanations; nothing may complain or be asked for."""
    browsers = []

    def open_page(items, **arguments):
        path = write_html(items, tmp_path / "page.html")
        browser = Chromium(tmp_path / f"profile{len(browsers)}", **arguments)
        browsers.append((browser, path))
        return Page(browser, path)

    yield open_page
    for browser, path in browsers:
        with browser:
            assert browser.complaints == []
            assert browser.requests == [path.as_uri()]


def three(**arguments):
    return [
        explanation("a b", label="bad", probabilities=[0.25, 0.75]),
        explanation("c 😍", label="bad", probabilities=[0.9, 0.1]),
        explanation("e f", label="good", probabilities=[0.4, 0.6]),
    ]


def test_hostile_text_stays_text(show):
    hostile = explanation(
        HOSTILE, labels=["x", "</option></select><script>y"], label="x<!--"
    )
    page = show([hostile, hostile])
    assert page.run("return texts('.text')") == [HOSTILE] * 2
    assert page.run("return all('#t1 span.w').length") == len(HOSTILE.split())
    assert page.run("return all('script').length") == 1
    assert page.run("return texts('#predicted option')[2]") == hostile.labels[1]
    page.run("await opened('#t1')")
    shown = page.run("return texts('#t1 .classes bdi')")
    assert shown == hostile.labels[::-1]
    assert page.run("return type('</table>')") == "0 of 2 shown"
    assert page.run("return type(`alert(1)</Script> \"a' &`)") == "2 shown"
    assert "true" not in page.run("return document.title")


def test_hostile_pair_stays_text(show):
    page = show([alignment(HOSTILE, "x")])
    page.run("await opened('#t1'); all('span.w')[0].focus();")
    assert page.run("return texts('.text')") == [HOSTILE, "x"]
    assert page.run("return all('script').length") == 1


def test_texts_are_shown_without_javascript(tmp_path):
    path = write_html(three(), tmp_path / "page.html")
    with Chromium(tmp_path / "profile") as browser:
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(path)
        shown = browser.run("return document.querySelector('main').innerText")
    for part in ("a b", "c 😍", "e f", "✗ wrong", "bad: 90%"):
        assert part in shown
    assert "data-" not in shown


def test_sorting(show):
    page = show(three())
    for kind, expected in {
        "low": "t3 t1 t2",
        "high": "t2 t1 t3",
        "class": "t2 t1 t3",
        "wrong": "t1 t2 t3",
        "given": "t1 t2 t3",
    }.items():
        shown = page.run(f"return choose('sort', '{kind}')")
        assert shown == expected, kind


def test_sorting_by_any_difference(show):
    page = show(
        explanation("a b", probabilities=[1 - sure, sure])
        for sure in (0.99991, 0.99993, 0.99992)
    )
    assert page.run("return choose('sort', 'high')") == "t2 t3 t1"


def test_the_search_reads_texts_as_they_are_seen(show):
    page = show([explanation("not  so\nbad gro\u0308\u00dfe")])
    for sought in ("not so bad", "NOT\u00a0SO", "gr\u00f6\u00df", "gro\u0308"):
        assert page.run(f"return type({sought!r})") == "1 shown", sought
    assert page.run("return type('not bad')") == "0 of 1 shown"


def test_small_weights_are_those_of_the_terminal(show):
    row = [0.9, 0.0009, 0.0019, 0.0114, 0.0247, 0.0611]
    page = show([explanation("a b c d e f", [row])])
    told = "all('span.w').map((w) => w.getAttribute('aria-label'))"
    assert page.run(f"return {told}") == [
        f"{word}, {percent(weight)}"
        for word, weight in zip("abcdef", row, strict=True)
    ]


def test_filtering(show):
    page = show(three())
    for name, value, expected in (
        ("outcome", "wrong", "t1"),
        ("outcome", "right", "t2 t3"),
        ("predicted", "1", "t1 t3"),
        ("label", "0", "t1 t2"),
        ("confidence", "0.5 0.7", "t3"),
        ("confidence", "0.9 1.1", "t2"),
    ):
        shown = page.run(f"return choose('{name}', '{value}')")
        assert shown == expected, (name, value)
        count = f"{len(expected.split())} of 3 shown"
        assert page.run("return texts('#count')") == [count]
        page.run(f"document.getElementById('{name}').selectedIndex = 0")


def test_filters_of_labels_need_labels(show):
    page = show([explanation("a b"), explanation("c d")])
    assert page.run(
        "return all('#filters label').filter((x) => x.offsetWidth)"
        ".map((x) => x.firstChild.textContent.trim())"
    ) == ["Search", "Predicted", "Confidence", "Sort"]


def test_picking_a_head(show):
    page = show(three())
    assert page.run("return shades('#t2')") == ["0", "0"]
    assert page.run("return notes('#t2')") == [NOTHING.format("50%")]
    page.run("all('#picker button')[2].click()")
    assert page.run("return shades('#t2')") == ["0", "0.2"]
    assert page.run("return notes('#t2')") == []
    assert page.run("return texts('#t2 span.w')") == ["c", "😍"]
    page.run("all('#t2 span.w')[1].focus()")
    assert page.run("return tip()") == "😍 · 75% in head 2"


def test_measures_of_each_head(show):
    scores = [[1.0, 0, 0], [0.5, 0.5, 0], [0, 0, 1.0]]
    page = show([explanation("a b c", scores), explanation("d e f", scores)])
    page.run("await opened('#summary')")
    rows = page.run("return all('#summary tbody tr').map((r) => r.innerText)")
    assert [row.split("\t") for row in rows] == [
        ["overlap", "25%", "25%", "0%"],
        ["penalty", "0.25", "0.5", "0"],
        ["largest weight", "100%", "50%", "100%"],
    ]
    page.run("await opened('#t2')")
    feet = page.run("return all('#t2 tfoot tr').map((r) => r.innerText)")
    assert [row.split("\t") for row in feet] == [
        ["overlap", "17%", "25%", "25%", "0%"],
        ["penalty", "0.75", "0.25", "0.5", "0"],
    ]


def test_even_attention_is_told_and_not_painted(show):
    even = np.full((1, 6), 1 / 6)
    sharp = [[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]]
    texts = ["a b c d e f", "g h i j k l"]
    page = show(map(explanation, texts, [even, sharp]))
    assert page.run("return shades('#t1')") == ["0"] * 6
    assert page.run("return notes('article')") == [NOTHING.format("17%")]


def test_a_shade_is_the_same_in_every_text(show):
    # Twice an even share, beside words that have more and that have less.
    rows = [
        [0.4, 0.5, 0.1, 0, 0],
        [0.4, 0.2, 0.2, 0.1, 0.1],
        [*[0.2, 0.8], *[0] * 8],
    ]
    page = show(explanation(" ".join("x" * len(row)), [row]) for row in rows)
    first = [page.run(f"return shades('#t{i}')[0]") for i in (1, 2, 3)]
    assert first == ["0.4"] * 3
    assert page.run("return shades('#t3')[1]") == "1"
    key = page.run(
        "return all('#scale i').map((x) => [x.textContent,"
        "getComputedStyle(x).backgroundColor])"
    )
    assert [step for step, _ in key] == ["1.5", "2", "3", "5", "8"]
    painted = page.run(
        "return getComputedStyle(all('span.w')[0]).backgroundColor"
    )
    assert painted == key[1][1]


def test_the_keyboard_reaches_everything(show):
    page = show(three())
    reached = []
    for _ in range(20):
        page.browser.press("Tab")
        here = page.run(
            "const x = document.activeElement;"
            "return x === document.body ? null"
            " : x.id || x.className || x.tagName"
        )
        if here is None:
            break
        reached.append(here)
    table = [
        "SUMMARY",
        "search",
        "predicted",
        "label",
        "outcome",
        "confidence",
        "sort",
    ]
    assert reached == [*table, "BUTTON", *["A", "w", "SUMMARY"] * 3]


def test_words_heads_and_tables_by_keyboard(show):
    page = show(three())
    page.run("all('#picker button')[0].focus()")
    page.browser.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp")
    assert page.run("return texts('[aria-checked=true]')") == ["2"]
    assert page.run("return shades('#t1')") == ["0", "0.2"]
    page.browser.press("Tab", "Tab")
    assert page.run("return tip()") == "a · 25% in head 2 · most in head 1, 75%"
    page.browser.press("ArrowRight")
    assert page.run("return tip()") == "b · 75% in head 2"
    page.browser.press("Escape")
    assert page.run("return tip()") is None
    page.browser.press("Enter")
    assert page.run("return tip()") == "b · 75% in head 2"
    page.browser.press("Home", "Tab", "Enter")
    page.run("await pause()")
    assert page.run("return texts('#t1 td.w')") == [
        *("58%", "75%", "25%", "75%"),
        *("42%", "25%", "75%", "25%"),
    ]
    page.run("document.getElementById('sort').focus()")
    page.browser.press("ArrowDown")
    assert page.run("return order()") == "t3 t1 t2"


def test_a_tap_tells_the_weight(show):
    page = show(three(), width=390, height=844, phone=True)
    place = page.run(
        "const box = all('#t1 span.w')[1].getBoundingClientRect();"
        "return [box.x + 2, box.y + 2]"
    )
    page.browser.tap(*place)
    page.run("await pause()")
    assert page.run("return tip()").startswith("b · 42% overall")


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_scrolls_down_only(show, dark):
    items = [
        explanation("لم يكن الطعام سيئا على الإطلاق", label="bad"),
        explanation("x" * 300, labels=["bad " * 30, "good " * 30]),
        explanation(" ".join(["word"] * 200)),
    ]
    items[0].labels = items[2].labels = items[1].labels
    page = show(items, width=390, height=844, phone=True, dark=dark)
    page.run("await opened('#t1'); await opened('#t3')")
    size = page.run("return [document.documentElement.scrollWidth, innerWidth]")
    assert size == [390, 390]
    background = page.run("return getComputedStyle(document.body).background")
    assert background.startswith("rgb(16" if dark else "rgb(246")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("shown", [None, 1])
def test_the_strongest_shade_can_be_read(show, dark, shown):
    page = show([with_effects()], dark=dark)
    if shown is not None:
        page.run(f"all('#shown [data-shown]')[{shown}].click()")
    for sign in ("", "against"):
        ink, shade, card = page.run(
            "const word = all('span.w')[0];"
            f"if ('{sign}') word.classList.add('{sign}');"
            "word.style.setProperty('--w', 1);"
            "const seen = getComputedStyle(word);"
            "return [seen.color, seen.backgroundColor,"
            " getComputedStyle(all('article')[0]).backgroundColor]"
            ".map((x) => x.match(/[\\d.]+/g).map(Number))"
        )
        *shade, strength = shade
        painted = strength * np.array(shade) + (1 - strength) * np.array(card)
        dim, bright = sorted(map(luminance, (ink, painted)))
        # What the guidelines for readable pages ask.
        assert (bright + 0.05) / (dim + 0.05) >= 4.5


def luminance(color):
    shares = np.array(color) / 255
    linear = np.where(
        shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4
    )
    return linear @ [0.2126, 0.7152, 0.0722]


def test_a_printed_page_has_its_key(show):
    page = show([with_effects()])
    page.browser.call("Emulation.setEmulatedMedia", media="print")
    parts = ["#scale", "#filters", "#heads", "#shown", "#picker-name"]
    seen = [page.run(f"return $visible('{part}')") for part in parts]
    assert seen == [True, False, False, False, False]


def test_text_can_be_selected(show):
    page = show([explanation("not bad\nat all")])
    text = page.run(
        "getSelection().selectAllChildren(all('.text')[0]);"
        "return getSelection().toString()"
    )
    assert text == "not bad\nat all"


def test_cards_are_read_when_they_come_near(show):
    page = show(explanation("a b " * 30) for _ in range(60))
    assert page.run("return all('#t60 span.w').length") == 0
    assert page.run("return all('article').length") < 60
    page.run("scrollTo(0, document.body.scrollHeight); await pause()")
    page.run("all('#picker button')[3].click()")
    assert page.run("return shades('#t60').slice(0, 3)") == ["0", "0", "1"]
    # Not near any more, and shaded when it is again.
    assert page.run("return shades('#t1')[0]") == "1"
    page.run("scrollTo(0, 0); await pause()")
    assert page.run("return shades('#t1')[0]") == "0"


def test_a_word_shows_where_it_looks(show):
    seen = AlignmentExplanation(
        Sentence("a 😍", ["a", "😍"], [[0.25, 0.75], [0.5, 0.5]]),
        Sentence(
            "c d", ["c", "d"], [[1.0, 0], [1.0, 0]], intra_scores=np.eye(2)
        ),
        [0.25, 0.75],
        ["x", "y"],
    )
    page = show([seen])
    overall = ["0", "0", "0.4", "0"]
    assert page.run("return shades()") == overall
    page.run("all('span.w')[2].focus()")
    assert page.run("return shades()") == ["0", "0.2", "0", "0"]
    assert page.run("return tip()") == (
        "c looks most at 😍 (75%) · gets 100% of all looks"
    )
    # The tip lies below, off the sentence that now is shaded.
    top, bottom = page.run(
        "const box = (x) => x.getBoundingClientRect();"
        "return [box(all('#tip')[0]).top, box(all('span.w')[2]).bottom]"
    )
    assert top >= bottom
    page.run("all('span.w')[2].blur()")
    assert page.run("return shades()") == overall
    page.run("await opened('article')")
    assert page.run("return texts('td.w')") == [
        *("100%", "", "100%", "", "25%", "75%", "50%", "50%"),
        *("100%", "", "", "100%"),
    ]
    assert page.run("return all('td.w').map((td) => td.title)") == [
        "a → c: 100%",
        "a → d: 0%",
        "😍 → c: 100%",
        "😍 → d: 0%",
        "c → a: 25%",
        "c → 😍: 75%",
        "d → a: 50%",
        "d → 😍: 50%",
        "c → c: 100%",
        "c → d: 0%",
        "d → c: 0%",
        "d → d: 100%",
    ]


DISAGREEMENT = (
    "Attention and effect disagree: “at” has the most effect (+60 points), and "
    "only 13% of the attention, less than an even share (25%)."
)


def test_the_switch_shows_what_decided(show):
    against = {"leave_one_out": [0.0, -0.5, 0.1, 0.0]}
    against["gradient_x_input"] = against["leave_one_out"]
    page = show([with_effects(), with_effects(effects=against)])
    weights = page.run("return shades('#t1')")
    assert weights == ["0.4", "0", "0", "0"]
    assert page.run("return [notes('#t1'), $visible('#effects-scale')]") == [
        [],
        False,
    ]
    page.run("all('#shown button')[1].click()")
    assert page.run("return shades('#t1')") == ["0", "0", "0.6", "0"]
    assert page.run("return notes('#t1')") == [DISAGREEMENT]
    assert page.run("return all('#t1 span.w')[2].ariaLabel") == (
        "at, effect +60 points"
    )
    assert page.run(
        "return ['#heads', '#scale', '#effects-scale'].map($visible)"
    ) == [False, False, True]
    hues = page.run(
        "return ['#t1 span.w:nth-child(3)', '#t2 span.w:nth-child(2)'].map("
        "(q) => getComputedStyle(all(q)[0]).backgroundColor)"
    )
    assert [hue.split("/")[0].split(", 0")[0] for hue in hues] == [
        "rgba(77, 146, 33",
        "rgba(197, 27, 125",
    ]
    # The arrows go on to the next method, and back to the attention.
    page.run("all('#shown button')[1].focus()")
    page.browser.press("ArrowRight")
    assert page.run("return shades('#t1')") == ["0.4", "0", "0", "0"]
    assert page.run("return notes('#t1')") == []
    page.browser.press("Home")
    assert page.run("return shades('#t1')") == weights
    page.run("all('#t1 span.w')[2].focus()")
    assert page.run("return tip()") == (
        "at · 13% overall · most in head 1, 13% · left out +60 points"
        " · gradient -25%"
    )


def test_the_switch_of_pairs_whose_words_look_at_each_other(show):
    page = show([alignment_with_effects("a b c", "d e")])
    weights = page.run("return shades()")
    page.run("all('#shown button')[1].click(); all('span.w')[0].focus()")
    assert page.run("return all('span.looking').length") == 0
    assert page.run("return shades()") == ["0", "0", "0.2", "0", "0"]
    assert page.run("return tip()").endswith("left out -30 points")
    page.run("all('#shown button')[0].click()")
    assert page.run("return shades()") == weights


def test_a_page_without_effects_has_no_switch(show):
    page = show(three())
    assert page.run("return all('#shown, #effects-scale').length") == 0


def test_heads_and_features_of_both_sentences(show):
    item = PairExplanation(
        Sentence(
            "a b",
            ["a", "b"],
            [[0.5, 0.5]],
            features=[[[1.0, 0.0], [0.0, 1.0]]],
        ),
        Sentence("c", ["c"], [[1.0]], features=[[[1.0, 1.0]]]),
        [0.25, 0.75],
        ["x", "y"],
    )
    page = show([item])
    page.run("all('#picker button')[1].click(); all('span.w')[2].focus()")
    assert page.run("return shades()") == ["0", "0", "0"]
    assert page.run("return tip()") == "c · 100% in head 1"
    page.run("await opened('article')")
    assert page.run("return texts('article summary')") == [
        "Table: weights of 2 + 1 words in 1 head"
    ]
    titles = page.run("return all('.features td.w').map((td) => td.title)")
    assert titles == ["a: 100%", "a: 0%", "b: 0%", "b: 100%"] + [
        "c: 100%",
        "c: 100%",
    ]


def test_searching(show):
    page = show([*three(), explanation("É & <b>", label="bad")])
    for sought, expected in {
        "C ": "t2",
        "é & <": "t4",
        "amp": "",
        "data": "",
        "": "t1 t2 t3 t4",
    }.items():
        count = page.run(f"return type({sought!r})")
        assert page.run("return order()") == expected, sought
        assert count.startswith(str(len(expected.split())))
    page.run("choose('outcome', 'wrong')")
    assert page.run("return type('a')") == "1 of 4 shown"
    assert page.run("return order()") == "t1"


def test_probabilities_stand_in_the_head(show):
    labels = [f"label{i}" for i in range(7)]
    many = np.array([1, 2, 3, 4, 5, 6, 7]) / 28
    page = show([explanation("a b", labels=labels, probabilities=many)])
    head = page.run("return texts('#t1 .head li')")
    assert head[:2] == ["label6: 25%", "label5: 21%"]
    assert head[5:] == ["and 2 more"]
    page.run("await opened('#t1')")
    rest = page.run("return texts('#t1 details li')")
    assert rest[0] == "label0: 3.6%" and len(rest) == 7


def test_a_class_of_no_probability_stands_in_the_table_alone(show):
    sure = [0.0, 0.9999, 0.0001]
    page = show([explanation("a", labels=LABELS, probabilities=sure)])
    head = ["neutral: 100%", "and 2 more"]
    assert page.run("return texts('#t1 .head li')") == head
    page.run("await opened('#t1')")
    rest = ["entailment: 0%", "neutral: 100%", "contradiction: under 0.05%"]
    assert page.run("return texts('#t1 details li')") == rest


def test_a_link_leads_to_a_text_out_of_sight(show):
    page = show(explanation("a b " * 30) for _ in range(100))
    page.run("location.hash = 't77'; await pause()")
    top = page.run(
        "return document.getElementById('t77').getBoundingClientRect().top"
    )
    assert 0 <= top < 200


@pytest.mark.parametrize("at", ["center", "end"])
def test_a_tip_on_a_phone_leaves_the_text_in_sight(show, at):
    items = [explanation(f"{i} b c d") for i in range(30)]
    page = show(items, width=390, height=844, phone=True)
    page.run(
        f"all('#t9 .text')[0].scrollIntoView({{ block: '{at}' }});"
        "await pause();"
    )
    x, y = page.run(
        "const box = all('#t9 span.w')[1].getBoundingClientRect();"
        "return [box.x + 2, box.y + 2]"
    )
    page.browser.tap(x, y)
    page.run("await pause()")
    assert page.run("return tip()").startswith("b · ")
    tip, text = page.run(
        "return ['#tip', '#t9 .text'].map((q) => {"
        "const box = all(q)[0].getBoundingClientRect();"
        "return [box.top, box.bottom]; })"
    )
    assert tip[0] >= text[1] or tip[1] <= text[0]
    assert tip[0] >= 0 and tip[1] <= 844


def test_a_wide_table_says_that_it_scrolls(show):
    wide = np.full((40, 2), 0.5)
    page = show([explanation("a b", wide)])
    page.run("await opened('#t1'); await pause()")
    shown = (
        "const box = all('#t1 .scroll')[0];"
        "return [box.previousElementSibling.hidden, box.className]"
    )
    assert page.run(shown) == [False, "scroll more"]
    page.run("all('#t1 .scroll')[0].scrollLeft = 9999; await pause()")
    assert page.run(shown) == [False, "scroll before"]


def test_words_have_a_role_and_a_name(show):
    page = show(three())
    assert page.run(
        "return all('#t1 span.w').map((w) => [w.getAttribute('role'),"
        "w.getAttribute('aria-label')])"
    ) == [["button", "a, 58%"], ["button", "b, 42%"]]
    page.run("all('#picker button')[1].click()")
    assert page.run("return all('#t1 span.w')[0].ariaLabel") == "a, 75%"


@pytest.mark.slow
def test_a_page_of_10000_texts_opens_fast(show):
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(60)]
    page = show(
        explanation(" ".join(rng.permutation(words)), label="bad")
        for _ in range(10_000)
    )
    assert page.run("return all('article').length") < 100
    loaded = page.run(
        "return performance.getEntriesByType('navigation')[0].loadEventEnd"
    )
    # A fraction of a second, but for a machine that does much else.
    assert loaded < 10_000
