"""A classifier taken apart: what it answers from word vectors, and why."""

from keras_selfattn import heads
from keras_selfattn.backends import compiled
from keras_selfattn.effects.gradients import gradient_times_input
from keras_selfattn.effects.reader import Reader as PartReader


class Reader(PartReader):
    """A classifier's answers, attention and gradients for features."""

    def __init__(self, model):
        super().__init__(model)
        self.has_heads = model.has_heads
        self._look = compiled.explanations(model)
        self._multiply = gradient_times_input(model)

    def look(self, features):
        """What the model answers and where it looks.

        Returns:
            The probabilities `(B, classes)`; of each sentence the scores
            `(B, rows, n)`, a row being a head or a word of the other
            sentence; and of each sentence gradients × input `(B, n)`.
        """
        outputs, gradients = self._multiply(features)
        views = self._look(features)
        if self.has_heads:
            scores = views["attention_scores"]
            scores = list(scores) if len(self.sides) > 1 else [scores]
        else:
            # How the premise looks at the hypothesis comes first.
            scores = list(views["alignment_scores"])[::-1]
        return outputs, [heads.of_words(side) for side in scores], gradients
