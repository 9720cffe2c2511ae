"""Requests that a server runs before it lets a new version answer."""

import tensorflow as tf

from keras_selfattn.first_use import import_extra

FILE = "tf_serving_warmup_requests"

# Of several lengths, as an op's first run on a new shape is slow.
TEXTS = (
    "",
    "Good.",
    "The food was great, but we waited an hour for it.",
    "I'd come back for the soup, and for nothing else on the menu. " * 4,
)


def import_prediction_log():
    """The module of the request types, or `ImportError`."""
    return import_extra(
        "tensorflow_serving.apis.prediction_log_pb2",
        "A warm-up request of an export",
        "tensorflow-serving-api",
        "serving",
    )


def write(path, signatures, names):
    """Write one request for each signature, as TensorFlow Serving reads it."""
    prediction_log_pb2 = import_prediction_log()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for signature in signatures:
            log = prediction_log_pb2.PredictionLog()
            request = log.predict_log.request
            request.model_spec.signature_name = signature
            for name in names:
                request.inputs[name].CopyFrom(tf.make_tensor_proto(TEXTS))
            writer.write(log.SerializeToString(deterministic=True))
