"""Self-attentive sentence embeddings as a Keras 3 model zoo."""

from keras_selfattn.first_use import at_first_use
from keras_selfattn.first_use import is_command_line

# The command line imports them when it is known to need them.
if not is_command_line():
    # Saved models find the classes of what has been imported.
    from keras_selfattn import layers as layers
    from keras_selfattn import models as models
    from keras_selfattn import optimizers as optimizers
    from keras_selfattn import regularizers as regularizers
    from keras_selfattn import text as text
    from keras_selfattn.models import loading as _loading  # noqa: F401

__version__ = "0.1.0"

__getattr__, __dir__ = at_first_use(__name__)
