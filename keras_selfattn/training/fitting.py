"""The fitting of a model, by one process or by several."""

import json
import sys
import zlib
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.models.ngrams import adapt_ngrams
from keras_selfattn.training.averaging import ShowAverages
from keras_selfattn.training.averaging import set_reach
from keras_selfattn.training.balancing import balanced_weights
from keras_selfattn.training.epochs import Clock
from keras_selfattn.training.epochs import KeepRun
from keras_selfattn.training.epochs import SetEpoch
from keras_selfattn.training.epochs import learning_rate_decay
from keras_selfattn.training.preparation import PreparedTexts
from keras_selfattn.training.run import Run
from keras_selfattn.training.teaching import one_hot
from keras_selfattn.training.values import batch_size_for
from keras_selfattn.training.variables import fixed_checksum


def fit(
    model: keras.Model,
    texts: PreparedTexts,
    run: Run,
    training: Mapping,
    seed: int = 0,
    callbacks: Iterable = (),
    verbose: str | int = "auto",
    workers: Any = None,
    clock: Clock | None = None,
    targets: np.ndarray | None = None,
) -> None:
    """Fit a compiled classifier, and keep its best on dev in a run's folder.

    Args:
        model: A compiled `keras_selfattn.models.Classifier`.
        texts: The `PreparedTexts`.
        run: The `Run` that keeps what is to be kept.
        training: Dictionary of training values.
        seed: Integer, the seed of the order of the rows.
        callbacks: Further Keras callbacks. At the end of an epoch they find
            the averages of the weights, where a recipe asks for them.
        verbose: As in `keras.Model.fit`; `"auto"` is a bar in a terminal and
            a line an epoch elsewhere.
        workers: The `Workers` that fit it together, or `None`.
        clock: The `Clock` of the checkpoints within an epoch, or `None`.
        targets: Float array of shape `(rows, num_classes)`, which the model
            is compiled to learn in the place of the labels, or `None`; for
            one process, and an `EncodedDataset`.

    Raises:
        ValueError: if `targets` are given with several workers, or with a
            `ShardedDataset`; or as of `Run.restore`.
        FloatingPointError: if a loss is not finite.
    """
    clock = clock or Clock(None)
    train_data, dev_data = texts.train_data, texts.dev_data
    counts = train_data.class_counts(model.output.shape[-1])
    weights = balanced_weights(counts, training)
    if targets is not None:
        if workers is not None or not isinstance(train_data, EncodedDataset):
            raise ValueError(
                "`targets` are for one process, and an EncodedDataset. "
                f"Received: a {type(train_data).__name__} and "
                f"workers={workers!r}"
            )
        train_data = _with_targets(train_data, targets, weights)
        dev_data = dev_data.with_labels(one_hot(dev_data))
        weights = None
    tells = workers is None or workers.is_chief
    verbose = shown(verbose) if tells else 0
    size = batch_size_for(training, len(train_data))
    set_reach(model, training, len(train_data))
    share = workers and workers.share
    if verbose and size != training["batch_size"]:
        print(f"Batches of {size} texts, as there are {len(train_data):,}")
    dev_batches = dev_data.batches(size, share=share)
    checksums = texts.checksums()
    if workers is not None:
        from keras_selfattn.training import together

        steps = together.Steps(model, workers, size, weights)
    model.stop_training = False
    while not model.stop_training:
        _restore(model, run, checksums, workers)
        run.start()
        if run.is_over():
            return
        # The rest of an epoch ends as a run does, with the averages in place
        # of the weights; what comes then goes on from its checkpoint.
        first, skip = len(run.history), run.batches
        if not first and not skip:
            adapt_ngrams(model, texts.train_data, verbose)
        end = first + 1 if skip else training["epochs"]
        batches = train_data.batches(
            size, shuffle=True, seed=seed, share=share, skip=skip
        )
        keep_run = KeepRun(run, skip, clock if workers is None else Clock(None))
        # What the figures are of, and the model that is kept.
        averages = ShowAverages()
        all_callbacks = keras.callbacks.CallbackList(
            [
                SetEpoch(batches.plan),
                keep_run,
                *learning_rate_decay(training),
                averages,
                *callbacks,
                averages.end,
            ],
            add_history=True,
            add_progbar=verbose != 0,
            model=model,
            verbose=verbose,
            # The run's, where the rest of an epoch is fitted by itself too.
            epochs=training["epochs"],
            steps=len(batches),
        )
        if workers is None:
            model.fit(
                batches,
                validation_data=dev_batches,
                initial_epoch=first,
                epochs=end,
                class_weight=weights,
                callbacks=all_callbacks,
                # The plan of the batches shuffles.
                shuffle=False,
            )
        else:
            together.fit_together(
                steps,
                batches,
                dev_batches,
                range(first, end),
                all_callbacks,
                (clock, keep_run.keep_batches),
            )
        if not skip:
            return


def _with_targets(data, targets, class_weight):
    """Rows with targets, weighed by the labels that they had."""
    taught = data.with_labels(targets)
    if class_weight is not None:
        # Keras would go by the class that the teachers prefer.
        weights = [class_weight[label] for label in data.labels]
        taught.weights = np.array(weights, "float32")
    return taught


def shown(verbose: str | int) -> str | int:
    """What `"auto"` is: a bar in a terminal, a line an epoch elsewhere."""
    if verbose == "auto":
        return 1 if sys.stdout.isatty() else 2
    return verbose


def _restore(model, run, checksums, workers):
    """Give a model the state that the run goes on from, in all workers."""
    run.restore(model, checksums)
    if workers is None:
        return
    from keras_selfattn.training import together

    workers.check_same(
        _checksum(model, run.settings, checksums), "texts and settings"
    )
    together.take_state_of_chief(model, run, workers)


def _checksum(model, settings, checksums):
    """A number that differs for a run of other texts or settings."""
    # The files of word vectors may have other names elsewhere.
    told = {**settings, "vectors": None, **checksums}
    told["fixed_weights"] = fixed_checksum(model)
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())
