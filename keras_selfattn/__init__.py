"""Self-attentive sentence embeddings as a Keras 3 model zoo."""

from keras_selfattn import quiet_start
from keras_selfattn.first_use import at_first_use

quiet_start.import_tensorflow()

# Loaded with the package, so that saved models find their classes.
from keras_selfattn import layers as layers  # noqa: E402
from keras_selfattn import models as models  # noqa: E402
from keras_selfattn import optimizers as optimizers  # noqa: E402
from keras_selfattn import regularizers as regularizers  # noqa: E402
from keras_selfattn import text as text  # noqa: E402

__version__ = "0.1.0"

__getattr__, __dir__ = at_first_use(
    __name__,
    modules=(
        "backends",
        "callbacks",
        "data",
        "evaluation",
        "faithfulness",
        "files",
        "first_use",
        "heads",
        "labels",
        "model_card",
        "reproduction",
        "serving",
        "sides",
        "streams",
        "training",
        "tuning",
        "visualization",
        "zoo",
    ),
)
