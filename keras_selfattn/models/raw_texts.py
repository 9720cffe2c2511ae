"""Models that are trained and asked with raw texts, or with ids as ever."""

import contextlib
import math
import tempfile
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_selfattn.backends import compiled
from keras_selfattn.models.first_step import are_several_devices
from keras_selfattn.models.first_step import make_variables
from keras_selfattn.models.labeled_texts import check_preprocessor
from keras_selfattn.models.labeled_texts import encode
from keras_selfattn.models.labeled_texts import numbered
from keras_selfattn.models.labeled_texts import split
from keras_selfattn.models.labeled_texts import targets_of
from keras_selfattn.models.labeled_texts import weighed
from keras_selfattn.models.labeled_texts import weights_of
from keras_selfattn.models.ngrams import adapt_ngrams
from keras_selfattn.streams import bar_shown
from keras_selfattn.text.columns import are_symbolic
from keras_selfattn.text.columns import are_texts
from keras_selfattn.text.columns import checked_generator
from keras_selfattn.text.columns import rows_of
from keras_selfattn.text.columns import unpacked
from keras_selfattn.validation import integer

_BATCH_SIZE = 32
# Behind it stands `keras.Model`, in the classes that it is a base of.
_Model: Any = keras.Model if TYPE_CHECKING else object


