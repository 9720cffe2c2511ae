from collections.abc import Mapping

import keras
import numpy as np
from keras import ops

from keras_selfattn import heads
from keras_selfattn.callbacks.writing import Probe


class PenaltyCurves(Probe):
    """Curves of a model's penalties, and of how its heads differ.

    After each epoch the model reads the texts, without dropout, and the run
    `penalties` gets

    - `penalty/<layer>`, what the layer adds to the loss, for each layer that
      does; for generalized pooling with more than one penalty
      `penalty/<layer>/<subject>`, the subject being `parameter`, `attention`
      or `embedding`. The two sides of a pair are added up.
    - `heads/overlap`, `heads/effective_number` and `heads/entropy`, means of
      what `keras_selfattn.heads` defines, where a model has attention heads;
      for a pair the mean of both sides.

    Args:
        log_dir: Path of TensorBoard's folder of this training.
        texts: List of strings; for a model of pairs, of pairs of strings.

    Raises:
        ValueError: if `texts` is empty or a string, or, when the training
            starts, if the model is no classifier with its `preprocessor`, or
            takes other texts.

    Example:

    >>> curves = PenaltyCurves("logs", ["The food was not good."])
    >>> # model.fit(..., callbacks=[curves])
    """

    folder = "penalties"

    def on_train_begin(self, logs: Mapping | None = None) -> None:
        super().on_train_begin(logs)
        self.attention = None
        if self.model.has_heads:
            self.attention = self.model.attention_model()

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
        means = {}
        for features in self.batches():
            share = len(next(iter(features.values()))) / len(self.texts)
            values = self.penalties(features) | self.heads(features)
            for name, value in values.items():
                means[name] = means.get(name, 0.0) + share * value
        self.scalars(means, epoch)

    def penalties(self, features: Mapping) -> dict[str, float]:
        """A dictionary of each penalty by name for one batch."""
        self.model(features, training=False)
        values = {}
        for layer in self.model.layers:
            losses = [float(ops.convert_to_numpy(x)) for x in layer.losses]
            if not losses:
                continue
            name = f"penalty/{layer.name}"
            subjects = _subjects(layer)
            if len(subjects) < 2 or len(losses) % len(subjects):
                values[name] = sum(losses)
                continue
            # A shared layer adds all its penalties once a side.
            for number, subject in enumerate(subjects):
                values[f"{name}/{subject}"] = sum(
                    losses[number :: len(subjects)]
                )
        return values

    def heads(self, features: Mapping) -> dict[str, float]:
        """A dictionary of the measures of the heads for one batch."""
        if self.attention is None:
            return {}
        scores = self.attention(features, training=False)
        sides = [
            heads.of_words(ops.convert_to_numpy(side))
            for side in keras.tree.flatten(scores)
        ]
        return {
            f"heads/{measure.__name__}": float(
                np.mean([measure(side).mean() for side in sides])
            )
            for measure in (
                heads.overlap,
                heads.effective_number,
                heads.entropy,
            )
        }


def _subjects(layer):
    """What generalized pooling penalizes, in the order of its losses."""
    layer = getattr(layer, "layer", layer)
    return [
        subject
        for subject in ("parameter", "attention", "embedding")
        if getattr(layer, f"{subject}_regularizer", None) is not None
    ]
