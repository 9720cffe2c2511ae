"""What else one would take for a corpus, each tuned on the same dev rows.

`OPPONENTS` has where each is. They are imported when asked for, as each needs
a package of its own: `pip install "keras_selfattn[benchmarks]"` has them all.
"""

import importlib

OPPONENTS = {
    "svm": ("linear", "Svm"),
    "nbsvm": ("linear", "NaiveBayesSvm"),
    "hypothesis": ("linear", "HypothesisOnly"),
    "vectors": ("averages", "AveragedVectors"),
    "fasttext": ("fast_text", "FastText"),
    "embeddings": ("stock_keras", "EmbeddingAverage"),
    "kim_cnn": ("stock_keras", "KimCnn"),
    "stock_bilstm": ("stock_keras", "StockBiLstm"),
}


def opponent_class(name):
    """A class of `Opponent`, by the name it has in `OPPONENTS`."""
    module, class_name = OPPONENTS[name]
    return getattr(importlib.import_module(f"{__name__}.{module}"), class_name)
