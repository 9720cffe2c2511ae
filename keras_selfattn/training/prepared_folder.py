"""What `prepare_shards` has made, as what a model learns from."""

import json
import os
import pathlib
import zlib
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from keras_selfattn.backends import compiled
from keras_selfattn.checksums import check_checksums
from keras_selfattn.data.joined_vectors import vector_names
from keras_selfattn.data.shards import ShardedDataset
from keras_selfattn.data.shards import load_shard
from keras_selfattn.evaluation import Evaluation
from keras_selfattn.evaluation import count
from keras_selfattn.models import get_preset
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.training.preparation import PreparedTexts
from keras_selfattn.training.preparation import check_data
from keras_selfattn.training.preparation import completed_vectors
from keras_selfattn.training.preparation import model_sizes
from keras_selfattn.training.settings import MANIFEST_FILE
from keras_selfattn.training.settings import differences
from keras_selfattn.training.settings import read_manifest
from keras_selfattn.training.values import DEFAULTS

PREPROCESSOR_FOLDER = "preprocessor"
VECTORS_FILE = "vectors.npz"

# Answered at a time.
_ROWS = 64

# The training values that ids depend on.
_NAMES = (
    "lowercase",
    "max_tokens",
    "prepend_null",
    "num_oov_indices",
    "min_count",
    "unseen_words",
)


class PreparedFolder:
    """What `prepare_shards` has made.

    Args:
        folder: Path of the folder.
        verify: Boolean, whether the files must be those that were written.

    Attributes:
        preset: The name of the preset that it was made for.

    Raises:
        ValueError: if the folder has no such thing.
    """

    def __init__(self, folder: str | os.PathLike, verify: bool = True) -> None:
        self.folder = pathlib.Path(folder)
        self._verify = verify
        path = self.folder / MANIFEST_FILE
        if not path.exists():
            raise ValueError(
                f"{folder} has no {MANIFEST_FILE}: it must be a folder that "
                "`prepare` has finished"
            )
        self._manifest = read_manifest(folder)
        self.preset = self._manifest["settings"]["preset"]

    def texts(
        self,
        preset: str,
        training: Mapping,
        overrides: Mapping,
        vectors: str | os.PathLike | Sequence[str | os.PathLike] | None = None,
    ) -> PreparedTexts:
        """The `PreparedTexts`, for a preset's model that takes these ids.

        Args:
            preset: The name of a preset.
            training: Dictionary of training values.
            overrides: Dictionary of model arguments that take the place of
                the preset's.
            vectors: As in `train`.

        Raises:
            ValueError: if the model takes other ids.
        """
        model = {**get_preset(preset).model, **overrides}
        asked = json.loads(json.dumps(text_settings(training, model, vectors)))
        # A folder may have been made before there was this value.
        made = {"unseen_words": 0, **self._manifest["settings"]["texts"]}
        if different := differences(asked, made):
            raise ValueError(
                f"{self.folder} was prepared with other values of: "
                f"{', '.join(different)}"
            )
        inner = self.folder / PREPROCESSOR_FOLDER
        preprocessor = TextPreprocessor.load(inner, verify=self._verify)
        found = None
        if vectors is not None:
            if self._verify:
                check_checksums(inner, (VECTORS_FILE,))
            with np.load(inner / VECTORS_FILE) as arrays:
                found = arrays["vectors"], arrays["found"]
        labels = self._manifest["labels"]
        train_data = ShardedDataset(
            [self._shard(entry) for entry in self._manifest["shards"]], labels
        )
        dev_data = self._dev()
        check_data(preset, train_data, dev_data)
        found = completed_vectors(train_data, preprocessor, found, training)
        sizes = model_sizes(preprocessor, found, overrides, vectors)
        sizes["num_classes"] = len(labels)
        return PreparedTexts(
            preprocessor, train_data, dev_data, found, sizes, self.checksums()
        )

    def checksums(self) -> dict[str, int]:
        """One of the ids of the texts each, by `"train"` and `"dev"`."""
        return {
            name: zlib.crc32(str([e["checksum"] for e in entries]).encode())
            for name, entries in self._entries().items()
        }

    def fingerprints(self) -> dict[str, dict]:
        """What is known of the texts, as a model card tells it.

        Returns:
            A dictionary, by `"train"` and `"dev"`, of the integer `"rows"`
            and the counts by label in `"classes"`.
        """
        labels = self._manifest["labels"]
        return {
            name: {
                "rows": sum(entry["rows"] for entry in entries),
                "classes": {
                    label: sum(entry["classes"][number] for entry in entries)
                    for number, label in enumerate(labels)
                },
            }
            for name, entries in self._entries().items()
        }

    def evaluate(self, model: Classifier) -> Evaluation:
        """Compare a model's answers to the dev texts with their labels.

        Args:
            model: A classifier that takes the ids of this folder.

        Returns:
            A `keras_selfattn.evaluation.Evaluation`.
        """
        answer = compiled.probabilities(model)
        batches = self._dev().batches(_ROWS).as_numpy_iterator()
        answers = ((labels, answer(ids)) for ids, labels in batches)
        return count(answers, self._manifest["labels"])

    def _entries(self):
        return {
            "train": self._manifest["shards"],
            "dev": [self._manifest["dev"]],
        }

    def _dev(self):
        entry = self._shard(self._manifest["dev"])
        return load_shard(entry["folder"], self._manifest["labels"])

    def _shard(self, entry):
        folder = self.folder / entry["name"]
        if self._verify:
            check_checksums(folder)
        return {**entry, "folder": folder}


def text_settings(training, model, vectors):
    """What the ids, and the vectors of their words, depend on."""
    training = {**DEFAULTS, **training}
    values = {name: training[name] for name in _NAMES}
    values["character_vocabulary_size"] = model.get("character_vocabulary_size")
    # The files may lie elsewhere when they are no longer needed.
    values["vectors"] = vector_names(vectors)
    return values
