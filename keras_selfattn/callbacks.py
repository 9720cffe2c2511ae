"""Callbacks that show a classifier's training in TensorBoard.

Each writes into a folder of its own in `log_dir`, because TensorBoard expects
one writer a folder. They look at the model between epochs, outside of its
compiled step, and so work with `jit_compile=True` and every dtype policy.
Epochs are numbered as by `keras.callbacks.TensorBoard`.
"""

import io
import pathlib

import keras
import numpy as np
from keras import ops

from keras_selfattn import heads
from keras_selfattn import visualization
from keras_selfattn.files import replaced_file
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.sides import NAMES
from keras_selfattn.sides import sentences
from keras_selfattn.streams import chunks
from keras_selfattn.streams import several

_BATCH_SIZE = 64


class _Writer(keras.callbacks.Callback):
    """A callback with a TensorBoard writer while the model is trained."""

    folder = None

    def __init__(self, log_dir):
        super().__init__()
        self.path = pathlib.Path(log_dir) / self.folder
        self.writer = None

    def on_train_begin(self, logs=None):
        import tensorflow as tf

        self.writer = tf.summary.create_file_writer(str(self.path))

    def on_train_end(self, logs=None):
        self.writer.close()

    def scalars(self, values, epoch):
        import tensorflow as tf

        with self.writer.as_default(step=epoch):
            for name, value in values.items():
                tf.summary.scalar(name, value)
        self.writer.flush()


class _Probe(_Writer):
    """A callback that looks at the same texts after each epoch."""

    def __init__(self, log_dir, texts):
        super().__init__(log_dir)
        self.texts = list(several(texts))
        if not self.texts:
            raise ValueError(
                "`texts` must hold at least one text. Received: none"
            )

    def on_train_begin(self, logs=None):
        if not isinstance(self.model, Classifier):
            raise ValueError(
                f"The model of {type(self).__name__} must be a "
                "`keras_selfattn.models.Classifier`. Received: "
                f"{type(self.model).__name__}"
            )
        # Texts of another kind fail before the first epoch, not after it.
        self.model.preprocess(self.texts[:1])
        super().on_train_begin(logs)

    def batches(self):
        """The model's inputs for the texts, a batch at a time."""
        for chunk in chunks(self.texts, _BATCH_SIZE):
            yield self.model.preprocess(chunk)


class AttentionPictures(_Probe):
    """Pictures of a model's attention to the same texts, epoch by epoch.

    The run `attention` gets an image of each text: the predicted class above
    a heat map, heads × words; for a pair one of each sentence, or its
    alignments. It needs matplotlib.

    Args:
        log_dir: Path of TensorBoard's folder of this training.
        texts: List of strings; for a model of pairs, of pairs of strings.
            All are drawn after each epoch, so give few.

    Raises:
        ValueError: if `texts` is empty or a string, or, when the training
            starts, if the model is no classifier with its `preprocessor`, or
            takes other texts.

    Example:

    >>> pictures = AttentionPictures("logs", ["The food was not good."])
    >>> # model.fit(..., callbacks=[pictures])
    """

    folder = "attention"

    def on_epoch_end(self, epoch, logs=None):
        import tensorflow as tf

        with self.writer.as_default(step=epoch):
            for number, explanation in enumerate(
                visualization.explain(self.model, self.texts), start=1
            ):
                sides = explanation.sides().values()
                tf.summary.image(
                    f"attention/text_{number}",
                    _draw(explanation)[None],
                    description="\n\n".join(side.text for side in sides),
                )
        self.writer.flush()


def _draw(explanation):
    import tensorflow as tf

    figure = explanation.figure()
    label = str(explanation.predicted).replace("$", r"\$")
    figure.suptitle(f"{label} ({explanation.confidence:.0%})")
    png = io.BytesIO()
    figure.savefig(png, format="png")
    return tf.io.decode_png(png.getvalue(), channels=3)


class PenaltyCurves(_Probe):
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

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.attention = None
        if self.model.has_heads:
            self.attention = self.model.attention_model()

    def on_epoch_end(self, epoch, logs=None):
        means = {}
        for features in self.batches():
            share = len(next(iter(features.values()))) / len(self.texts)
            values = self.penalties(features) | self.heads(features)
            for name, value in values.items():
                means[name] = means.get(name, 0.0) + share * value
        self.scalars(means, epoch)

    def penalties(self, features):
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

    def heads(self, features):
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


