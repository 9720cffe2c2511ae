import os
from collections.abc import Iterable
from collections.abc import Mapping

from keras_selfattn import faithfulness
from keras_selfattn.callbacks.writing import Probe
from keras_selfattn.callbacks.writing import write_scalars
from keras_selfattn.callbacks.writing import writer
from keras_selfattn.evaluation import with_label_ids


class FaithfulnessCurves(Probe):
    """Curves of how far attention tells what a model relies on.

    After each epoch `keras_selfattn.faithfulness.measure` reads the texts.
    Each of its methods is a run, such as `faithfulness/attention`, so that
    one chart compares them:

    - `faithfulness/lost_without`, the probability lost without the method's
      most important words,
    - `faithfulness/lost_with_only`, that lost with only them,
    - `faithfulness/deciding_first`, how often the method's first word is one
      that decides, where the records know which do.

    Attention tells something while its first curve is above that of
    `random`, and its second one below.

    Args:
        log_dir: Path of TensorBoard's folder of this training.
        records: List of what `keras_selfattn.faithfulness.measure` takes,
            `(text, label)` and, if known, the words that decide. Some hundred
            tell enough.
        share: Float, the share of each text's words that is important.

    Raises:
        ValueError: if there are no records, or, when the training starts, if
            the model is no classifier with its `preprocessor` and `labels`,
            takes other texts, or does not know a label.

    Example:

    >>> curves = FaithfulnessCurves("logs", [("The food was not good.", "1")])
    >>> # model.fit(..., callbacks=[curves])
    """

    folder = "faithfulness"

    def __init__(
        self, log_dir: str | os.PathLike, records: Iterable, share: float = 0.2
    ) -> None:
        self.records = list(records)
        super().__init__(log_dir, [record[0] for record in self.records])
        self.share = share

    def on_train_begin(self, logs: Mapping | None = None) -> None:
        self.check()
        # An unknown label too fails before the first epoch.
        list(with_label_ids(self.records, self.model.labels))
        self.writers = {
            method: writer(self.path / method.replace(" ", "_"))
            for method in faithfulness.METHODS
        }

    def on_train_end(self, logs: Mapping | None = None) -> None:
        for each in self.writers.values():
            each.close()

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
        measured = faithfulness.measure(self.model, self.records, [self.share])
        for method, each in self.writers.items():
            loss = measured.losses[method, self.share]
            values = {
                "faithfulness/lost_without": loss.comprehensiveness,
                "faithfulness/lost_with_only": loss.sufficiency,
            }
            if method in measured.agreement:
                first = measured.agreement[method].first
                values["faithfulness/deciding_first"] = first
            write_scalars(each, values, epoch)
