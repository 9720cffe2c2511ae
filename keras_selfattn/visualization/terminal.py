"""Explanations in a terminal."""

import math
import unicodedata

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from keras_selfattn.visualization.formatting import clean
from keras_selfattn.visualization.formatting import percent

# Of one lightness, from grey to orange, under black letters: the ramp rises
# on dark and on light terminals alike, for colour-blind readers too.
SHADES = ("#aba59c", "#bda57f", "#cda45f", "#dba23f", "#ee9a12")
# Without colour the lightest shade has no mark, else marks would drown words.
BLOCKS = ("", "▂", "▄", "▆", "█")
DIGITS = ("", "1", "2", "3", "4")
LEFT_TO_RIGHT = "\u200e"
WORDS = 24
WORD_CELLS = 20
HEAD_CELLS = 5
BAR_CELLS = 10


def lines(explanation, console, options):
    """Yields the renderables for `Explanation.__rich_console__`."""
    unicode = options.encoding.startswith("utf")
    coloured = bool(console.color_system) and not console.no_color
    marks = BLOCKS if unicode else DIGITS
    yield _verdict(explanation)
    yield _words(explanation, coloured, marks)
    yield _legend(explanation, coloured, marks)
    yield from _grid(explanation, coloured, unicode, options.max_width)


def _level(weight, largest):
    return round(len(SHADES) * weight / largest) if largest > 0 else 0


def _style(level):
    return f"#000000 on {SHADES[level - 1]}" if level else ""


def _verdict(explanation):
    line = Text("Predicted ")
    line.append(clean(explanation.predicted), "bold")
    line.append(f" ({explanation.confidence:.0%})")
    if explanation.gold is not None:
        line.append(", right" if explanation.correct else ", WRONG: truly ")
        if not explanation.correct:
            line.append(clean(explanation.gold), "bold")
    return line


def _words(explanation, coloured, marks):
    weights = explanation.overall
    largest = weights.max()
    line = Text()
    for (gap, word), weight in zip(explanation.pieces(), weights, strict=True):
        level = _level(weight, largest)
        line.append(" " if "\n" in gap else gap)
        line.append(word, _style(level) if coloured else "")
        if level and not coloured:
            line.append(marks[level - 1])
    if explanation.unread:
        line.append(" [not read by the model:] ", "bold")
        line.append(" ".join(explanation.unread.split()), "dim")
    return line


def _legend(explanation, coloured, marks):
    line = Text("overall weight: ", "dim")
    if coloured:
        for level in range(1, len(SHADES) + 1):
            line.append("  ", _style(level))
        line.append(" up to ")
    else:
        line.append(f"{''.join(marks)} after a word, {marks[-1]} = ")
    line.append(f"{explanation.overall.max():.1%}")
    line.append(
        f" · redundancy {explanation.redundancy:.2f}"
        f" · penalty {explanation.penalty:.2f}"
        if marks == BLOCKS
        else f", redundancy {explanation.redundancy:.2f}"
        f", penalty {explanation.penalty:.2f}"
    )
    return line


def _grid(explanation, coloured, unicode, width):
    words = [word for _, word in explanation.pieces()]
    overall = explanation.overall
    # A head's peak must show even where the sum over heads hides it.
    peaks = explanation.scores.max(axis=0) + overall
    kept = sorted(sorted(range(len(words)), key=lambda i: -peaks[i])[:WORDS])
    columns = min(max(cell_len(words[i]) for i in kept), WORD_CELLS)
    columns = max(columns, len("word"))
    order = explanation.head_order()
    room = width - columns - BAR_CELLS - 15
    heads = order[: max(room // (HEAD_CELLS + 1), 1)]
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right", style="dim")
    table.add_column(
        "word",
        width=columns,
        no_wrap=True,
        overflow="ellipsis" if unicode else "crop",
    )
    table.add_column("overall", width=BAR_CELLS + 5, no_wrap=True)
    for head in heads:
        table.add_column(
            f"h{head + 1}", width=HEAD_CELLS, justify="right", no_wrap=True
        )
    for i in kept:
        table.add_row(
            str(i + 1),
            _word(words[i]),
            _bar(overall[i], overall.max(), unicode),
            *(
                _cell(row[i], row.max(), coloured)
                for row in explanation.scores[heads]
            ),
        )
    yield table
    caption = _caption(len(kept), len(words), len(heads), len(order))
    if caption:
        yield Text(caption, "dim")


def _word(word):
    # A terminal that orders right-to-left scripts would else take the
    # numbers behind the word along.
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in word):
        word = f"{LEFT_TO_RIGHT}{word}{LEFT_TO_RIGHT}"
    return Text(word)


def _cell(weight, largest, coloured):
    style = _style(_level(weight, largest)) if coloured else ""
    return Text(f"{percent(weight):>{HEAD_CELLS}}", style)


def _bar(weight, largest, unicode):
    length = math.ceil(BAR_CELLS * weight / largest - 0.5) if largest else 0
    return Text(
        f"{percent(weight):>4} " + ("█" if unicode else "#") * max(length, 0)
    )


def _caption(shown_words, words, shown_heads, heads):
    parts = []
    if shown_words < words:
        parts.append(f"{shown_words} of {words} words, those of most weight")
    if shown_heads < heads:
        parts.append(f"{shown_heads} of {heads} heads, most different first")
    elif heads > 1:
        parts.append("heads that differ most first")
    return "; ".join(parts)
