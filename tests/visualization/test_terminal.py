import io
import re

import numpy as np
import pytest
import rich.cells
import rich.console

from keras_selfattn.visualization import AlignmentExplanation
from keras_selfattn.visualization import NGram
from keras_selfattn.visualization import Sentence
from tests.visualization.examples import ALL
from tests.visualization.examples import alignment
from tests.visualization.examples import alignment_with_ngrams
from tests.visualization.examples import explanation
from tests.visualization.examples import pair
from tests.visualization.examples import with_effects
from tests.visualization.examples import with_features
from tests.visualization.examples import with_ngrams


def terminal(item, width=80, encoding="utf-8", **arguments):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = rich.console.Console(file=stream, width=width, **arguments)
    item.render(console)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_both_views():
    text = terminal(explanation(label="bad"))
    assert "Predicted good (75%), WRONG: truly bad" in text
    assert "not bad at all\n" in text
    assert "▁1.5 ▂2 ▄3 ▆5 █8 × an even share (25%) or more" in text
    assert re.search(r"1 not +29% █ +62%", text)
    assert "overlap 50%" in text


def test_marks_count_even_shares():
    scores = [[0.3, 0.4, 0.14, 0.1, 0.06, 0, 0, 0, 0, 0]]
    text = terminal(explanation("a b c d e f g h i j", scores))
    assert "a▄ b▄ c d e f g h i j\n" in text
    assert re.search(r"1 a +30% ███ +30%", text)
    assert "No word stands out" not in text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_even_weights_are_told(encoding):
    text = terminal(explanation("a b c", np.ones((1, 3)) / 3), 80, encoding)
    assert "No word stands out: each has less than 1.5" in text
    assert "(33%)" in text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_effects_are_beside_the_weights(encoding):
    text = terminal(with_effects(), 80, encoding)
    two, three = "▂▄" if encoding == "utf-8" else "23"
    assert "Effect of leaving each word out:" in text
    assert f"not $bad$ at+{three} all\n" in text
    assert f"not+{two} $bad$ at all\n" in text
    assert "for good: +" in text
    assert "against: -" in text
    flat = " ".join(text.split())
    assert "at” has the most effect" in flat.replace('at"', "at”")
    assert re.search(r"overall +left out +gradient +h1", text)
    assert re.search(r"3 at +13% +. +\+60 +-25%", text)


def test_effects_have_colors_of_their_own():
    arguments = {"force_terminal": True, "color_system": "truecolor"}
    effects = {"leave_one_out": [0.5, -0.4, 0, 0]}
    seen = terminal(with_effects(effects=effects), **arguments)
    assert "\x1b[38;2;0;0;0;48;2;163;177;131mnot\x1b[0m" in seen
    assert "\x1b[38;2;0;0;0;48;2;172;163;167m$bad$\x1b[0m" in seen


def test_color_marks_words_by_style():
    arguments = {"force_terminal": True, "color_system": "truecolor"}
    seen = explanation("a b", [[0.8, 0.2]])
    colored = terminal(seen, **arguments)
    assert "\x1b[38;2;0;0;0;48;2;171;165;156ma\x1b[0m" in colored
    assert "a▁" not in colored.replace("\x1b[0m", "")
    bare = terminal(seen, no_color=True, **arguments)
    assert "48;2" not in bare
    assert "a▁ b" in bare


def test_ascii():
    seen = explanation("a b c", [[0.0, 0.25, 0.75]], label="good")
    text = terminal(seen, encoding="ascii")
    assert "a b c2\n" in text
    assert "##" in text


def test_siamese_pair():
    text = terminal(pair(label="neutral"))
    assert "Predicted contradiction (70%), WRONG: truly neutral" in text
    assert "premise:" in text and "hypothesis:" in text
    assert text.count("heads: overlap ") == 2


