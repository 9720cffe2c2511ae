"""A sentence in a terminal, with its shades and their key."""

import dataclasses

from rich.text import Text

from keras_selfattn.controls import one_line
from keras_selfattn.visualization import deciding
from keras_selfattn.visualization import shading
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


@dataclasses.dataclass(frozen=True)
class Texts:
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
            line.append(word, style(abs(level), colors) if self.colored else "")
            if level and not self.colored:
                sign = ("-" if level < 0 else "+") if against else ""
                line.append(sign + self.marks[abs(level) - 1])
        return line

    def legend(self, sentence, has_heads):
        """What the shades stand for, and how the heads differ."""
        if sentence.empty_note:
            yield Text(sentence.empty_note, "dim")
        note = self.text(shading.note(sentence.overall))
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
        yield Text(f"{self.text(deciding.TITLES[method])}:", "bold")
        effects = sentence.effects[method]
        levels = deciding.levels(method, effects)
        yield self._shaded(sentence, levels, FOR, AGAINST)
        for note in deciding.notes(method, sentence):
            yield Text(self.text(note), "dim")

    def effects_legend(self, sentence, predicted):
        """What the shades of effects stand for."""
        line = Text()
        line.append("for ", "dim")
        line.append(one_line(predicted), "bold")
        line.append(": ", "dim")
        self._add_key(line, FOR, "+")
        line.append(" against: ", "dim")
        self._add_key(line, AGAINST, "-")
        line.append(self._unit(sentence), "dim")
        return line

    def _add_key(self, line, shades, sign=""):
        for level, step in enumerate(shading.STEPS, start=1):
            if self.colored:
                line.append(f" {step} ", style(level, shades))
            else:
                line.append(f"{sign}{self.marks[level - 1]}{step}")
            line.append(" ")

    def _unit(self, sentence):
        share = percent(1 / len(sentence.tokens))
        return f"{self.text(shading.UNIT)} ({share}) or more"

    def text(self, text):
        if self.unicode:
            return text
        return text.translate(str.maketrans("×“”", 'x""'))


def style(level, shades=SHADES):
    return f"#000000 on {shades[level - 1]}" if level else ""
