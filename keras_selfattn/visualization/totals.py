"""What a page says of all its texts together."""

import numpy as np

from keras_selfattn.visualization.formatting import percent

_ABOUT = (
    "Overlap is the weight that a head shares with another, on average over "
    "the others: 0% where they look at different words, 100% where they do the "
    "same. Penalty is the head's part of "
    "‖AAᵀ − I‖², which training can keep low: 0 for a head on a single word "
    "that no other head looks at; all heads together have {}. Largest weight "
    "is that of the word the head looks at most. All are means over the texts."
)


class Totals:
    """Sums over explanations, and their means as HTML.

    Args:
        heads: Integer, the number of heads; 0 for alignments.
    """

    def __init__(self, heads):
        self.texts = self.sentences = self.known = self.right = 0
        self.unread = self.cut = 0
        self.name = "text"
        self.overlap = np.zeros(heads)
        self.penalty = np.zeros(heads)
        self.peak = np.zeros(heads)

    def add(self, explanation):
        self.texts += 1
        if len(explanation.sides()) > 1:
            self.name = "pair"
        self.known += explanation.label is not None
        self.right += bool(explanation.correct)
        unread = sum(side.unread_words for side in explanation.sides().values())
        self.unread += unread
        self.cut += bool(unread)
        if explanation.has_heads:
            for side in explanation.sides().values():
                self.sentences += 1
                self.overlap += side.head_overlap
                self.penalty += side.head_penalty
                self.peak += side.scores.max(axis=1)

    def html(self):
        """The rates of right answers and the measures of the heads."""
        if not self.texts:
            return "<p>No texts.</p>"
        parts = [f"{self.texts:,} {self.name}{'s' * (self.texts != 1)}"]
        if self.known:
            wrong = self.known - self.right
            parts.append(
                f"{self.right / self.known:.1%} right, {wrong:,} wrong"
            )
        if self.unread:
            parts.append(
                f"{self.unread:,} words of {self.cut:,} "
                f"{self.name}{'s' * (self.cut != 1)} not read"
            )
        if not self.sentences:
            return f"<p>{' · '.join(parts)}</p>"
        measures = {
            "overlap": (percent, self.overlap / self.sentences),
            "penalty": (_three_digits, self.penalty / self.sentences),
            "largest weight": (percent, self.peak / self.sentences),
        }
        parts.append(
            f"overlap of heads {percent(measures['overlap'][1].mean())}"
        )
        penalty = _three_digits(self.penalty.sum() / self.sentences)
        numbers = "".join(f"<th>{i + 1}</th>" for i in range(len(self.overlap)))
        rows = "".join(
            f"<tr><th>{name}</th>"
            + "".join(f"<td>{show(value)}</td>" for value in values)
            + "</tr>"
            for name, (show, values) in measures.items()
        )
        return (
            f"<p>{' · '.join(parts)}</p><details>"
            "<summary>Table: overlap and penalty of each head</summary><p>"
            f"{_ABOUT.format(penalty)}</p>"
            '<div class="scroll" tabindex="0" role="group" '
            'aria-label="Measures of each head"><table><thead><tr>'
            f"<th>head</th>{numbers}</tr></thead><tbody>{rows}</tbody></table>"
            "</div></details>"
        )


def _three_digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
