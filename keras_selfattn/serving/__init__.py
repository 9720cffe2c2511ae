"""SavedModels with raw text in: writing them, and loading them in Python."""

from keras_selfattn.serving.exporting import export as export
from keras_selfattn.serving.formats import export_litert as export_litert
from keras_selfattn.serving.formats import export_onnx as export_onnx
from keras_selfattn.serving.formats import export_openvino as export_openvino
from keras_selfattn.serving.reduced_precision import compare as compare
from keras_selfattn.serving.reduced_precision import (
    reduce_precision as reduce_precision,
)
from keras_selfattn.serving.served_model import ServedModel as ServedModel
from keras_selfattn.serving.served_model import (
    load_savedmodel as load_savedmodel,
)