class Hyperparameters(_Writer):
    """A training's row in TensorBoard's table of hyperparameters.

    The row is the run `hyperparameters`: the model's arguments, the
    optimizer and its learning rate, the dtype policy and `jit_compile`, and
    as metrics the logs of each epoch. Point TensorBoard at the folder that
    holds several trainings' `log_dir` to compare them.

    Args:
        log_dir: Path of TensorBoard's folder of this training.
        values: Dictionary of further hyperparameters, strings and numbers.
            Defaults to none.

    Example:

    >>> row = Hyperparameters("logs/first", {"batch_size": 50})
    >>> # model.fit(..., callbacks=[row])
    """

    folder = "hyperparameters"

    def __init__(self, log_dir, values=None):
        super().__init__(log_dir)
        self.values = dict(values or {})

    def on_train_begin(self, logs=None):
        from tensorboard.plugins.hparams import api

        super().on_train_begin(logs)
        optimizer = self.model.optimizer
        # Keras wraps the optimizer of a model that computes in float16.
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        optimizer = optimizer.get_config()
        values = {
            **self.model.get_config(),
            "optimizer": optimizer["name"],
            "learning_rate": optimizer["learning_rate"],
            "dtype_policy": self.model.dtype_policy.name,
            "jit_compile": self.model.jit_compile,
            **self.values,
        }
        with self.writer.as_default():
            api.hparams({k: _plain(v) for k, v in values.items()})
        self.writer.flush()

    def on_epoch_end(self, epoch, logs=None):
        self.scalars(logs or {}, epoch)


def _plain(value):
    return value if isinstance(value, (bool, int, float, str)) else str(value)


class EmbeddingProjector(_Probe):
    """Sentence embeddings with their labels in TensorBoard's projector.

    After each epoch the run `embeddings` gets the embeddings of the texts,
    each the mean over its heads, in place of those of the epoch before:
    `vectors.tsv`, `metadata.tsv` and the `projector_config.pbtxt` that names
    them. Each text of a pair is a point; of a model that embeds both at once,
    `DecomposableClassifier`, each pair is one. TensorBoard reads the files
    once: restart it to see those of a later epoch.

    Args:
        log_dir: Path of TensorBoard's folder of this training.
        texts: List of strings; for a model of pairs, of pairs of strings.
        labels: List of the labels, one a text.

    Raises:
        ValueError: if `texts` is empty or a string, if there are more or
            fewer labels than texts, or, when the training starts, if the
            model is no classifier with its `preprocessor`, or takes other
            texts.

    Example:

    >>> projector = EmbeddingProjector("logs", ["Good.", "Bad."], ["5", "1"])
    >>> # model.fit(..., callbacks=[projector])
    """

    folder = "embeddings"

    def __init__(self, log_dir, texts, labels):
        super().__init__(log_dir, texts)
        self.labels = [str(label) for label in labels]
        if len(self.labels) != len(self.texts):
            raise ValueError(
                f"Expected a label for each of the {len(self.texts)} texts. "
                f"Received: {len(self.labels)} labels"
            )

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.embedding = self.model.embedding_model()

    def on_epoch_end(self, epoch, logs=None):
        from tensorboard.plugins import projector

        vectors = np.concatenate([self.embed(f) for f in self.batches()])
        # TensorBoard lists a folder as a run only where it finds a summary.
        norms = np.linalg.norm(vectors, axis=-1)
        self.scalars({"embeddings/mean_norm": float(norms.mean())}, epoch)
        self.write(
            "vectors.tsv",
            ("\t".join(f"{x:.6g}" for x in vector) for vector in vectors),
        )
        self.write("metadata.tsv", self.metadata())
        config = projector.ProjectorConfig()
        entry = config.embeddings.add()
        entry.tensor_name = "sentence_embeddings"
        entry.tensor_path = "vectors.tsv"
        entry.metadata_path = "metadata.tsv"
        projector.visualize_embeddings(str(self.path), config)

    def embed(self, features):
        """The vectors of one batch, float32, side after side of each pair."""
        rows = self.embedding(features, training=False)
        vectors = [
            ops.convert_to_numpy(ops.cast(side, "float32"))
            for side in keras.tree.flatten(rows)
        ]
        vectors = [v.mean(axis=1) if v.ndim == 3 else v for v in vectors]
        return np.stack(vectors, axis=1).reshape(-1, vectors[0].shape[-1])

    def metadata(self):
        """The lines of a table with a row for each vector."""
        vectors = keras.tree.flatten(self.embedding.output)
        one_of_a_pair = len(vectors) < len(self.model.sides)
        yield "\t".join(["label", *(NAMES if one_of_a_pair else ["text"])])
        for text, label in zip(self.texts, self.labels, strict=True):
            parts = sentences(text)
            for cells in [parts] if one_of_a_pair else zip(parts):
                # Tabs and line breaks would break the table.
                yield "\t".join(
                    " ".join(cell.split()) for cell in (label, *cells)
                )

    def write(self, name, lines):
        with (
            replaced_file(self.path / name) as beside,
            beside.open("w", encoding="utf-8", errors="replace") as file,
        ):
            file.writelines(line + "\n" for line in lines)
