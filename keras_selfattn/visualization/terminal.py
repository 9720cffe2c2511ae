"""Explanations in a terminal."""

import math
import unicodedata

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from keras_selfattn.visualization.formatting import clean
from keras_selfattn.visualization.formatting import full_shade
from keras_selfattn.visualization.formatting import percent

# From gray to orange at about one lightness, so that black letters can be
# read, and the order seen, on dark and light terminals and by color-blind
# readers.
SHADES = ("#aba59c", "#bda57f", "#cda45f", "#dba23f", "#ee9a12")
# Without color the lightest shade has no mark: there would be one a word.
BLOCKS = ("", "▂", "▄", "▆", "█")
DIGITS = ("", "1", "2", "3", "4")
LEFT_TO_RIGHT = "\u200e"
WORDS = 24
WORD_CELLS = 20
HEAD_CELLS = 5
BAR_CELLS = 10
COLUMN_CELLS = 7
GROUPS = 12


def lines(prediction, console, options):
    """Yield what `Prediction.__rich_console__` does."""
    unicode = options.encoding.startswith("utf")
    colored = bool(console.color_system) and not console.no_color
    marks = BLOCKS if unicode else DIGITS
    width = options.max_width
    yield _verdict(prediction)
    for name, side in prediction.sides().items():
        if name:
            yield Text(f"{name}:", "bold")
        yield _words(side, colored, marks)
        yield _legend(side, colored, marks, prediction.has_heads)
        if prediction.has_heads:
            yield from _grid(side, colored, unicode, width)
        if side.features is not None:
            yield from _features(side, colored, unicode, marks, width)
    if not prediction.has_heads:
        for name, *view in prediction.matrices():
            title = name if unicode else name.replace("→", "to")
            yield Text(f"{title}: each row sums to 100%", "bold")
            yield from _matrix(*view, colored, unicode, width)


def _level(weight, full):
    return round(len(SHADES) * weight / full)


def _style(level):
    return f"#000000 on {SHADES[level - 1]}" if level else ""


def _verdict(explanation):
    line = Text("Predicted ")
    line.append(clean(explanation.predicted), "bold")
    line.append(f" ({explanation.confidence:.0%})")
    if explanation.label is not None:
        line.append(", right" if explanation.correct else ", WRONG: truly ")
        if not explanation.correct:
            line.append(clean(explanation.label), "bold")
    return line


def _words(explanation, colored, marks):
    weights = explanation.overall
    full = full_shade(weights)
    line = Text()
    for (gap, word), weight in zip(explanation.pieces(), weights, strict=True):
        level = _level(weight, full)
        line.append(" " if "\n" in gap else gap)
        line.append(word, _style(level) if colored else "")
        if level and not colored:
            line.append(marks[level - 1])
    if explanation.unread:
        line.append(" [not read by the model:] ", "bold")
        line.append(" ".join(explanation.unread.split()), "dim")
    return line


def _legend(explanation, colored, marks, has_heads):
    line = Text("overall weight: ", "dim")
    if colored:
        for level in range(1, len(SHADES) + 1):
            line.append("  ", _style(level))
        line.append(" up to ")
    else:
        line.append(f"{''.join(marks)} after a word, {marks[-1]} = ")
    line.append(f"{full_shade(explanation.overall):.1%}")
    if has_heads:
        dot = " · " if marks == BLOCKS else ", "
        line.append(f"{dot}overlap {explanation.overlap:.2f}")
        line.append(f"{dot}penalty {explanation.penalty:.2f}")
    return line


