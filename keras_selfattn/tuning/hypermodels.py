"""The classifiers as KerasTuner's hypermodels."""

import contextlib
import math
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import keras_tuner
import numpy as np
import tensorflow as tf

from keras_selfattn import training
from keras_selfattn.backends import memory
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.cutting import prefetch_batches
from keras_selfattn.models.arguments import applying
from keras_selfattn.models.loading import CLASSES
from keras_selfattn.models.ngrams import adapt_ngrams
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text.columns import are_texts
from keras_selfattn.text.columns import listed
from keras_selfattn.text.columns import rows_of_dataset
from keras_selfattn.training.averaging import set_reach
from keras_selfattn.training.preparation import check_vectors
from keras_selfattn.training.values import batch_size_for
from keras_selfattn.training.values import preset_of
from keras_selfattn.tuning.choices import find_choices
from keras_selfattn.tuning.spaces import SPACES
from keras_selfattn.tuning.spaces import recipe_space
from keras_selfattn.zoo import Recipe

# Of trials that nothing else ends.
_PATIENCE = 3


class _ClassifierHyperModel(keras_tuner.HyperModel):
    class_name: str

    def __init__(
        self,
        /,
        preset: str | Recipe,
        vocabulary_size: int | None = None,
        num_classes: int | None = None,
        seed: int = 0,
        vectors: tuple | None = None,
        patience: int | str | None = "auto",
        papers_space: bool = True,
        preprocessor: TextPreprocessor | None = None,
        labels: Sequence | None = None,
        **arguments: Any,
    ) -> None:
        recipe = as_recipe(preset)
        super().__init__(name=recipe.preset)
        values = preset_of(recipe)
        if values.class_name != self.class_name:
            raise ValueError(
                f"{type(self).__name__} takes a preset of {self.class_name}. "
                f"Received: {self.name!r}, a preset of {values.class_name}"
            )
        self._follows: dict[str, Any] = {
            "vocabulary_size": vocabulary_size,
            "num_classes": num_classes,
            "preprocessor": preprocessor,
            "labels": labels,
        }
        self.seed = seed
        self.vectors = vectors
        if preprocessor is not None and recipe.model:
            # A recipe says how many there are at most.
            values.model.pop("character_vocabulary_size", None)
            if preprocessor.characters is None:
                values.model.pop("character_cnn", None)
        if patience != "auto":
            arguments["patience"] = patience
        self._preset = values
        self._fixed = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in arguments.items()
            if not isinstance(value, list)
        }
        monitor = self._fixed.get("monitor", "accuracy")
        if monitor != "accuracy":
            raise ValueError(
                "`monitor` must be accuracy in a search, whose trials are "
                f"measured by it. Received: monitor={monitor!r}"
            )
        if "student_loss_weight" in arguments:
            raise ValueError(
                "`student_loss_weight` is for teachers, which a search has "
                "none of. Received: student_loss_weight="
                f"{arguments['student_loss_weight']!r}"
            )
        space = recipe_space(recipe, values) or SPACES[values.class_name]
        self.choices = find_choices(
            values, arguments, space if papers_space else ()
        )

    def settings(self, hp: keras_tuner.HyperParameters) -> dict[str, dict]:
        """All values of a trial, as `settings.json` of a run holds them.

        Args:
            hp: A `keras_tuner.HyperParameters`. It learns of the search
                space, and its values of the trial count.

        Returns:
            A dictionary of two dictionaries: `"model"`, the arguments of the
            model, and `"training"`, the training values.
        """
        chosen = dict(self._fixed)
        for choice in self.choices:
            chosen.update(choice.declare(hp))
        optimizer = chosen.get("optimizer", self._preset.training["optimizer"])
        taken = training.value_names(optimizer)
        model, values = dict(self._preset.model), {}
        for name, value in chosen.items():
            if name in taken:
                values[name] = value
            elif not training.is_training_value(name):
                model[name] = value
        return {
            "model": model,
            "training": training.training_values(self._preset, values),
        }

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """Build and compile the model of a trial.

        Args:
            hp: A `keras_tuner.HyperParameters`.

        Returns:
            The compiled model.

        Raises:
            ValueError: if the recipe needs word vectors, and there are none.
            keras_tuner.errors.FailedTrialError: if the memory is too small.
        """
        settings = self.settings(hp)
        try:
            self._check_vectors(settings["training"])
        except ValueError as error:
            # No other trial would have them.
            raise keras_tuner.errors.FatalValueError(str(error)) from None
        with _out_of_memory_fails_alone():
            model = training.make_model(
                self.name,
                settings["training"],
                **self._follows,
                vectors=self.vectors,
                seed=self.seed,
                **applying(CLASSES[self.class_name], settings["model"]),
            )
            # Hyperband loads an earlier trial's optimizer state into it.
            model.optimizer.build(model.trainable_variables)
        return model

    def _check_vectors(self, values):
        check_vectors(values, self.vectors)
        if values.get("learn_vectors") and self.vectors is None:
            raise ValueError(
                "`learn_vectors` takes training texts, which "
                "`keras_selfattn.tuning.search` has; here `vectors` must be "
                "those learned. Received: vectors=None"
            )

    def fit(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: Any,
        y: Any = None,
        validation_data: Any = None,
        callbacks: Iterable = (),
        epochs: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Fit the model of a trial, with the batch size of the trial.

        Args:
            hp: A `keras_tuner.HyperParameters`.
            model: What `build` made of it.
            x: A `keras_selfattn.data.batches.EncodedDataset`, whose rows are
                shuffled; or a finite `tf.data.Dataset` of batches, which are
                cut anew; or raw texts or the model's inputs, as in
                `Classifier.fit`; or a `keras.utils.PyDataset`, a generator
                or a PyTorch `DataLoader` of inputs, which keep the batches
                that they have.
            y: The labels, where `x` is no dataset that has them.
            validation_data: The same, as in `keras.Model.fit`.
            callbacks: Further Keras callbacks.
            epochs: Integer, the number of the last epoch. Defaults to the
                preset's.
            **kwargs: Further arguments of `keras.Model.fit`, but for
                `batch_size`, which is the trial's.

        Returns:
            The `keras.callbacks.History`.

        Raises:
            ValueError: if there is a `batch_size`, or no labels; or
                `ema_epochs` with rows that can't be counted, or
                `class_weight` with what is no `EncodedDataset`.
            keras_tuner.errors.FailedTrialError: if the loss becomes NaN, or
                if the memory is too small; the trial alone has failed then.
        """
        values = self.settings(hp)["training"]
        _check_given(values, x, kwargs)
        size = values["batch_size"]
        rows = _count_rows(x, y, model.sides)
        if rows is not None:
            if kwargs.get("validation_split") and validation_data is None:
                rows = math.floor(rows * (1 - kwargs["validation_split"]))
            # That there are none is for the model's `fit` to refuse.
            rows = max(1, rows)
            size = batch_size_for(values, rows)
            set_reach(model, values, rows)
        elif values.get("ema_epochs"):
            raise keras_tuner.errors.FatalValueError(
                "`ema_epochs` takes data whose rows can be counted. "
                f"Received: ema_epochs={values['ema_epochs']!r} and x of type "
                f"{type(x).__name__}"
            )
        all_callbacks = self._callbacks(hp, values, callbacks)
        if isinstance(x, EncodedDataset):
            adapt_ngrams(model, x)
            if values.get("class_weight"):
                kwargs["class_weight"] = training.class_weights(
                    x.labels, model.output.shape[-1], values
                )
            x = x.batches(size, shuffle=True, seed=self.seed or 0)
            all_callbacks.insert(0, training.SetEpoch(x.plan))
            kwargs["shuffle"] = False
        elif isinstance(x, tf.data.Dataset) and not are_texts(x):
            x = _in_batches_of(size, x, rows)
            # It comes in its own order.
            kwargs["shuffle"] = False
        else:
            kwargs["batch_size"] = size
        if isinstance(validation_data, EncodedDataset):
            validation_data = validation_data.batches(size)
        elif isinstance(validation_data, tf.data.Dataset) and not are_texts(
            validation_data
        ):
            validation_data = _in_batches_of(
                size, validation_data, _count_batched(validation_data)
            )
        with _out_of_memory_fails_alone():
            history = model.fit(
                x,
                y,
                validation_data=validation_data,
                callbacks=all_callbacks,
                epochs=values["epochs"] if epochs is None else epochs,
                **kwargs,
            )
        losses = history.history["loss"]
        if any(loss != loss for loss in losses):
            raise keras_tuner.errors.FailedTrialError(
                f"the loss became NaN in the last of {len(losses)} epochs"
            )
        return history

    def _callbacks(self, hp, values, further):
        """The callbacks of a trial, `further` ones among them."""
        stopping = []
        if patience := self._patience(hp, values):
            stopping.append(
                keras.callbacks.EarlyStopping(
                    "val_accuracy", mode="max", patience=patience
                )
            )
        return [
            *stopping,
            *training.learning_rate_decay(values),
            *further,
            keras.callbacks.TerminateOnNaN(),
            # Last, so that the callbacks before it see the averages.
            training.EvaluateAverages(),
        ]

    def _patience(self, hp, values):
        """The epochs without a better figure that end a trial, or `None`."""
        patience = values.get("patience")
        # The first trial is what the others are compared with: it stops where
        # training does.
        is_first = self.first_values().items() <= hp.values.items()
        is_open = patience is None and "patience" not in self._fixed
        return _PATIENCE if is_open and not is_first else patience

    def first_settings(self) -> dict[str, dict]:
        """The `settings` of the first trial."""
        return self.settings(keras_tuner.HyperParameters())

    def first_values(self) -> dict[str, Any]:
        """The values of KerasTuner's hyperparameters in the first trial."""
        hp = keras_tuner.HyperParameters()
        self.settings(hp)
        return hp.values


class SentenceHyperModel(_ClassifierHyperModel):
    """A search space around a preset of `SentenceClassifier`.

    Its search space holds the papers' values of `pooling`, and with it of
    `attention_dim`, `num_heads`, the penalties and `margin`; of `row_units`,
    `column_units`, `dropout` and `batch_size`; of `optimizer`, and with it of
    `learning_rate`. Ranges that differ from one pooling or optimizer to the
    other are hyperparameters of their own, such as `adam_learning_rate`. The
    preset's own values are the defaults.

    A recipe is a preset with values of its own, and may have a search space
    of its own: `keras_selfattn.zoo.get_recipe("own_texts")` has one for some
    hundreds or thousands of texts.

    Each trial starts from the same seed, so that it is what
    `keras_selfattn.training.train` does with the same values. It stops early
    once `val_accuracy` does not rise, but for the one with the preset's own
    values, by which the others are measured: that stops where `patience` or a
    recipe says so. A trial whose loss becomes NaN, or whose memory is too
    small, fails alone.

    Args:
        preset: The name of a preset, or a `keras_selfattn.zoo.Recipe`.
        vocabulary_size: Integer, the number of token ids, padding included.
            Not needed beside `preprocessor`.
        num_classes: Integer, the number of classes. Not needed beside
            `labels`.
        seed: Integer, the seed of each trial; `None` leaves Keras's seeds
            alone, which `executions_per_trial` above 1 asks for.
        vectors: `None`, or the pair of arrays that
            `keras_selfattn.layers.WordEmbedding.load_vectors` takes.
        patience: Integer, how many epochs without a better `val_accuracy`
            end a trial; with `None`, all trials have all epochs. Defaults to
            `"auto"`: the recipe's, or, where it has none, 3 in all trials
            but the first.
        papers_space: Boolean, whether arguments that are not given are
            searched in the papers' values, or in those of a recipe that has
            some. Otherwise they stay the preset's.
        preprocessor: The `keras_selfattn.text.TextPreprocessor` that the
            models read raw texts with, or `None` for ids.
        labels: List of the names of the classes, or `None`.
        **arguments: Arguments of the model, and training values such as
            `learning_rate`. A list is searched; anything else is fixed, a
            tuple as well. What only one of several optimizers takes, or
            only one of several poolings, has no effect with the others.

    Raises:
        ValueError: if the preset is of another class, if there is no
            argument of a name, or if one is not as expected, cannot be
            searched, or changes nothing in any trial.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130)
        - [Chen et al., 2018](https://arxiv.org/abs/1806.09828)

    Example:

    >>> import keras_tuner
    >>> hypermodel = SentenceHyperModel(
    ...     "lin2017_yelp", vocabulary_size=50, num_classes=5, units=[8, 16],
    ...     pooling="max", hidden_units=10, papers_space=False)
    >>> hp = keras_tuner.HyperParameters()
    >>> model = hypermodel.build(hp)
    >>> hp.values
    {'units': 8}
    """

    class_name = "SentenceClassifier"


class SentencePairHyperModel(_ClassifierHyperModel):
    """A search space around a preset of `SentencePairClassifier`.

    It is that of `keras_selfattn.tuning.SentenceHyperModel`, and of
    `interaction`; the arguments are the same.

    Example:

    >>> hypermodel = SentencePairHyperModel(
    ...     "chen2018_snli", vocabulary_size=50, num_classes=3)
    >>> hypermodel.first_values()["interaction"]
    'heuristic'
    """

    class_name = "SentencePairClassifier"


class DecomposableHyperModel(_ClassifierHyperModel):
    """A search space around a preset of `DecomposableClassifier`.

    Its search space holds values around the paper's of `projection_dim`,
    `intra_sentence` and with it `max_distance`, `dropout` and `batch_size`;
    and of `optimizer`, and with it of `learning_rate`. The arguments are
    those of `keras_selfattn.tuning.SentenceHyperModel`.

    References:
        - [Parikh et al., 2016](https://arxiv.org/abs/1606.01933)

    Example:

    >>> hypermodel = DecomposableHyperModel(
    ...     "parikh2016_snli", vocabulary_size=50, num_classes=3)
    >>> hypermodel.first_values()["batch_size"]
    4
    """

    class_name = "DecomposableClassifier"


HYPERMODELS = {
    cls.class_name: cls
    for cls in (
        SentenceHyperModel,
        SentencePairHyperModel,
        DecomposableHyperModel,
    )
}


def as_recipe(preset: str | Recipe) -> Recipe:
    """A recipe as it is, or that of nothing but a preset."""
    return preset if isinstance(preset, Recipe) else Recipe(preset)


def _check_given(values, x, kwargs):
    """KerasTuner's fatal error where an argument is not for these data."""
    if "batch_size" in kwargs:
        raise keras_tuner.errors.FatalValueError(
            "`batch_size` is a value of trials: an argument of the "
            "hypermodel, and none of the search. "
            f"Received: batch_size={kwargs['batch_size']!r}"
        )
    if values.get("class_weight") and not isinstance(x, EncodedDataset):
        raise keras_tuner.errors.FatalValueError(
            "`class_weight` is a value of trials on an EncodedDataset; "
            "with other data it is an argument of the search. "
            f"Received: class_weight={values['class_weight']!r}"
        )


def _count_rows(x, y, sides):
    """The number of rows of what `fit` is given, or `None` if it is open."""
    if isinstance(x, EncodedDataset):
        return len(x)
    if isinstance(x, tf.data.Dataset):
        if are_texts(x):
            return sum(1 for _ in rows_of_dataset(x, sides))
        return _count_batched(x)
    if y is None and not (
        are_texts(x) or hasattr(x, "dtype") or isinstance(x, Mapping)
    ):
        # A PyDataset, a generator, a DataLoader.
        return None
    if y is None:
        raise keras_tuner.errors.FatalValueError(
            "Expected labels, `y`, but with a dataset that has them. "
            f"Received: y=None and x of type {type(x).__name__}"
        )
    # A single value is for the model's `fit` to refuse, too.
    return len(np.atleast_1d(listed(y)))


def _count_batched(dataset):
    # Of soft labels each row has several.
    rows = dataset.reduce(0, lambda count, batch: count + tf.shape(batch[1])[0])
    return int(rows)


def _in_batches_of(size, dataset, rows):
    return prefetch_batches(
        dataset.unbatch()
        .padded_batch(size)
        # Keras would warn of a number of batches that it does not know.
        .apply(tf.data.experimental.assert_cardinality(-(-rows // size)))
    )


@contextlib.contextmanager
def _out_of_memory_fails_alone():
    try:
        yield
    except (MemoryError, RuntimeError, tf.errors.OpError) as error:
        if not memory.is_too_small(error):
            raise
        raise keras_tuner.errors.FailedTrialError("out of memory") from error
