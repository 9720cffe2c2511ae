"""Self-attentive sentence embeddings as a Keras 3 model zoo."""

import importlib

from keras_selfattn import quiet_start

quiet_start.import_tensorflow()

# Loaded with the package, so that saved models find their classes.
from keras_selfattn import layers as layers  # noqa: E402
from keras_selfattn import models as models  # noqa: E402
from keras_selfattn import optimizers as optimizers  # noqa: E402
from keras_selfattn import regularizers as regularizers  # noqa: E402
from keras_selfattn import text as text  # noqa: E402

__version__ = "0.1.0"

_AT_FIRST_USE = (
    "backends",
    "callbacks",
    "data",
    "evaluation",
    "faithfulness",
    "heads",
    "model_card",
    "reproduction",
    "serving",
    "training",
    "tuning",
    "visualization",
    "zoo",
)


def __getattr__(name):
    if name in _AT_FIRST_USE:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_AT_FIRST_USE])
