"""Heat maps of attention: terminal, notebook, figure, HTML page."""

from keras_selfattn.visualization.explaining import explain
from keras_selfattn.visualization.explanation import AlignmentExplanation
from keras_selfattn.visualization.explanation import Explanation
from keras_selfattn.visualization.explanation import PairExplanation
from keras_selfattn.visualization.ngrams import NGram
from keras_selfattn.visualization.page import write_html
from keras_selfattn.visualization.sentence import Sentence

__all__ = [
    "AlignmentExplanation",
    "Explanation",
    "NGram",
    "PairExplanation",
    "Sentence",
    "explain",
    "write_html",
]
