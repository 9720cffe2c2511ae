"""What trained models answer on the training texts, as targets to learn."""

import json
import os
import zlib
from collections.abc import Iterable
from collections.abc import Sequence

import keras
import numpy as np
from keras import ops

from keras_selfattn import evaluation
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.labels import Finder
from keras_selfattn.labels import listed
from keras_selfattn.models.loading import load_whole

_BATCH_SIZE = 256


class Teachers:
    r"""Trained models that another one is to answer like.

    With the label $y$, as one of zeros and a one, the probabilities $q_t$ of
    the $T$ teachers, and $\lambda$, the target of a text is

    $$\lambda y + (1 - \lambda) \frac{1}{T} \sum_t q_t$$

    and the cross-entropy with it is the same mean of that with the label and
    those with each teacher's answer.

    Args:
        names: Sequence of names of trained models, or paths of their folders,
            as `keras_selfattn.models.from_preset` takes them.
        verify: Boolean, whether their files must be those that were written.

    Attributes:
        settings: Dictionary of what a run's settings say of them: by name, a
            number that differs for other weights.

    Raises:
        ValueError: if one is no trained model of texts.

    References:
        - [Hinton et al., 2015](https://arxiv.org/abs/1503.02531), section 2,
            with a temperature of 1 and several teachers
    """

    def __init__(
        self, names: Sequence[str | os.PathLike], verify: bool = True
    ) -> None:
        names = list(map(str, names))
        if len(set(names)) < len(names):
            raise ValueError(
                "`teachers` must be different models. Received: "
                f"teachers={names!r}"
            )
        self._models = {
            name: load_whole(name, verify, "A teacher") for name in names
        }
        self.settings = {
            "teachers": {
                name: _checksum(model) for name, model in self._models.items()
            }
        }

    def targets(
        self,
        texts: Iterable,
        dataset: EncodedDataset,
        student_loss_weight: float,
        verbose: str | int = 0,
    ) -> np.ndarray:
        """The targets of the training texts.

        Args:
            texts: Re-iterable of `(text, label)`.
            dataset: The same as an `EncodedDataset`.
            student_loss_weight: Number, the labels' share.
            verbose: As in `keras.Model.fit`: 0 shows no progress.

        Returns:
            A float32 array of shape `(rows, num_classes)`.

        Raises:
            ValueError: if a teacher has other labels, or takes pairs where
                these are none or the reverse.
        """
        labels = one_hot(dataset)
        mean = np.zeros_like(labels)
        for name, model in self._models.items():
            places = _places(name, model, dataset)
            told = keras.utils.Progbar(
                len(dataset), verbose=verbose, unit_name="text"
            )
            row = 0
            answers = evaluation.predict(
                model, (text for text, *_ in texts), _BATCH_SIZE
            )
            for batch, probabilities in answers:
                end = row + len(batch)
                mean[row:end] += probabilities[:, places] / len(self._models)
                row = end
                told.update(row)
        return student_loss_weight * labels + (1 - student_loss_weight) * mean


def one_hot(dataset: EncodedDataset) -> np.ndarray:
    """The labels of a corpus as float32 rows of zeros and a one."""
    table = np.eye(len(dataset.label_names), dtype="float32")
    return table[np.asarray(dataset.labels)]


def _places(name, model, dataset):
    """Where a teacher's outputs have the labels of a corpus."""
    labels = dataset.label_names
    places = list(map(Finder(model.labels), labels))
    if None in places or len(places) != len(model.labels):
        raise ValueError(
            f"A teacher must know the labels of the texts, {listed(labels)}, "
            f"and no others. Received: {name}, which knows "
            f"{listed(model.labels)}"
        )
    if (len(model.sides) == 2) != dataset.is_pair:
        kinds = ("texts", "pairs of texts")
        raise ValueError(
            f"A teacher must take {kinds[dataset.is_pair]}, as these are. "
            f"Received: {name}, which takes {kinds[not dataset.is_pair]}"
        )
    return places


def _checksum(model):
    told = zlib.crc32(json.dumps(model.labels).encode())
    for weight in model.weights:
        array = ops.convert_to_numpy(weight)
        told = zlib.crc32(np.ascontiguousarray(array), told)
    return told
