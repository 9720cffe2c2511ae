"""The formats of a model, each as functions of texts and of ids.

A writer takes a model and a folder that exists, and gives two functions, of a
list of texts and of a dictionary of arrays of ids; the second may be `None`.
"""

import functools
import warnings

import tensorflow as tf

from keras_selfattn import serving

SAVED_MODEL = "SavedModel"


def saved_model(model, folder, of_ids=None):
    served = serving.load_savedmodel(serving.export(model, folder))
    return lambda texts: served.predict(texts)[1], of_ids


def saved_model_and_graph(model, folder):
    signature = {
        tensor.name: tf.TensorSpec((None, *tensor.shape[1:]), tf.int32)
        for tensor in model.inputs
    }
    graph = tf.function(
        lambda ids: model(ids, training=False), [signature], autograph=False
    )
    return saved_model(model, folder, lambda ids: graph(ids).numpy())


def of_ids_too(model, answer):
    """What answers texts, and what answers ids, of what answers ids."""

    def predict(texts):
        return answer(numpy_ids(model, texts))

    return predict, answer


def numpy_ids(model, texts):
    ids = model.preprocess(texts)
    return {name: tensor.numpy() for name, tensor in ids.items()}


def reduced(precision):
    def write(model, folder):
        return saved_model(serving.reduce_precision(model, precision), folder)

    return write


def quantized_by_keras(model, folder):
    copy = type(model).from_config(model.get_config())
    copy.set_weights(model.get_weights())
    for attribute in ("preprocessor", "labels", "training_record"):
        setattr(copy, attribute, getattr(model, attribute))
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        copy.quantize("int8")
    print(messages[-1].message, flush=True)
    return saved_model(copy, folder)


def onnx(model, folder, quantized=False):
    import onnxruntime
    from onnxruntime import quantization

    path = serving.export_onnx(model, folder / "onnx") / "model.onnx"
    if quantized:
        quantization.quantize_dynamic(
            path, path, op_types_to_quantize=["MatMul", "LSTM"]
        )
    session = onnxruntime.InferenceSession(str(path))
    return of_ids_too(model, lambda ids: session.run(None, ids)[0])


def openvino(model, folder, precision="f32"):
    from openvino import Core

    path = serving.export_openvino(model, folder / "openvino") / "model.xml"
    # On its own it computes in bfloat16 where the processor can.
    compiled = Core().compile_model(
        path, "CPU", {"INFERENCE_PRECISION_HINT": precision}
    )
    return of_ids_too(model, lambda ids: compiled(ids)[0])


def litert(model, folder):
    from ai_edge_litert.interpreter import Interpreter

    path = serving.export_litert(model, folder / "litert")
    interpreter = Interpreter(str(path / "model.tflite"))
    run = interpreter.get_signature_runner("serving_default")
    return of_ids_too(model, lambda ids: run(**ids)["probabilities"])


# The package that runs it, and what writes it.
FORMATS = {
    SAVED_MODEL: ("tensorflow", saved_model_and_graph),
    "SavedModel, bfloat16": ("tensorflow", reduced("bfloat16")),
    "SavedModel, int8": ("tensorflow", reduced("int8")),
    'SavedModel, `quantize("int8")`': ("tensorflow", quantized_by_keras),
    "ONNX": ("onnxruntime", onnx),
    "ONNX, products in int8": (
        "onnxruntime",
        functools.partial(onnx, quantized=True),
    ),
    "OpenVINO": ("openvino", openvino),
    "OpenVINO, bfloat16": (
        "openvino",
        functools.partial(openvino, precision="bf16"),
    ),
    "LiteRT": ("ai-edge-litert", litert),
}