class ReadsTexts(_Model):
    """What makes a `keras.Model` of ids one of raw texts too.

    Texts come as a list of strings, a NumPy array, a column of pandas, polars,
    Arrow or Hugging Face, a table or a list of its rows with the column
    `"text"`, or a `tf.data.Dataset` of strings, batched or not. Pairs come as a
    list of pairs, an array or data frame of two columns, a tuple of two
    columns, a dictionary of two with the keys `"premise"` and `"hypothesis"`,
    or a table with these columns. A `tf.data.Dataset` may hold `(texts,
    labels)` or `(texts, labels, weights)`.

    A label is one of the model's `labels`, by its value or its text; where
    none of those is a number, it may also be the number of a class, as an
    integer or a float. `fit` collects them where the model has none.

    The texts become ids on disk, so that no more than some batches of a
    dataset are in memory, and batches hold texts of similar length.
    """

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: str | int = "auto",
        callbacks: Sequence | None = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Mapping | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> keras.callbacks.History:
        """Train the model, on raw texts or on ids.

        Args:
            x: Raw texts, with or without labels (see the class), or what
                `keras.Model.fit` takes.
            y: The labels: strings, numbers, or an array of one row a text of
                whatever else the loss takes.
            batch_size: Integer. Defaults to that of a dataset in batches, or
                else to 32.
            epochs: As in `keras.Model.fit`.
            verbose: As there.
            callbacks: As there.
            validation_split: As there, the share of the last rows.
            validation_data: `(texts, labels)` or `(texts, labels, weights)`,
                a dataset of them, or as in `keras.Model.fit`.
            shuffle: As there, and of a dataset of texts too, which is read
                once; `keras.utils.set_random_seed` repeats the order.
            class_weight: Dictionary of the weight of each class, by its label
                or number. With ids a number is that of a class, as in `y`.
            sample_weight: Array of the weight of each row.
            initial_epoch: As in `keras.Model.fit`.
            steps_per_epoch: As there; texts are gone through again and again.
            validation_steps: As there.
            validation_batch_size: As there.
            validation_freq: As there.

        Returns:
            A `keras.callbacks.History`.

        Raises:
            ValueError: if the texts or labels are not as expected, if the
                model has no `preprocessor`, or if ids are not those of its
                vocabulary.
        """
        more = {
            "epochs": epochs,
            "verbose": verbose,
            "callbacks": callbacks,
            "initial_epoch": initial_epoch,
            "steps_per_epoch": steps_per_epoch,
            "validation_steps": validation_steps,
            "validation_freq": validation_freq,
        }
        self._check_one_process("fit")
        _check_class_weight(class_weight)
        with _folder() as folder:
            if not are_texts(x):
                self._check_ids(x)
                make_variables(self, x)
                return super().fit(
                    checked_generator(x),
                    y,
                    batch_size=batch_size,
                    validation_split=validation_split,
                    validation_data=self._validation(
                        validation_data,
                        validation_batch_size,
                        folder,
                        batch_size,
                    ),
                    shuffle=shuffle,
                    class_weight=numbered(self, class_weight),
                    sample_weight=sample_weight,
                    validation_batch_size=validation_batch_size,
                    **more,
                )
            self._check_compiled("fit")
            _texts_of_a_batch(batch_size)
            _texts_of_a_batch(validation_batch_size)
            with self._labels_kept():
                train, own = encode(
                    self, folder, x, y, sample_weight, collect=True
                )
                batch_size = _texts_of_a_batch(batch_size, own)
                if validation_split and validation_data is None:
                    train, validation = split(train, validation_split)
                    validation = validation.batches(
                        _texts_of_a_batch(validation_batch_size, batch_size)
                    )
                else:
                    validation = self._validation(
                        validation_data,
                        validation_batch_size,
                        folder,
                        batch_size,
                    )
                if class_weight is not None:
                    train.weights = weighed(
                        self, train.labels, train.weights, class_weight
                    )
            adapt_ngrams(self, train, verbose)
            batches = train.batches(
                batch_size,
                shuffle=bool(shuffle),
                # `keras.utils.set_random_seed` decides it.
                seed=np.random.randint(2**31),
            )
            make_variables(self, batches)
            if are_several_devices(self):
                # Keras looks at the first batch of another pass before, of
                # which all devices must have as many rows.
                batches.plan.epoch = -1
            if steps_per_epoch is not None:
                # Keras ends a training on a dataset that ends.
                batches = batches.repeat()
            return super().fit(
                batches,
                validation_data=validation,
                # Of ids to validate on.
                validation_batch_size=validation_batch_size or batch_size,
                shuffle=False,
                **more,
            )

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Sequence | None = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The loss and the metrics on raw texts or on ids.

        Args:
            x: As in `fit`.
            y: As in `fit`.
            batch_size: As in `fit`.
            verbose: As in `keras.Model.evaluate`.
            sample_weight: Array of the weight of each row.
            steps: As in `keras.Model.evaluate`.
            callbacks: As there.
            return_dict: As there.
            **kwargs: As there.

        Returns:
            As `keras.Model.evaluate`.

        Raises:
            ValueError: as `fit`.
        """
        more = {
            "verbose": verbose,
            "steps": steps,
            "callbacks": callbacks,
            "return_dict": return_dict,
            **kwargs,
        }
        if not are_texts(x):
            self._check_ids(x)
            return super().evaluate(
                checked_generator(x),
                y,
                batch_size=batch_size,
                sample_weight=sample_weight,
                **more,
            )
        self._check_compiled("evaluate")
        few = self._one_batch(x, batch_size) if steps is None else []
        if few:
            ids, targets, weights, _ = self._for_step(
                "evaluate", few, y, sample_weight
            )
            return super().evaluate(
                compiled.wider(ids),
                targets,
                batch_size=batch_size,
                sample_weight=weights,
                **more,
            )
        with _folder() as folder:
            corpus, own = encode(self, folder, x, y, sample_weight)
            return super().evaluate(
                corpus.batches(_texts_of_a_batch(batch_size, own)), **more
            )

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        steps: int | None = None,
        callbacks: Sequence | None = None,
    ) -> Any:
        """The model's outputs for raw texts or for ids.

        A call takes some hundredths of a second before the first text, as
        that of any Keras model does; `predict_on_batch` takes none of it.

        Args:
            x: Raw texts, as in `fit`, or what `keras.Model.predict` takes.
            batch_size: As in `fit`.
            verbose: As in `keras.Model.predict`.
            steps: As there.
            callbacks: As there.

        Returns:
            A float32 array `(rows, num_classes)`, in the order of the texts.

        Raises:
            ValueError: as `fit`.
        """
        more = {"verbose": verbose, "steps": steps, "callbacks": callbacks}
        if not are_texts(x):
            self._check_ids(x)
            x = checked_generator(x)
            return super().predict(x, batch_size=batch_size, **more)
        # Which rows the first batches hold is the caller's to say.
        by_length = steps is None
        few = self._one_batch(x, batch_size) if by_length else []
        if few:
            ids = compiled.wider(self.preprocess(few))
            return super().predict(ids, batch_size=batch_size, **more)
        with self._sorted_batches(x, batch_size, by_length) as batches:
            outputs = super().predict(batches, **more)
        back = np.argsort(batches.plan.rows) if by_length else slice(None)
        return keras.tree.map_structure(lambda rows: rows[back], outputs)

    def predict_on_batch(self, x: Any) -> Any:
        """The model's outputs for one batch of raw texts or of ids.

        Args:
            x: Raw texts, as in `fit` but for datasets, or what
                `keras.Model.predict_on_batch` takes.

        Returns:
            A float32 array `(rows, num_classes)`.

        Raises:
            ValueError: as `fit`.
        """
        if not are_texts(x):
            self._check_ids(x)
            return super().predict_on_batch(x)
        ids = self._batch_of(x)
        rows = len(next(iter(ids.values())))
        # Each device of a strategy answers all of them.
        return super().predict_on_batch(ids)[:rows]

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Mapping | None = None,
        return_dict: bool = False,
    ) -> Any:
        """One step of training on a batch of raw texts or of ids.

        Args:
            x: Raw texts, as in `fit` but for datasets, or what
                `keras.Model.train_on_batch` takes.
            y: As in `fit`.
            sample_weight: Array of the weight of each row.
            class_weight: As in `fit`.
            return_dict: As in `keras.Model.train_on_batch`.

        Returns:
            As `keras.Model.train_on_batch`.

        Raises:
            ValueError: as `fit`.
        """
        x, y, sample_weight, class_weight = self._for_step(
            "train_on_batch", x, y, sample_weight, class_weight
        )
        return super().train_on_batch(
            x,
            y,
            sample_weight=sample_weight,
            class_weight=class_weight,
            return_dict=return_dict,
        )

    def test_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """The loss and the metrics on a batch of raw texts or of ids.

        Args:
            x: Raw texts, as in `fit` but for datasets, or what
                `keras.Model.test_on_batch` takes.
            y: As in `fit`.
            sample_weight: Array of the weight of each row.
            return_dict: As in `keras.Model.test_on_batch`.

        Returns:
            As `keras.Model.test_on_batch`.

        Raises:
            ValueError: as `fit`.
        """
        x, y, sample_weight, _ = self._for_step(
            "test_on_batch", x, y, sample_weight
        )
        return super().test_on_batch(
            x, y, sample_weight=sample_weight, return_dict=return_dict
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs as tensors, for raw texts, but for datasets, or ids."""
        if not args and "inputs" in kwargs:
            args = (kwargs.pop("inputs"),)
        if args and are_texts(args[0]):
            if are_symbolic(args[0]):
                raise ValueError(
                    f"Within a graph, {self.name!r} takes what its "
                    "`preprocessor` makes of texts: "
                    "`model(model.preprocessor(texts))`. Received: the texts"
                )
            args = self._batch_of(args[0]), *args[1:]
        elif args:
            # Tensors may be those of a graph.
            self._check_ids(args[0], np.ndarray)
        return super().__call__(*args, **kwargs)

    def encode(
        self,
        texts: Any,
        batch_size: int | None = None,
        normalize: bool = False,
        verbose: str | int = "auto",
    ) -> Any:
        """The sentence embeddings of texts.

        Args:
            texts: Raw texts, as in `fit`.
            batch_size: As in `fit`.
            normalize: Boolean, whether each embedding is divided by its
                length, so that dot products are cosines.
            verbose: As in `keras.Model.predict`: 0 for no progress bar. One
                batch has none.

        Returns:
            A float32 array `(rows, numbers)`, the rows of the embedding of
            `embedding_model` one after the other. For a siamese model of
            pairs a tuple of two, of premises and hypotheses; for decomposable
            attention one of the pairs.

        Raises:
            ValueError: as `fit`.

        Example:

        >>> from keras_selfattn.models import SentenceClassifier
        >>> from keras_selfattn.text import TextPreprocessor
        >>> model = SentenceClassifier(
        ...     preprocessor=TextPreprocessor(["a", "dog", "cat"]),
        ...     labels=["no", "yes"], embedding_dim=4, units=3,
        ...     pooling="max", hidden_units=6)
        >>> model.encode(["a dog", "a cat"], verbose=0).shape
        (2, 6)
        """
        embed = compiled.embeddings(self)
        few = self._one_batch(texts, batch_size)
        if few:
            embeddings = embed(self.preprocess(few))
        else:
            embeddings = self._embedded(embed, texts, batch_size, verbose)
        embeddings = keras.tree.map_structure(
            lambda rows: _flat(rows, normalize), embeddings
        )
        is_pair = isinstance(embeddings, list)
        return tuple(embeddings) if is_pair else embeddings

    def preprocess(self, texts: Any) -> dict:
        """The inputs of the model for raw texts.

        Args:
            texts: Texts as `fit` takes them, but for datasets.

        Returns:
            The dictionary of integer tensors that the model takes; of NumPy
            arrays on other backends than TensorFlow.

        Raises:
            ValueError: if the model has no preprocessor, or if `texts` is
                one string, or holds anything but strings, or pairs of them.
        """
        check_preprocessor(self)
        rows = list(rows_of(texts, self.sides))
        is_single = len(self.sides) == 1
        columns = [rows] if is_single else list(zip(*rows, strict=True))
        columns = columns or [[]] * len(self.sides)
        on_tensorflow = keras.backend.backend() == "tensorflow"
        return {
            side + name: ids if on_tensorflow else ids.numpy()
            for side, column in zip(self.sides, columns, strict=True)
            for name, ids in self.preprocessor(list(column)).items()
            if side + name in self.input
        }

    def _batch_of(self, texts):
        """The ids of at least one text, for one step."""
        ids = self.preprocess(texts)
        if not len(next(iter(ids.values()))):
            raise ValueError("Expected at least one text. Received: none")
        return compiled.padded(ids)

    def _for_step(self, method, x, y, weights, class_weight=None):
        """Ids, targets and weights of rows and classes, as Keras takes them.

        The weights of classes are among those of the rows where `x` is texts.
        """
        _check_class_weight(class_weight)
        if not are_texts(x):
            self._check_ids(x)
            return x, y, weights, numbered(self, class_weight)
        self._check_compiled(method)
        ids = self._batch_of(x)
        rows = len(next(iter(ids.values())))
        targets = targets_of(self, y, rows)
        weights = weights_of(weights, rows)
        if class_weight is not None:
            weights = weighed(self, targets, weights, class_weight)
        return ids, targets, weights, None

    def _embedded(self, embed, texts, batch_size, verbose):
        with self._sorted_batches(texts, batch_size) as batches:
            bar = keras.utils.Progbar(len(batches), verbose=bar_shown(verbose))
            found = []
            for ids, _ in batches:
                found.append(
                    embed({k: each.numpy() for k, each in ids.items()})
                )
                bar.add(1)
        back = np.argsort(batches.plan.rows)
        return keras.tree.map_structure(
            lambda *parts: np.concatenate(parts)[back], *found
        )

    def _one_batch(self, texts, batch_size):
        """The rows, where they are no more than a batch, or none of them.

        Files of ids and batches of similar length would take longer than the
        answers.
        """
        check_preprocessor(self)
        if hasattr(texts, "element_spec"):
            return []
        most = _texts_of_a_batch(batch_size)
        rows = list(islice(rows_of(texts, self.sides), most + 1))
        return rows if len(rows) <= most else []

    @contextlib.contextmanager
    def _sorted_batches(self, texts, batch_size, by_length=True):
        with _folder() as folder:
            corpus, own = encode(self, folder, texts, labeled=False)
            yield corpus.batches(
                _texts_of_a_batch(batch_size, own), by_length=by_length
            )

    @contextlib.contextmanager
    def _labels_kept(self):
        """Leaves the model no labels of texts that it can't learn from."""
        labels = self.labels
        try:
            yield
        except BaseException:
            self.labels = labels
            raise

    def _validation(self, data, batch_size, folder, otherwise):
        given = tuple(data) if isinstance(data, list) else data
        texts, labels, weights = unpacked(given)
        if data is None or not are_texts(texts):
            self._check_ids(texts)
            return checked_generator(data)
        corpus, own = encode(self, folder, texts, labels, weights)
        return corpus.batches(_texts_of_a_batch(batch_size, own, otherwise))

    def _check_one_process(self, method):
        """`ValueError` where Keras would fail, having trained a while."""
        if keras.backend.backend() != "tensorflow":
            return
        resolver = getattr(self.distribute_strategy, "cluster_resolver", None)
        tasks = resolver.cluster_spec().as_dict() if resolver else {}
        if sum(map(len, tasks.values())) > 1:
            raise ValueError(
                f"`{method}` is for one process. Several workers train by "
                "keras_selfattn.training.train(..., strategy=strategy), or "
                "`keras-selfattn train --distribute`"
            )

    def _check_compiled(self, method):
        if not self.compiled:
            raise ValueError(
                f"The model {self.name!r} takes a `compile` before `{method}`"
            )

    def _check_ids(self, data, of=object):
        """`ValueError` where arrays hold ids that there are no vectors for.

        What is no array, or of another kind, is left to Keras.
        """
        if not isinstance(data, dict):
            # In the order in which Keras takes them.
            names = sorted(self.input)
            given = data if isinstance(data, (list, tuple)) else [data]
            same = len(given) == len(names)
            data = dict(zip(names, given, strict=True)) if same else {}
        for name, ids in data.items():
            kind = "character_" if name.endswith("char_ids") else ""
            size = self._arguments.get(f"{kind}vocabulary_size")
            is_array = hasattr(ids, "dtype") and hasattr(ids, "shape")
            if not (is_array and isinstance(ids, of) and size):
                continue
            if not math.prod(ids.shape):
                continue
            ids = ops.convert_to_numpy(ids)
            least, most = ids.min(), ids.max()
            # Of NaN neither holds.
            if not (least >= 0 and most < size):
                raise ValueError(
                    f"`{name}` must be ids from 0 to {size - 1}, those of a "
                    f"vocabulary of {size}. Received: "
                    f"{most if least >= 0 else least}"
                )


def _folder():
    # Windows keeps files that are mapped to the memory.
    return tempfile.TemporaryDirectory(
        prefix="keras_selfattn_", ignore_cleanup_errors=True
    )


def _texts_of_a_batch(*sizes):
    """The first size that there is, or `ValueError`."""
    given = next((size for size in sizes if size is not None), _BATCH_SIZE)
    if isinstance(given, np.integer):
        given = given.item()
    return integer(given, "batch_size")


def _check_class_weight(given):
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(
            "`class_weight` must be a dictionary of the weight of each class, "
            f"or None. Received: class_weight={given!r}"
        )


def _flat(rows, normalize):
    rows = np.asarray(rows, "float32").reshape(len(rows), -1)
    if normalize:
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.maximum(length, keras.config.epsilon())
    return rows
