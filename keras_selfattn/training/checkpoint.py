"""What another process needs to go on with a run, in the run's folder.

One that is written within an epoch has, besides, what the metrics have seen of
it so far.
"""

import json

import keras
import numpy as np

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import write_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.files import read_json
from keras_selfattn.files import remove_folder
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import restore_folder
from keras_selfattn.files import write_text
from keras_selfattn.training.ending import CHECKPOINT_FOLDER
from keras_selfattn.training.ending import STATE_FILE
from keras_selfattn.training.variables import arrays_of
from keras_selfattn.training.variables import assign
from keras_selfattn.training.variables import build_metrics
from keras_selfattn.training.variables import changing_variables
from keras_selfattn.training.variables import metric_variables

_VARIABLES_FILE = "variables.npz"
# What NumPy calls arrays without a name.
_CHANGING = "arr_"
_METRIC = "metric_"
# What a resumed run must have again, by the name of its checksum. That of the
# lengths and labels is for checkpoints from before there was one of the texts.
_CHECKED = {
    "data": "texts",
    "texts": "texts",
    "fixed_weights": "word vectors",
}


class Checkpoint:
    """The checkpoint of a run.

    Args:
        folder: `pathlib.Path` of the run's folder.

    Attributes:
        folder: Path of the checkpoint's own.
    """

    def __init__(self, folder):
        self.folder = folder / CHECKPOINT_FOLDER
        self._metrics = []

    def check(self, verify):
        """Put right what a killed process has left half-written.

        Args:
            verify: Boolean, whether the files must be those that were
                written.
        """
        restore_folder(self.folder)
        if verify:
            check_checksums(self.folder)

    def exists(self):
        """Whether there is one."""
        return (self.folder / STATE_FILE).exists()

    def remove(self):
        """Remove it."""
        # What a killed process leaves then is none, and no damaged one.
        for name in (CHECKSUMS_FILE, STATE_FILE):
            (self.folder / name).unlink(missing_ok=True)
        remove_folder(self.folder)

    def progress(self):
        """How far the run is.

        Returns:
            A pair of the list of the logs of its epochs, and of the number
            of batches that it has had of the next one.
        """
        state = self._state()
        return state["history"], state.get("batches", 0)

    def write(self, model, checksums, history, batches=0, metrics=None):
        """Write the state of a model.

        Args:
            model: The compiled model.
            checksums: Dictionary of integers, of what a resumed run must have
                again.
            history: As of `progress`.
            batches: The same.
            metrics: List of arrays, what the metrics have seen so far; by
                default what the model's have.
        """
        state = {
            "history": history,
            "backend": keras.backend.backend(),
            **checksums,
        }
        within = {}
        if batches:
            state["batches"] = batches
            if metrics is None:
                metrics = arrays_of(metric_variables(model))
            within = {
                f"{_METRIC}{number}": array
                for number, array in enumerate(metrics)
            }
        with replaced_folder(self.folder) as beside:
            np.savez(
                beside / _VARIABLES_FILE,
                *arrays_of(changing_variables(model)),
                **within,
            )
            write_text(beside / STATE_FILE, json.dumps(state))
            write_checksums(beside)

    def restore(self, model, checksums):
        """Give a compiled model the state.

        Args:
            model: The model.
            checksums: As in `write`.

        Raises:
            ValueError: if it is of another backend, or of other texts or
                fixed word vectors.
        """
        if not model.optimizer.built:
            # Keras's scaling of losses would add its variables once more.
            model.optimizer.build(model.trainable_variables)
        state = self._state()
        # Runs were TensorFlow's alone at first.
        backend = state.get("backend", "tensorflow")
        if backend != keras.backend.backend():
            raise ValueError(
                "A run is resumed on the backend it was started on, as no "
                "other gives the same numbers to the last bit: set "
                f"KERAS_BACKEND={backend}. "
                f"Received: {keras.backend.backend()}"
            )
        for name, what in _CHECKED.items():
            given = checksums[name]
            # Checkpoints had fewer of them at first.
            if state.get(name, given) != given:
                raise ValueError(
                    f"A run is resumed with the {what} it was started with. "
                    f"Received others than those of {self.folder}"
                )
        path = self.folder / _VARIABLES_FILE
        try:
            with open(path, "rb") as file, np.load(file) as arrays:
                assign(changing_variables(model), _list(_CHANGING, arrays))
                self._metrics = _list(_METRIC, arrays)
        # NumPy has all kinds of errors for a damaged file.
        except Exception as error:
            raise ValueError(
                f"{path} does not hold the state of the run: {one_line(error)}"
            ) from error

    def restore_epoch(self, model):
        """Give a restored model what it had seen of an epoch, once."""
        metrics, self._metrics = self._metrics, []
        if metrics:
            build_metrics(model)
            assign(metric_variables(model), metrics)

    def _state(self):
        path = self.folder / STATE_FILE
        state = read_json(path)
        if (
            not isinstance(state, dict)
            or not isinstance(state.get("history"), list)
            or not isinstance(state.get("batches", 0), int)
        ):
            raise ValueError(f"{path} is not the state of a run")
        return state


def _list(kind, arrays):
    return [arrays[name] for name in arrays.files if name.startswith(kind)]
