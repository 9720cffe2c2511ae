"""The folder of a training run, which another process can go on with."""

import contextlib
import csv
import io
import os
import pathlib
from collections.abc import Iterator
from collections.abc import Mapping

import keras
import numpy as np

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import write_checksums
from keras_selfattn.files import disk_named
from keras_selfattn.files import remove_folder
from keras_selfattn.files import restore_folder
from keras_selfattn.files import write_text
from keras_selfattn.leftovers import cleared
from keras_selfattn.training.averaging import averaged_weights
from keras_selfattn.training.checkpoint import Checkpoint
from keras_selfattn.training.ending import HISTORY_FILE
from keras_selfattn.training.ending import best_epoch
from keras_selfattn.training.ending import finished_history
from keras_selfattn.training.ending import is_over
from keras_selfattn.training.kept_texts import TEXTS_FILE
from keras_selfattn.training.settings import DATA_FOLDER
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.settings import check_new
from keras_selfattn.training.settings import check_settings
from keras_selfattn.training.settings import differences
from keras_selfattn.training.settings import write_settings
from keras_selfattn.training.values import DEFAULTS
from keras_selfattn.training.values import VALUES
from keras_selfattn.training.variables import fixed_checksum
from keras_selfattn.zoo.folders import MODEL_FOLDER


