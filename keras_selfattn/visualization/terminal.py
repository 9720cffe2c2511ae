"""Explanations in a terminal."""

import unicodedata

import numpy as np
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from keras_selfattn.controls import clean
from keras_selfattn.controls import one_line
from keras_selfattn.visualization import deciding
from keras_selfattn.visualization import shading
from keras_selfattn.visualization.formatting import cell
from keras_selfattn.visualization.ngrams import MOST
from keras_selfattn.visualization.ngrams import kinds
from keras_selfattn.visualization.terminal_texts import Texts
from keras_selfattn.visualization.terminal_texts import style

LEFT_TO_RIGHT = "\u200e"
WORDS = 24
WORD_CELLS = 20
HEAD_CELLS = 5
BAR_CELLS = 8
COLUMN_CELLS = 7
EFFECT_CELLS = 8
GROUPS = 12
LOGIT_CELLS = 9


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
    if prediction.ngrams:
        yield from screen.ngrams(prediction)
    if not prediction.has_heads:
        for title, *view in prediction.matrices():
            yield Text(f"{title}; {shading.ROWS}", "bold")
            yield from screen.matrix(*view)


def _verdict(explanation):
    line = Text("Predicted ")
    line.append(one_line(explanation.predicted), "bold")
    line.append(f" ({explanation.confidence:.0%})")
    if explanation.label is not None:
        line.append(", right" if explanation.correct else ", WRONG: truly ")
        if not explanation.correct:
            line.append(one_line(explanation.label), "bold")
    return line


class _Screen(Texts):
    """Texts and tables."""

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
            yield Text(self.text(unit), "dim")

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

    def ngrams(self, prediction):
        """A table of what n-grams added to the logits, and the sum of all."""
        found = prediction.ngrams
        kept = found[:MOST]
        names = [_word(one_line(label)) for label in prediction.labels]
        shown = np.argsort(-prediction.probabilities, kind="stable")
        cells = [
            min(max(cell_len(names[i].plain), LOGIT_CELLS), WORD_CELLS)
            for i in shown
        ]
        ends = WORD_CELLS + 1 + np.cumsum(np.add(cells, 1))
        shown = shown[: max((ends <= self.width).sum(), 1)]
        table = Table(box=None, padding=(0, 1, 0, 0))
        self._add_words(table, "n-gram", WORD_CELLS)
        for i, width in zip(shown, cells, strict=False):
            self._add_words(table, names[i], width, justify="right")
        total = sum(each.shares for each in found)
        rows = [(_word(clean(each.text)), each.shares) for each in kept]
        # An n-gram may be a lone "all" too.
        name_of_sum = Text(f"sum of all {len(found):,}", "bold")
        for name, shares in [*rows, (name_of_sum, total)]:
            table.add_row(name, *(f"{shares[i]:+.2f}" for i in shown))
        yield table
        caption = (
            f"what {kinds(prediction)} added to the logits; "
            f"{len(kept)} of {len(found)}"
        )
        if len(shown) < len(names):
            caption += (
                f"; {len(shown)} of {len(names)} labels, the most probable"
            )
        yield Text(caption, "dim")

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
            f"{cell(weight):>{cells}}", style(level) if self.colored else ""
        )

    def _shades(self, levels):
        line = Text()
        for level in levels:
            if self.colored:
                line.append(" ", style(level))
            else:
                line.append(self.marks[level - 1] if level else " ")
        return line

    def _bar(self, weight, words):
        length = round(min(shading.even_shares(weight, words), BAR_CELLS))
        return Text(
            f"{cell(weight):>5} " + ("█" if self.unicode else "#") * length
        )


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
