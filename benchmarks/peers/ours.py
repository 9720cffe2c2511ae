"""The package: its public models, layers, optimizers and pipeline."""

import importlib.util
import pathlib

import keras
import numpy as np
import tensorflow as tf

from benchmarks.peers import c_api
from benchmarks.peers import running_keras
from benchmarks.peers.workloads import made_up_words
from benchmarks.peers.workloads import make_rows
from benchmarks.peers.workloads import read_corpus
from keras_selfattn import models
from keras_selfattn import serving
from keras_selfattn import training
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.text import TextPreprocessor

_RECIPE = training.training_values(models.get_preset("parikh2016_snli"), {})


def build_model(work, precision="float32", steps_per_execution=1):
    """The compiled model of a `Work`."""
    if precision == "bfloat16":
        keras.config.set_dtype_policy("mixed_bfloat16")
    model = getattr(models, work.model)(**work.arguments)
    values = {
        "optimizer": work.optimizer,
        "learning_rate": work.learning_rate,
        "steps_per_execution": steps_per_execution,
    }
    training.compile_model(model, values)
    return model


class Steps(running_keras.Steps):
    def __init__(self, work, precision):
        super().__init__(build_model(work, precision), *make_rows(work))


class Epochs(running_keras.Epochs):
    def __init__(self, work, precision, corpus=None):
        model = build_model(work, precision, _RECIPE["steps_per_execution"])
        dataset = _encoded(*read_corpus(work, corpus))
        batches = dataset.batches(work.batch_size, shuffle=True)
        super().__init__(model, work, batches)


def _encoded(features, labels):
    flat, offsets = {}, {}
    for name, ids in features.items():
        side = name.removesuffix("token_ids").removesuffix("char_ids")
        kept = features[f"{side}token_ids"] != 0
        flat[name] = ids[kept]
        offsets[side] = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    return EncodedDataset(flat, offsets, labels, np.unique(labels).tolist())


class Served:
    """The exported model of a work, asked about a text.

    Attributes:
        facts: Dictionary with the `command` that asks it in C, or `None`
            where there is no compiler.
    """

    def __init__(self, work, text, folder):
        model = build_model(work)
        words = made_up_words(work.arguments["vocabulary_size"] - 2)
        model.preprocessor = TextPreprocessor(words)
        model.labels = [str(i) for i in range(work.arguments["num_classes"])]
        path = serving.export(model, folder)
        served = serving.load_savedmodel(path)
        self._answer = served.signatures["serving_default"]
        self._text = text
        text_ops = importlib.util.find_spec("tensorflow_text")
        libraries = [
            pathlib.Path(text_ops.origin).parent / library
            for library in served.requirements["op_libraries"]
        ]
        self.facts = {
            "version": running_keras.VERSION,
            "command": c_api.command(
                path, libraries, text, pathlib.Path(folder)
            ),
        }

    def infer(self, times):
        """Asks, and returns the probability of the first class."""
        for _ in range(times):
            answer = self._answer(text=tf.constant([self._text]))
            probabilities = answer["probabilities"].numpy()
        return float(probabilities[0, 0])
