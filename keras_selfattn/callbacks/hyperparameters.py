import os
from collections.abc import Mapping

from keras_selfattn.callbacks.writing import Writer


class Hyperparameters(Writer):
    """A training's row in TensorBoard's table of hyperparameters.

    The row is the run `hyperparameters`: the model's arguments, the
    optimizer and its learning rate, the dtype policy and `jit_compile`, and
    as metrics the logs of each epoch. Point TensorBoard at the folder that
    holds several trainings' `log_dir` to compare them.

    Args:
        log_dir: Path of TensorBoard's folder of this training.
        values: Dictionary of further hyperparameters, strings and numbers.
            Defaults to none.

    Example:

    >>> row = Hyperparameters("logs/first", {"batch_size": 50})
    >>> # model.fit(..., callbacks=[row])
    """

    folder = "hyperparameters"

    def __init__(
        self, log_dir: str | os.PathLike, values: Mapping | None = None
    ) -> None:
        super().__init__(log_dir)
        self.values = dict(values or {})

    def on_train_begin(self, logs: Mapping | None = None) -> None:
        from tensorboard.plugins.hparams import api

        super().on_train_begin(logs)
        optimizer = self.model.optimizer
        # Keras wraps the optimizer of a model that computes in float16.
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        optimizer = optimizer.get_config()
        values = {
            **self.model.get_config(),
            "optimizer": optimizer["name"],
            "learning_rate": optimizer["learning_rate"],
            "dtype_policy": self.model.dtype_policy.name,
            "jit_compile": self.model.jit_compile,
            **self.values,
        }
        with self.writer.as_default():
            api.hparams({k: _plain(v) for k, v in values.items()})
        self.writer.flush()

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
        self.scalars(logs or {}, epoch)


def _plain(value):
    return value if isinstance(value, (bool, int, float, str)) else str(value)
