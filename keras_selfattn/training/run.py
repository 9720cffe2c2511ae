"""The folder of a training run, which another process can go on with."""

import contextlib
import csv
import io
import json
import os
import pathlib
import zlib
from collections.abc import Iterator
from collections.abc import Mapping

import keras
import numpy as np
from keras import ops

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import write_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.files import disk_named
from keras_selfattn.files import read_json
from keras_selfattn.files import remove_folder
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import restore_folder
from keras_selfattn.files import write_text
from keras_selfattn.leftovers import cleared
from keras_selfattn.training.averaging import averaged_weights
from keras_selfattn.training.ending import CHECKPOINT_FOLDER
from keras_selfattn.training.ending import HISTORY_FILE
from keras_selfattn.training.ending import best_epoch
from keras_selfattn.training.ending import finished_history
from keras_selfattn.training.ending import is_over
from keras_selfattn.training.settings import DATA_FOLDER
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.settings import check_new
from keras_selfattn.training.settings import check_settings
from keras_selfattn.training.settings import write_settings
from keras_selfattn.training.values import VALUES
from keras_selfattn.zoo.folders import MODEL_FOLDER

_STATE_FILE = "state.json"
_VARIABLES_FILE = "variables.npz"
# What a resumed run must have again, by the name of its checksum. That of the
# lengths and labels is for checkpoints from before there was one of the texts.
_CHECKED = {
    "data": "texts",
    "texts": "texts",
    "fixed_weights": "word vectors",
}


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
        self.history = []
        self.settings = settings
        self.is_finished = False
        self._training = settings.get("training", {})
        self._checksums = {}
        path = self.folder / SETTINGS_FILE
        if resume:
            changeable = [v.name for v in VALUES if v.is_changeable]
            check_settings(path, settings, "run", changeable)
            restore_folder(self.folder / CHECKPOINT_FOLDER)
            if verify:
                check_checksums(self.folder)
                check_checksums(self.folder / CHECKPOINT_FOLDER)
            state = self.folder / CHECKPOINT_FOLDER / _STATE_FILE
            if state.exists():
                self.history = _read_state(state)["history"]
            elif finished := finished_history(self.folder):
                self.history = finished
                self._check_over()
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
        remove_folder(self.folder / CHECKPOINT_FOLDER)

    def _check_over(self):
        if not self.is_over():
            raise ValueError(
                f"The run in {self.folder} is finished, and its checkpoint is "
                "gone: a run that is to go on with more epochs is started "
                "with keep_checkpoint=True (--keep-checkpoint)"
            )

    @contextlib.contextmanager
    def data_folder(self) -> Iterator[pathlib.Path]:
        """A folder for the encoded texts, which goes when the run ends.

        What a killed run has left is never used again.

        Yields:
            The path of the folder.
        """
        data = self.folder / DATA_FOLDER
        with disk_named(self.folder), cleared(remove_folder, data):
            remove_folder(data)
            data.mkdir(parents=True)
            yield data

    def restore(self, model: keras.Model, checksums: Mapping[str, int]) -> None:
        """Give a compiled model the state after the last finished epoch.

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
        if not self.history:
            return
        model.optimizer.build(model.trainable_variables)
        checkpoint = self.folder / CHECKPOINT_FOLDER
        state = _read_state(checkpoint / _STATE_FILE)
        # Runs were TensorFlow's alone at first.
        backend = state.get("backend", "tensorflow")
        if backend != keras.backend.backend():
            raise ValueError(
                "A run is resumed on the backend it was started on, as no "
                "other draws the same random numbers: set "
                f"KERAS_BACKEND={backend}. "
                f"Received: {keras.backend.backend()}"
            )
        for name, what in _CHECKED.items():
            given = self._checksums[name]
            # Checkpoints had fewer of them at first.
            if state.get(name, given) != given:
                raise ValueError(
                    f"A run is resumed with the {what} it was started with. "
                    f"Received others than those of {checkpoint}"
                )
        path = checkpoint / _VARIABLES_FILE
        try:
            with open(path, "rb") as file, np.load(file) as arrays:
                pairs = zip(
                    changing_variables(model), arrays.files, strict=True
                )
                for variable, name in pairs:
                    variable.assign(arrays[name])
        # NumPy has all kinds of errors for a damaged file.
        except Exception as error:
            raise ValueError(
                f"{path} does not hold the state of the run: {one_line(error)}"
            ) from error

    def check_finite(self, loss: float, place: str) -> None:
        """`FloatingPointError` where a loss is not finite.

        Args:
            loss: The loss.
            place: String, where it is met.
        """
        if np.isfinite(loss):
            return
        kept = "no epoch was good before"
        if self.history:
            kept = (
                f"what epoch {len(self.history)} has left is in "
                f"{self.folder / CHECKPOINT_FOLDER}"
            )
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
        # Last, so that a run stopped in between repeats the whole epoch.
        self._write_checkpoint(model)

    def _write_checkpoint(self, model):
        state = {
            "history": self.history,
            "backend": keras.backend.backend(),
            **self._checksums,
        }
        with replaced_folder(self.folder / CHECKPOINT_FOLDER) as beside:
            arrays = map(ops.convert_to_numpy, changing_variables(model))
            np.savez(beside / _VARIABLES_FILE, *arrays)
            write_text(beside / _STATE_FILE, json.dumps(state))
            write_checksums(beside)


def _read_state(path):
    state = read_json(path)
    if not isinstance(state, dict) or not isinstance(
        state.get("history"), list
    ):
        raise ValueError(f"{path} is not the state of a run")
    return state


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


def changing_variables(model):
    """All variables that training changes, in a fixed order.

    Those of the optimizer and the states of the dropouts are among them;
    fixed word vectors, often most of a model, are not.
    """
    fixed = {id(variable) for variable in _fixed(model)}
    variables = [
        variable
        for layer in model.layers
        for variable in layer.variables
        if id(variable) not in fixed
    ]
    return variables + model.optimizer.variables


def random_states(model):
    """The states that dropouts draw from, of those variables."""
    weights = {id(weight) for weight in model.weights}
    return [
        variable
        for layer in model.layers
        for variable in layer.variables
        if id(variable) not in weights and tuple(variable.shape) == (2,)
    ]


def fixed_checksum(model):
    """A number that differs for other weights that training leaves alone."""
    checksum = 0
    for variable in _fixed(model):
        array = np.ascontiguousarray(ops.convert_to_numpy(variable))
        checksum = zlib.crc32(array, checksum)
    return checksum


def _fixed(model):
    return [
        variable
        for layer in model.layers
        if not layer.trainable
        for variable in layer.weights
    ]
