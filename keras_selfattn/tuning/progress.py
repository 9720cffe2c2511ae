"""The trials of a search as they go: a live table, or plain lines."""

import contextlib
import json
import pathlib
import time

from keras_selfattn import callbacks
from keras_selfattn import files
from keras_selfattn.controls import one_line
from keras_selfattn.training.values import batch_size_for
from keras_selfattn.tuning import oracles
from keras_selfattn.tuning import results
from keras_selfattn.tuning.tuners import role

_HISTORY_FILE = "history.json"
_MOST_ROWS = 20


class Progress:
    """Shows and notes what happens in a search.

    In a terminal it is a table that is drawn anew as the search goes on,
    otherwise a line an epoch and a trial. Each trial's folder gets the logs
    of its epochs, and the folder of the search the table as CSV.

    Args:
        tuner: A tuner of `keras_selfattn.tuning`.
        folder: `pathlib.Path` of the folder of the search.
        console: A `rich.console.Console`.
        trials: Integer, the number of trials at most, or `None`.
        train_data: The `EncodedDataset` of the training texts.
    """

    def __init__(self, tuner, folder, console, trials, train_data):
        self.tuner = tuner
        self.folder = folder
        self.console = console
        self.trials = trials
        self.train_data = train_data
        self.first_values = tuner.hypermodel.first_values()
        self.histories = {}
        # The trial of this process, with the share of its epoch that is done.
        self.running = None
        self.share = 0.0
        self.began = time.monotonic()

    @contextlib.contextmanager
    def shown(self):
        """Shows the table while the block runs."""
        if not self.console.is_terminal or role() == "worker":
            yield
            return
        from rich.live import Live

        with Live(
            get_renderable=self.table,
            console=self.console,
            refresh_per_second=2,
            redirect_stdout=False,
            redirect_stderr=False,
            transient=True,
        ):
            yield

    def table(self):
        """The last trials, as they stand."""
        found = self.results()
        title = f"{len(found)} trials"
        if self.trials:
            title = f"Trial {len(found)} of {self.trials}"
        title += f", {results.duration(time.monotonic() - self.began)}"
        if self.tuner.minutes:
            title += f" of {results.duration(60 * self.tuner.minutes)}"
        if self.running:
            title += f"; {self.share:.0%} of the epoch"
        best = results.best_first(found)[:1]
        last = found[-_MOST_ROWS:]
        return results.make_table(
            last if best and best[0] in last else best + last,
            self.first_values,
            title,
        )

    def results(self):
        """The trials so far, a list of `Result`."""
        return [
            results.make_result(number, trial, self.history(trial.trial_id))
            for number, trial in enumerate(
                oracles.in_order(self.tuner.oracle), start=1
            )
        ]

    def history(self, trial_id):
        """The logs of the epochs of a trial, a list of dictionaries."""
        if trial_id in self.histories:
            return self.histories[trial_id]
        try:
            return files.read_json(self._history_path(trial_id))
        except FileNotFoundError:
            return []

    def _history_path(self, trial_id):
        folder = self.tuner.get_trial_dir(trial_id)
        return pathlib.Path(folder) / _HISTORY_FILE

    def _print(self, line):
        if not self.console.is_terminal or role() == "worker":
            self.console.print(
                one_line(line), markup=False, highlight=False, soft_wrap=True
            )

    def _name(self, trial):
        total = f" of {self.trials}" if self.trials else ""
        return f"trial {int(trial.trial_id) + 1}{total}"

    # What the tuner tells.

    def callbacks(self, trial):
        """Callbacks of a trial: its row in TensorBoard's table."""
        folder = self.folder / "tensorboard" / f"trial_{trial.trial_id}"
        return [callbacks.Hyperparameters(folder, trial.hyperparameters.values)]

    def on_trial_begin(self, trial):
        self.running = trial.trial_id
        self.histories[trial.trial_id] = []
        self.epoch_began = time.monotonic()
        settings = self.tuner.hypermodel.settings(trial.hyperparameters)
        rows = len(self.train_data)
        size = batch_size_for(settings["training"], rows)
        self.steps = self.train_data.steps(size)
        self.share = 0.0
        what = results.differences(
            {
                name: value
                for name, value in trial.hyperparameters.values.items()
                if not name.startswith("tuner/")
            },
            self.first_values,
        )
        self._print(f"{self._name(trial)}: {what}")

    def on_batch_end(self, trial, batch):
        # Some steps at once may go beyond the last one.
        self.share = min(1.0, (batch + 1) / self.steps)

    def on_epoch_end(self, trial, epoch, logs):
        now = time.monotonic()
        self.share = 0.0
        history = self.histories[trial.trial_id]
        history.append(
            {
                "epoch": epoch + 1,
                **{name: float(value) for name, value in logs.items()},
                "seconds": now - self.epoch_began,
            }
        )
        files.write_text(
            self._history_path(trial.trial_id), json.dumps(history)
        )
        self._print(
            f"{self._name(trial)}, epoch {epoch + 1}: dev accuracy "
            f"{logs['val_accuracy']:.2%} "
            f"({results.duration(now - self.epoch_began)})"
        )
        self.epoch_began = now

    def on_trial_end(self, trial):
        self.running = None
        if role() == "chief":
            # Written by the worker.
            self.histories.pop(trial.trial_id, None)
        result = results.make_result(
            int(trial.trial_id) + 1, trial, self.history(trial.trial_id)
        )
        figure = f"failed, {result.reason}"
        if result.accuracy is not None:
            figure = f"{result.accuracy:.2%}"
        if role() == "worker":
            self._print(f"{self._name(trial)}: {figure}")
            return
        found = self.results()
        best = results.best_first(found)[0]
        if best.accuracy is not None:
            figure += f"; best {best.accuracy:.2%}, trial {best.number}"
        self._print(f"{self._name(trial)}: {figure}")
        self.write_csv()

    def write_csv(self):
        names = [choice.name for choice in self.tuner.hypermodel.choices]
        results.write_csv(self.folder / results.CSV_FILE, self.results(), names)
