"""KerasTuner searches over the classifiers' arguments and their training."""

from keras_selfattn.first_use import at_first_use
from keras_selfattn.first_use import import_extra

import_extra("keras_tuner", "Tuning", "KerasTuner", "tuning")

__getattr__, __dir__ = at_first_use(
    __name__,
    {
        "hypermodels": [
            "DecomposableHyperModel",
            "SentenceHyperModel",
            "SentencePairHyperModel",
        ],
        "searching": ["search"],
        "tuners": [
            "BayesianOptimization",
            "GridSearch",
            "Hyperband",
            "RandomSearch",
        ],
    },
)
