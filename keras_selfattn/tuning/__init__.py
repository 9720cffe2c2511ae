"""KerasTuner searches over the classifiers' arguments and their training."""

try:
    import keras_tuner as _keras_tuner  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Tuning needs KerasTuner: "
        'pip install "keras_selfattn[tuning]" installs it'
    ) from error

from keras_selfattn.tuning.hypermodels import (
    DecomposableHyperModel as DecomposableHyperModel,
)
from keras_selfattn.tuning.hypermodels import (
    SentenceHyperModel as SentenceHyperModel,
)
from keras_selfattn.tuning.hypermodels import (
    SentencePairHyperModel as SentencePairHyperModel,
)
from keras_selfattn.tuning.searching import search as search
from keras_selfattn.tuning.tuners import (
    BayesianOptimization as BayesianOptimization,
)
from keras_selfattn.tuning.tuners import GridSearch as GridSearch
from keras_selfattn.tuning.tuners import Hyperband as Hyperband
from keras_selfattn.tuning.tuners import RandomSearch as RandomSearch
