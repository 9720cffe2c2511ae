"""Raw texts with their labels and weights, as a model learns from them."""

import itertools
import math
import numbers
import tempfile

import numpy as np

from keras_selfattn import labels as class_labels
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.text import columns


def check_preprocessor(model):
    """`ValueError` where a model has no preprocessor to read texts with."""
    if model.preprocessor is None:
        raise ValueError(
            f"The model {model.name!r} reads raw texts only with a "
            "`preprocessor`. Received: one without"
        )


def encode(
    model,
    folder,
    texts,
    labels=None,
    weights=None,
    labeled=True,
    collect=False,
):
    """The ids of texts, on disk, and what belongs to each of them.

    Args:
        model: A classifier. Where it has no labels, those of the texts are
            numbers of classes.
        folder: Path of a folder for the ids.
        texts: Texts as `Classifier.fit` takes them.
        labels: Their labels, where `texts` is no dataset that has them.
        weights: Their weights, or `None`; the same.
        labeled: Boolean, whether labels are wanted.
        collect: Boolean, whether a model without labels gets those of the
            texts.

    Returns:
        A `keras_selfattn.data.batches.EncodedDataset`, and the rows of the
        first batch of a dataset that has batches, or `None`.
    """
    check_preprocessor(model)
    dataset_labels, dataset_weights, sizes = [], [], []

    def records():
        if hasattr(texts, "element_spec"):
            rows = columns.rows_of_dataset(texts, model.sides)
        else:
            rows = (
                (text, None, None, None)
                for text in columns.rows_of(texts, model.sides)
            )
        for text, label, weight, size in rows:
            if not sizes:
                sizes.append(size)
            for what, found, given, kept in (
                ("y", label, labels, dataset_labels),
                ("sample_weight", weight, weights, dataset_weights),
            ):
                if found is None:
                    continue
                if given is not None:
                    raise ValueError(
                        f"A dataset that has its own takes no `{what}`. "
                        f"Received: {what}={type(given).__name__}"
                    )
                kept.append(found)
            # The targets are known once all texts are.
            yield text, 0

    rows = records()
    first = next(rows, None)
    if first is None:
        raise ValueError("Expected at least one text. Received: none")
    corpus = EncodedDataset.from_texts(
        itertools.chain([first], rows),
        model.preprocessor,
        labels=[0],
        folder=tempfile.mkdtemp(dir=folder),
    )
    if labeled:
        corpus.labels = targets_of(
            model, dataset_labels or labels, len(corpus), collect
        )
        corpus.weights = weights_of(dataset_weights or weights, len(corpus))
    return corpus, sizes[0]


def weighed(model, targets, weights, class_weight):
    """The weight of each row, that of its class included.

    Args:
        model: A classifier.
        targets: What `targets_of` gives.
        weights: What `weights_of` gives.
        class_weight: Dictionary of weights by label, or number of a class.

    Returns:
        A float32 array `(rows,)`.
    """
    labels = _known_labels(model)
    if targets.ndim > 1 and targets.shape[1] == 1:
        labels, targets = [0, 1], _as_one_of_two(targets[:, 0])
    if targets.ndim > 1:
        raise ValueError(
            "`class_weight` takes one label a text. "
            f"Received: labels of shape {targets.shape}"
        )
    of_classes = np.ones(len(labels), "float32")
    classes = class_labels.numbers_of(class_weight, labels, of="class weight")
    _check_once(classes, class_weight)
    of_classes[classes] = list(class_weight.values())
    of_rows = of_classes[targets]
    return of_rows if weights is None else of_rows * weights


def numbered(model, class_weight):
    """A `class_weight` by numbers of classes alone, as Keras takes it.

    Args:
        model: A classifier.
        class_weight: Dictionary of weights by the label, or the number, of a
            class, or `None`.
    """
    if class_weight is None:
        return None
    known = _known_labels(model)
    classes = [
        key
        if isinstance(key, numbers.Number)
        else class_labels.numbers_of([key], known, of="class weight").item()
        for key in class_weight
    ]
    _check_once(classes, class_weight)
    return dict(zip(classes, class_weight.values(), strict=True))


def _check_once(classes, class_weight):
    if len(set(classes)) < len(classes):
        raise ValueError(
            "`class_weight` must name each class once. "
            f"Received: class_weight={class_weight!r}"
        )


def _as_one_of_two(values):
    """The values of a model of one output as integers, 0 or 1."""
    others = values[~np.isin(values, (0, 1))]
    if others.size:
        raise ValueError(
            "With one output, `class_weight` takes texts of the values 0 and "
            f"1. Received: a text of {others[0]:g}"
        )
    return values.astype("int32")


def split(corpus, share):
    """A corpus without its last rows, and these.

    Args:
        corpus: An `EncodedDataset`.
        share: Float, the share of the last rows.
    """
    if not 0 < share < 1:
        raise ValueError(
            "`validation_split` must be between 0 and 1. "
            f"Received: validation_split={share!r}"
        )
    start = math.floor(len(corpus) * (1 - share))
    if not 0 < start < len(corpus):
        raise ValueError(
            "`validation_split` must leave texts on both sides. Received: "
            f"validation_split={share!r} of {len(corpus)} texts"
        )
    return corpus.subset(0, start), corpus.subset(start, len(corpus))


def targets_of(model, labels, rows, collect=False):
    """What the loss takes: numbers of classes, or arrays as they are.

    Args:
        model: As in `encode`.
        labels: The same.
        rows: The number of texts.
        collect: As in `encode`.

    Returns:
        An array of `rows` rows.
    """
    if labels is None:
        raise ValueError(
            "Texts are trained on and evaluated with labels, `y`. "
            "Received: y=None"
        )
    labels = columns.listed(labels)
    targets = np.asarray(labels)
    if targets.dtype.kind not in "biuf":
        # NumPy would write all as text that stand beside one, NaN among them.
        targets = np.asarray(labels, object)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    _check_rows("labels", targets, rows)
    num_classes = model._arguments["num_classes"]
    is_class = any(map(class_labels.is_like_a_number, model.labels or []))
    if num_classes == 1 and not is_class and targets.dtype.kind in "biuf":
        # A loss of one output takes its value.
        return targets.astype("float32").reshape(rows, -1)
    if targets.ndim > 1:
        return targets.astype("float32")
    labels = targets.tolist()
    if model.labels is None and collect:
        model.labels = class_labels.of_classes(labels, num_classes)
    return class_labels.numbers_of(labels, _known_labels(model))


def weights_of(weights, rows):
    """The weight of each row as a float32 array, or `None`.

    Args:
        weights: Numbers in any form, or `None`.
        rows: The number of texts.
    """
    if weights is None:
        return None
    weights = np.asarray(weights, "float32")
    _check_rows("weights", weights, rows)
    if weights.size != rows:
        raise ValueError(
            "Expected one weight a text. "
            f"Received: weights of shape {weights.shape} for {rows} texts"
        )
    return weights.reshape(-1)


def _known_labels(model):
    """A list, of the numbers of the classes where they have no names."""
    if model.labels is None:
        return list(range(model._arguments["num_classes"]))
    return list(model.labels)


def _check_rows(what, array, rows):
    if array.ndim == 0 or len(array) != rows:
        found = "one value" if array.ndim == 0 else len(array)
        raise ValueError(
            f"Expected as many {what} as texts. "
            f"Received: {found} for {rows} texts"
        )
