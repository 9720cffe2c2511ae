"""Self-attentive sentence embeddings as a Keras 3 model zoo."""

import importlib

__version__ = "0.1.0"

_ROOMS = (
    "callbacks",
    "data",
    "layers",
    "models",
    "optimizers",
    "regularizers",
    "serving",
    "text",
    "training",
    "tuning",
    "visualization",
)


# Rooms load at first use, so that a Keras script pays neither for the text
# pipeline nor for optional packages that it does not touch.
def __getattr__(name):
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_ROOMS])
