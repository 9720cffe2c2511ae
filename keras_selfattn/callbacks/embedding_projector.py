import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_selfattn.callbacks.writing import Probe
from keras_selfattn.files import replaced_file
from keras_selfattn.sides import NAMES
from keras_selfattn.sides import sentences


class EmbeddingProjector(Probe):
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

    def __init__(
        self, log_dir: str | os.PathLike, texts: Any, labels: Sequence
    ) -> None:
        super().__init__(log_dir, texts)
        self.labels = [str(label) for label in labels]
        if len(self.labels) != len(self.texts):
            raise ValueError(
                f"Expected a label for each of the {len(self.texts)} texts. "
                f"Received: {len(self.labels)} labels"
            )

    def on_train_begin(self, logs: Mapping | None = None) -> None:
        super().on_train_begin(logs)
        self.embedding = self.model.embedding_model()

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
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

    def embed(self, features: Mapping) -> np.ndarray:
        """The vectors of one batch, float32, side after side of each pair."""
        rows = self.embedding(features, training=False)
        vectors = [
            ops.convert_to_numpy(ops.cast(side, "float32"))
            for side in keras.tree.flatten(rows)
        ]
        vectors = [v.mean(axis=1) if v.ndim == 3 else v for v in vectors]
        return np.stack(vectors, axis=1).reshape(-1, vectors[0].shape[-1])

    def metadata(self) -> Iterator[str]:
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

    def write(self, name: str, lines: Iterable[str]) -> None:
        with (
            replaced_file(self.path / name) as beside,
            beside.open("w", encoding="utf-8", errors="replace") as file,
        ):
            file.writelines(line + "\n" for line in lines)