def test_alignment():
    text = terminal(
        AlignmentExplanation(
            Sentence("a b", ["a", "b"], [[0.25, 0.75]]),
            Sentence("c", ["c"], [[1.0], [1.0]]),
            [1.0],
            ["x"],
        )
    )
    assert "overlap" not in text
    forth, back = text.split("The premise (rows)")[1].split(
        "The hypothesis (rows)"
    )
    assert [line.split() for line in forth.splitlines()[1:4]] == [
        ["#", "word", "c"],
        ["1", "a", "100%"],
        ["2", "b", "100%"],
    ]
    assert "at the hypothesis (columns); each row adds up to 100%\n" in forth
    assert "25%" in back and "75%" in back
    assert "itself" not in text
    assert "The premise (rows) looks at itself" in terminal(alignment())


def test_features():
    text = terminal(with_features())
    assert "40 features a head, in 12 groups" in text


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"word{i}" for i in range(200)),
        "لم يكن الطعام سيئا",
        "菜 的 味道 非常 好" * 9,
        "loved 😍 👩‍👩‍👧 it",
        "x" * 500,
    ],
)
def test_any_text_fits_the_width(text, width):
    lines = terminal(explanation(text), width).splitlines()
    assert all(rich.cells.cell_len(line) <= width for line in lines)
    assert len(lines) < 90


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("width", [40, 120])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_fits_the_width(make, width, encoding):
    for words in (60, 1):
        text = terminal(make("word " * words), width, encoding)
        lines = text.splitlines()
        assert max(map(rich.cells.cell_len, lines)) <= width


def test_long_word_is_cut_to_one_row():
    text = terminal(explanation("a " + "x" * 50))
    assert re.search(r"2 x{19}… +\d\d% █", text)


def test_right_to_left_words_keep_their_numbers():
    assert "1 \u200eلم\u200e" in terminal(explanation("لم يكن"))


def test_says_what_it_leaves_out():
    many = explanation(" ".join("abcdefghij" * 4), np.full((30, 40), 0.025))
    text = terminal(many)
    assert "24 of 40 words" in text
    assert re.search(r"\d+ of 30 heads, most different first", text)


def test_a_label_is_inert():
    text = terminal(explanation("[red]a\x1b[2J[/red]", label="\x1b]0;x"))
    assert "\x1b" not in text
    assert "[red]a\ufffd[2J[/red]" in text


@pytest.mark.parametrize("make", ALL)
def test_escape_sequences_and_markup_are_inert(make):
    text = terminal(make("[red]a\x1b[2J[/red] b"), 200)
    assert "\x1b" not in text
    assert "[red]a\ufffd[2J[/red]" in text


def test_unread_end_is_told():
    text = terminal(explanation("a b c d", tokens=["a", "b"]))
    assert "[2 words not read] c d" in text


def test_a_text_without_words_is_told():
    seen = explanation("", tokens=["[UNK]"])
    for shown in (terminal(seen), seen._repr_html_()):
        assert "[UNK] stands for a text without words." in shown


def test_ngrams_are_told_by_label():
    text = terminal(with_ngrams())
    # The answer is first.
    assert re.search("n-gram +good +bad", text)
    assert re.search(r"not bad +-0\.25 +\+0\.50", text)
    assert re.search(r"<b_ +\+0\.20 +-0\.10", text)
    assert re.search(r"sum of all 2 +-0\.05 +\+0\.40", text)
    assert "of characters with _" in text and "2 of 2" in text
    text = terminal(alignment_with_ngrams())
    # Labels by their probability.
    assert re.search(r"\+e =f +\+0\.75 +-0\.25 +\+0\.50", text)
    assert "= is a word that the premise has too" in text


def test_labels_that_begin_alike_are_told_apart_and_those_cut_counted():
    labels = [f"category {i:02}" for i in range(20)]
    many = explanation(
        probabilities=np.arange(20) / 190,
        labels=labels,
        ngrams=[NGram("not bad", True, np.arange(20.0))],
    )
    text = terminal(many)
    names = " +".join(reversed(labels[-4:]))
    assert re.search(f"n-gram +{names} *\n", text)
    assert "1 of 1; 4 of 20 labels, the most probable" in " ".join(text.split())
    assert "of 2 labels" not in terminal(with_ngrams())


def test_labels_of_several_lines_are_shown_on_one():
    text = terminal(
        with_ngrams(labels=["bad\nfood", "good\r\nfood"], label="bad\nfood")
    )
    assert "Predicted good food (75%), WRONG: truly bad food\n" in text
    assert re.search("n-gram +good food +bad food", text)
