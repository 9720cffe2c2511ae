"""Explanations in a terminal."""

import dataclasses
import unicodedata

import numpy as np
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from keras_selfattn.controls import clean
from keras_selfattn.visualization import deciding
from keras_selfattn.visualization import shading
from keras_selfattn.visualization.formatting import cell
from keras_selfattn.visualization.formatting import percent

# From gray to orange at about one lightness, so that black letters can be
# read, and the order seen, on dark and light terminals and by color-blind
# readers.
SHADES = ("#aba59c", "#bda57f", "#cda45f", "#dba23f", "#ee9a12")
# Effects for and against the answer, told apart by color-blind readers too.
FOR = ("#a5a99c", "#a3b183", "#a0b967", "#9bc247", "#93cc1a")
AGAINST = ("#aca3a7", "#bb9fae", "#ca9ab5", "#db93bd", "#ee8bc6")
BLOCKS = "▁▂▄▆█"
DIGITS = "12345"
LEFT_TO_RIGHT = "\u200e"
WORDS = 24
WORD_CELLS = 20
HEAD_CELLS = 5
BAR_CELLS = 8
COLUMN_CELLS = 7
EFFECT_CELLS = 8
GROUPS = 12


def lines(prediction, console, options):
    """Yield what `Prediction.__rich_console__` does."""
    screen = _Screen(
        colored=bool(console.color_system) and not console.no_color,
        unicode=options.encoding.startswith("utf"),
        width=options.max_width,
    )
    yield _verdict(prediction)
    for name, side in prediction.sides().items():
        if name:
            yield Text(f"{name}:", "bold")
        yield screen.words(side)
        yield from screen.legend(side, prediction.has_heads)
        for method in side.effects:
            yield from screen.effects(method, side)
        if side.effects:
            yield screen.effects_legend(side, prediction.predicted)
        if prediction.has_heads:
            yield from screen.heads(side)
        if side.features is not None:
            yield from screen.features(side)
    if not prediction.has_heads:
        for title, *view in prediction.matrices():
            yield Text(f"{title}; {shading.ROWS}", "bold")
            yield from screen.matrix(*view)


def _verdict(explanation):
    line = Text("Predicted ")
    line.append(clean(explanation.predicted), "bold")
    line.append(f" ({explanation.confidence:.0%})")
    if explanation.label is not None:
        line.append(", right" if explanation.correct else ", WRONG: truly ")
        if not explanation.correct:
            line.append(clean(explanation.label), "bold")
    return line