def _grid(explanation, colored, unicode, width):
    words = explanation.words
    overall = explanation.overall
    fulls = full_shade(explanation.scores)
    kept = _most(_peaks(explanation), WORDS)
    table, cells = _table_of(words, kept, unicode)
    order = explanation.head_order()
    room = width - cells - BAR_CELLS - 15
    heads = order[: max(room // (HEAD_CELLS + 1), 1)]
    table.add_column("overall", width=BAR_CELLS + 5, no_wrap=True)
    for head in heads:
        table.add_column(
            f"h{head + 1}", width=HEAD_CELLS, justify="right", no_wrap=True
        )
    for i in kept:
        table.add_row(
            str(i + 1),
            _word(words[i]),
            _bar(overall[i], full_shade(overall), unicode),
            *(
                _cell(explanation.scores[head, i], fulls[head], colored)
                for head in heads
            ),
        )
    yield table
    caption = _caption(len(kept), len(words), len(heads), len(order))
    if caption:
        yield Text(caption, "dim")


def _peaks(sentence):
    # A word may weigh much in one head alone.
    return sentence.scores.max(axis=0) + sentence.overall


def _most(weights, count):
    order = sorted(range(len(weights)), key=lambda i: -weights[i])
    return sorted(order[:count])


def _table_of(words, kept, unicode):
    """A table with a column of the kept words, and that column's width."""
    longest = max(cell_len(words[i]) for i in kept)
    cells = max(min(longest, WORD_CELLS), len("word"))
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right", style="dim")
    _add_words(table, "word", cells, unicode)
    return table, cells


def _add_words(table, header, cells, unicode, **options):
    table.add_column(
        header,
        width=cells,
        no_wrap=True,
        overflow="ellipsis" if unicode else "crop",
        **options,
    )


def _features(sentence, colored, unicode, marks, width):
    words = sentence.words
    kept = _most(_peaks(sentence), WORDS)
    table, cells = _table_of(words, kept, unicode)
    groups = sentence.feature_groups(GROUPS)
    size = groups.shape[-1]
    order = sentence.head_order()
    heads = order[: max((width - cells - 5) // (max(size, 3) + 1), 1)]
    fulls = full_shade(groups.swapaxes(1, 2)).max(axis=-1)
    for head in heads:
        table.add_column(f"h{head + 1}", width=max(size, 3), no_wrap=True)
    for i in kept:
        row = [str(i + 1), _word(words[i])]
        for head in heads:
            line = Text()
            for weight in groups[head, i]:
                level = _level(weight, fulls[head])
                if colored:
                    line.append(" ", _style(level))
                else:
                    line.append(marks[level - 1] or "." if level else " ")
            row.append(line)
        table.add_row(*row)
    yield table
    caption = (
        f"{sentence.features.shape[-1]} features a head, in {size} groups of "
        "those that weigh the same word most"
    )
    rest = _caption(len(kept), len(words), len(heads), len(order))
    yield Text(f"{caption}; {rest}" if rest else caption, "dim")


def _matrix(looking, looked, weights, colored, unicode, width):
    rows, columns = looking.words, looked.words
    fulls = full_shade(weights)
    kept = _most(weights.max(axis=1), WORDS)
    table, cells = _table_of(rows, kept, unicode)
    room = max((width - cells - 5) // (COLUMN_CELLS + 1), 1)
    shown = _most(weights.max(axis=0), room)
    for j in shown:
        header = _word(columns[j])
        _add_words(table, header, COLUMN_CELLS, unicode, justify="right")
    for i in kept:
        table.add_row(
            str(i + 1),
            _word(rows[i]),
            *(
                _cell(weights[i, j], fulls[i], colored, COLUMN_CELLS)
                for j in shown
            ),
        )
    yield table
    parts = [
        f"{some} of {len(words)} {name}"
        for name, some, words in (
            ("rows", len(kept), rows),
            ("columns", len(shown), columns),
        )
        if some < len(words)
    ]
    if parts:
        yield Text("; ".join(parts) + ", those of most weight", "dim")


def _word(word):
    # A terminal that orders right-to-left scripts would reorder the numbers
    # after the word too.
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in word):
        word = f"{LEFT_TO_RIGHT}{word}{LEFT_TO_RIGHT}"
    return Text(word)


def _cell(weight, full, colored, cells=HEAD_CELLS):
    style = _style(_level(weight, full)) if colored else ""
    return Text(f"{percent(weight):>{cells}}", style)


def _bar(weight, full, unicode):
    length = math.ceil(BAR_CELLS * weight / full - 0.5)
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
