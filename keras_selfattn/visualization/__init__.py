"""Heat maps of attention: terminal, notebook, figure, HTML page."""

from keras_selfattn.visualization.explaining import explain
from keras_selfattn.visualization.explanation import Explanation
from keras_selfattn.visualization.page import write_html

__all__ = ["Explanation", "explain", "write_html"]