@dataclasses.dataclass(frozen=True)
class _Screen:
    """What a terminal can show.

    Attributes:
        colored: Boolean, whether it has colors.
        unicode: Boolean, whether it has more than ASCII.
        width: Integer, the cells of a line.
    """

    colored: bool
    unicode: bool
    width: int

    @property
    def marks(self):
        return BLOCKS if self.unicode else DIGITS

    def words(self, sentence):
        """The text, its words shaded by their overall weight."""
        line = self._shaded(
            sentence, shading.levels(sentence.overall, len(sentence.tokens))
        )
        if sentence.unread_note:
            line.append(f" [{sentence.unread_note}] ", "bold")
            line.append(" ".join(sentence.unread.split()), "dim")
        return line

    def _shaded(self, sentence, levels, shades=SHADES, against=()):
        """The words, each with its mark or in its color."""
        line = Text()
        for (gap, word), level in zip(sentence.pieces(), levels, strict=True):
            line.append(" " if "\n" in gap else gap)
            colors = against if level < 0 else shades
            line.append(
                word, _style(abs(level), colors) if self.colored else ""
            )
            if level and not self.colored:
                sign = ("-" if level < 0 else "+") if against else ""
                line.append(sign + self.marks[abs(level) - 1])
        return line

    def legend(self, sentence, has_heads):
        """What the shades stand for, and how the heads differ."""
        note = self._text(shading.note(sentence.overall))
        if note:
            yield Text(note, "dim")
        line = Text()
        line.append("overall weight: ", "dim")
        self._add_key(line, SHADES)
        line.append(self._unit(sentence), "dim")
        yield line
        if has_heads:
            measures = (
                f"overlap {percent(sentence.overlap)}, "
                f"penalty {sentence.penalty:.2f}"
            )
            yield Text(f"heads: {measures}", "dim")

    def effects(self, method, sentence):
        """The text, its words shaded by what they did to the answer."""
        yield Text(f"{self._text(deciding.TITLES[method])}:", "bold")
        effects = sentence.effects[method]
        levels = deciding.levels(method, effects)
        yield self._shaded(sentence, levels, FOR, AGAINST)
        for note in deciding.notes(method, sentence):
            yield Text(self._text(note), "dim")

    def effects_legend(self, sentence, predicted):
        """What the shades of effects stand for."""
        line = Text()
        line.append("for ", "dim")
        line.append(clean(predicted), "bold")
        line.append(": ", "dim")
        self._add_key(line, FOR, "+")
        line.append(" against: ", "dim")
        self._add_key(line, AGAINST, "-")
        line.append(self._unit(sentence), "dim")
        return line

    def _add_key(self, line, shades, sign=""):
        for level, step in enumerate(shading.STEPS, start=1):
            if self.colored:
                line.append(f" {step} ", _style(level, shades))
            else:
                line.append(f"{sign}{self.marks[level - 1]}{step}")
            line.append(" ")

    def _unit(self, sentence):
        share = percent(1 / len(sentence.tokens))
        return f"{self._text(shading.UNIT)} ({share}) or more"

    def _text(self, text):
        if self.unicode:
            return text
        return text.translate(str.maketrans("×“”", 'x""'))

    def heads(self, sentence):
        """A table of the weights, words × heads."""
        words = sentence.words
        overall = sentence.overall
        levels = shading.levels(sentence.scores, len(words))
        kept = _most(_peaks(sentence), WORDS)
        table, cells = self._table(words, kept)
        order = sentence.head_order()
        effects = {
            method: deciding.cells(method, found)
            for method, found in sentence.effects.items()
        }
        room = self.width - cells - BAR_CELLS - 16
        if room < len(effects) * (EFFECT_CELLS + 1) + HEAD_CELLS:
            effects = {}
        room -= len(effects) * (EFFECT_CELLS + 1)
        heads = order[: max(room // (HEAD_CELLS + 1), 1)]
        table.add_column("overall", width=BAR_CELLS + 6, no_wrap=True)
        for method in effects:
            table.add_column(
                deciding.SHORT[method],
                width=EFFECT_CELLS,
                justify="right",
                no_wrap=True,
            )
        for head in heads:
            table.add_column(
                f"h{head + 1}", width=HEAD_CELLS, justify="right", no_wrap=True
            )
        for i in kept:
            table.add_row(
                str(i + 1),
                _word(words[i]),
                self._bar(overall[i], len(words)),
                *(shown[i] for shown in effects.values()),
                *(
                    self._cell(sentence.scores[head, i], levels[head, i])
                    for head in heads
                ),
            )
        yield table
        block = f"a block is an even share, {BAR_CELLS} are that or more"
        rest = _caption(len(kept), len(words), len(heads), len(order))
        yield Text(f"{block}; {rest}" if rest else block, "dim")
        for method in effects:
            unit = f"{deciding.SHORT[method]}: {deciding.UNITS[method]}"
            yield Text(self._text(unit), "dim")

    def features(self, sentence):
        """A table of the weights of groups of features, words × heads."""
        words = sentence.words
        kept = _most(_peaks(sentence), WORDS)
        table, cells = self._table(words, kept)
        groups = sentence.feature_groups(GROUPS)
        size = groups.shape[-1]
        order = sentence.head_order()
        room = self.width - cells - 5
        heads = order[: max(room // (max(size, 3) + 1), 1)]
        levels = shading.levels(groups, len(words))
        for head in heads:
            table.add_column(f"h{head + 1}", width=max(size, 3), no_wrap=True)
        for i in kept:
            shades = [self._shades(levels[head, i]) for head in heads]
            table.add_row(str(i + 1), _word(words[i]), *shades)
        yield table
        caption = (
            f"{sentence.features.shape[-1]} features a head, in {size} groups "
            "of those that weigh the same word most"
        )
        rest = _caption(len(kept), len(words), len(heads), len(order))
        yield Text(f"{caption}; {rest}" if rest else caption, "dim")

    def matrix(self, looking, looked, weights):
        """A table of how the words of one sentence look at another's."""
        rows, columns = looking.words, looked.words
        levels = shading.levels(weights, len(columns))
        kept = _most(weights.max(axis=1), WORDS)
        table, cells = self._table(rows, kept)
        room = max((self.width - cells - 5) // (COLUMN_CELLS + 1), 1)
        shown = _most(weights.max(axis=0), room)
        for j in shown:
            self._add_words(
                table, _word(columns[j]), COLUMN_CELLS, justify="right"
            )
        for i in kept:
            table.add_row(
                str(i + 1),
                _word(rows[i]),
                *(
                    self._cell(weights[i, j], levels[i, j], COLUMN_CELLS)
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

    def _table(self, words, kept):
        """A table with a column of the kept words, and that column's width."""
        longest = max(cell_len(words[i]) for i in kept)
        cells = max(min(longest, WORD_CELLS), len("word"))
        table = Table(box=None, padding=(0, 1, 0, 0))
        table.add_column("#", justify="right", style="dim")
        self._add_words(table, "word", cells)
        return table, cells

    def _add_words(self, table, header, cells, **options):
        overflow = "ellipsis" if self.unicode else "crop"
        table.add_column(
            header, width=cells, no_wrap=True, overflow=overflow, **options
        )

    def _cell(self, weight, level, cells=HEAD_CELLS):
        return Text(
            f"{cell(weight):>{cells}}", _style(level) if self.colored else ""
        )

    def _shades(self, levels):
        line = Text()
        for level in levels:
            if self.colored:
                line.append(" ", _style(level))
            else:
                line.append(self.marks[level - 1] if level else " ")
        return line

    def _bar(self, weight, words):
        length = round(min(shading.even_shares(weight, words), BAR_CELLS))
        return Text(
            f"{cell(weight):>5} " + ("█" if self.unicode else "#") * length
        )


def _style(level, shades=SHADES):
    return f"#000000 on {shades[level - 1]}" if level else ""


def _peaks(sentence):
    # A word may weigh much in one head alone, or decide unseen.
    peaks = sentence.scores.max(axis=0) + sentence.overall
    for effects in sentence.effects.values():
        peaks = peaks + np.abs(deciding.shares(effects))
    return peaks


def _most(weights, count):
    order = sorted(range(len(weights)), key=lambda i: -weights[i])
    return sorted(order[:count])


def _word(word):
    # A terminal that orders right-to-left scripts would reorder the numbers
    # after the word too.
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in word):
        word = f"{LEFT_TO_RIGHT}{word}{LEFT_TO_RIGHT}"
    return Text(word)


def _caption(shown_words, words, shown_heads, heads):
    parts = []
    if shown_words < words:
        parts.append(f"{shown_words} of {words} words, those of most weight")
    if shown_heads < heads:
        parts.append(f"{shown_heads} of {heads} heads, most different first")
    elif heads > 1:
        parts.append("heads that differ most first")
    return "; ".join(parts)
