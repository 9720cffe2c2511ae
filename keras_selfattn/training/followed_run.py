"""A run whose folder another worker writes."""

import contextlib
import math
import pathlib
import tempfile

from keras_selfattn.files import remove_folder
from keras_selfattn.leftovers import cleared
from keras_selfattn.training.ending import is_over
from keras_selfattn.training.settings import DATA_FOLDER


class FollowedRun:
    """What a worker that is not the chief has in place of a `Run`.

    Args:
        settings: As in `Run`.

    Attributes:
        history: List of one dictionary of logs an epoch.
        batches: Integer, how many batches of the epoch after those are behind.
    """

    def __init__(self, settings):
        self.history, self.batches = [], 0
        self.settings = settings

    @contextlib.contextmanager
    def data_folder(self):
        """A temporary folder for the encoded texts.

        Yields:
            The path of the folder.
        """
        folder = pathlib.Path(tempfile.mkdtemp(prefix="keras_selfattn_"))
        with cleared(remove_folder, folder):
            yield folder / DATA_FOLDER

    def start(self):
        """Nothing: the chief makes the folder."""

    def restore(self, model, checksums):
        """Nothing: the chief tells what there is to go on from."""

    def restore_epoch(self, model):
        """Nothing: the chief's metrics have it."""

    def is_over(self):
        """Whether the run has had its epochs, or lost its patience."""
        return is_over(self.history, self.settings["training"])

    def check_finite(self, loss, place):
        """`FloatingPointError` where a loss is not finite; as of a `Run`."""
        if not math.isfinite(loss):
            raise FloatingPointError(f"The loss is {float(loss)} {place}")

    def keep_batches(self, model, batches, metrics):
        """Nothing: the chief writes what is to be kept."""

    def keep(self, model, logs):
        """Remember an epoch; the chief writes what is to be kept."""
        epoch = len(self.history) + 1
        self.check_finite(logs["loss"], f"in epoch {epoch}")
        self.check_finite(logs["val_loss"], f"on dev after epoch {epoch}")
        self.history.append({name: float(each) for name, each in logs.items()})