class Run:
    """The folder of a training run.

    Args:
        folder: Path of the folder.
        settings: Dictionary of all that the run depends on besides the data.
        resume: Boolean, whether to go on with the run that is there.
        verify: Boolean, whether the files of a run that goes on must be those
            that were written.

    Attributes:
        history: List of one dictionary of logs an epoch.
        batches: Integer, how many batches of the epoch after those are behind.
        is_finished: Boolean, whether there is nothing left to do, nor a
            checkpoint to go on from.

    Raises:
        ValueError: if the folder exists and `resume` is not given, or if
            there is nothing to resume, or a run of other settings, or one
            that has finished without keeping its checkpoint and is to go on.
    """

    def __init__(
        self,
        folder: str | os.PathLike,
        settings: dict,
        resume: bool = False,
        verify: bool = True,
    ) -> None:
        self.folder = pathlib.Path(folder)
        self.history, self.batches = [], 0
        self.settings = settings
        self.is_finished = False
        self._training = settings.get("training", {})
        self._checksums = {}
        self._checkpoint = Checkpoint(self.folder)
        path = self.folder / SETTINGS_FILE
        if resume:
            changeable = [v.name for v in VALUES if v.is_changeable]
            saved = check_settings(path, settings, "run", changeable)
            # A killed process may have left the one from before alone.
            restore_folder(self.folder / MODEL_FOLDER)
            if verify:
                check_checksums(self.folder)
            self._checkpoint.check(verify)
            if self._checkpoint.exists():
                self.history, self.batches = self._checkpoint.progress()
            elif finished := finished_history(self.folder):
                self.history = finished
                self._check_over(saved["training"])
                self.is_finished = True
        else:
            check_new(self.folder, "run", DATA_FOLDER)

    def start(self) -> None:
        """Make the folder; called once all inputs are known to be good."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # They are of a run that has ended.
        (self.folder / CHECKSUMS_FILE).unlink(missing_ok=True)
        write_settings(self.folder / SETTINGS_FILE, self.settings)

    def is_over(self) -> bool:
        """Whether the run has had its epochs, or lost its patience."""
        return is_over(self.history, self._training)

    def drop_checkpoint(self) -> None:
        """Remove what a finished run would need to go on with more epochs."""
        self._checkpoint.remove()
        # Still there where a callback has ended the run.
        remove_folder(self.folder / DATA_FOLDER)

    def _check_over(self, saved):
        asked, saved = (
            {**DEFAULTS, **each} for each in (self._training, saved)
        )
        # A callback may have ended it, whatever its values say.
        if not self.is_over() and differences(asked, saved):
            raise ValueError(
                f"The run in {self.folder} is finished, and its checkpoint is "
                "gone: a run that is to go on with more epochs is started "
                "with keep_checkpoint=True (--keep-checkpoint)"
            )

    @contextlib.contextmanager
    def data_folder(self) -> Iterator[pathlib.Path]:
        """A folder for the encoded texts, which goes when the run has ended.

        A run that has begun and may go on keeps what it has encoded.

        Yields:
            The path of the folder.
        """
        data = self.folder / DATA_FOLDER
        with disk_named(self.folder), cleared(self._leave, data):
            # Of a process that was killed before the run began, with whatever
            # settings it had.
            if not self._has_begun():
                remove_folder(data)
            data.mkdir(parents=True, exist_ok=True)
            yield data

    def _leave(self, data):
        is_kept = self._has_begun() and (data / TEXTS_FILE).exists()
        if self.is_over() or not is_kept:
            remove_folder(data)

    def _has_begun(self):
        return (self.folder / SETTINGS_FILE).exists()

    def restore(self, model: keras.Model, checksums: Mapping[str, int]) -> None:
        """Give a compiled model the state of the last checkpoint.

        Args:
            model: The model.
            checksums: Dictionary of integers by name, of what a resumed run
                must have again.

        Raises:
            ValueError: if there is a state of another backend, or of other
                texts or fixed word vectors.
        """
        self._checksums = {
            "fixed_weights": fixed_checksum(model),
            **checksums,
        }
        if self.history or self.batches:
            self._checkpoint.restore(model, self._checksums)

    def restore_epoch(self, model: keras.Model) -> None:
        """The same of what the metrics have seen of an epoch, as it goes on."""
        self._checkpoint.restore_epoch(model)

    def check_finite(self, loss: float, place: str) -> None:
        """`FloatingPointError` where a loss is not finite.

        Args:
            loss: The loss.
            place: String, where it is met.
        """
        if np.isfinite(loss):
            return
        kept = "no epoch was good before"
        if self.batches:
            kept = f"batch {self.batches} of epoch {len(self.history) + 1}"
        elif self.history:
            kept = f"epoch {len(self.history)}"
        if self.history or self.batches:
            kept = f"what {kept} has left is in {self._checkpoint.folder}"
        raise FloatingPointError(f"The loss is {float(loss)} {place}; {kept}")

    def keep(self, model: keras.Model, logs: Mapping) -> None:
        """Write what is to be kept at the end of an epoch."""
        logs = {name: float(value) for name, value in logs.items()}
        epoch = len(self.history) + 1
        self.check_finite(logs["loss"], f"in epoch {epoch}")
        # The last step of an epoch may break what the loss is not taken of.
        if "val_loss" in logs:
            self.check_finite(logs["val_loss"], f"on dev after epoch {epoch}")
        self.history.append(logs)
        if best_epoch(self.history, self._training) == len(self.history):
            monitor = self._training.get("monitor", "accuracy")
            model.training_record = {
                **model.training_record,
                "epoch": len(self.history),
                "dev_accuracy": logs["val_accuracy"],
                f"dev_{monitor}": logs[f"val_{monitor}"],
            }
            with averaged_weights(model):
                model.save_to_preset(self.folder / MODEL_FOLDER)
        epochs = enumerate(self.history, start=1)
        write_history(self.folder, [{"epoch": n, **logs} for n, logs in epochs])
        # Last, so that a run stopped in between repeats what comes before.
        self.batches = 0
        self._checkpoint.write(model, self._checksums, self.history)

    def keep_batches(
        self, model: keras.Model, batches: int, metrics: list | None = None
    ) -> None:
        """Write a checkpoint within an epoch.

        Args:
            model: The model.
            batches: Integer, how many batches of the epoch are behind.
            metrics: List of arrays, what the metrics of all workers have seen
                of them; by default what the model's have.
        """
        self.batches = batches
        self._checkpoint.write(
            model, self._checksums, self.history, batches, metrics
        )


def write_run_checksums(folder):
    """Write the checksums of a run that has ended; its folders have theirs."""
    write_checksums(folder, (SETTINGS_FILE, HISTORY_FILE))


def write_history(folder: pathlib.Path, history: list[dict]) -> None:
    """Write the logs of epochs, a list of dictionaries, to a run's folder."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(history[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(history)
    write_text(folder / HISTORY_FILE, text.getvalue())
