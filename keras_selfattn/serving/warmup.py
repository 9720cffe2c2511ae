"""Requests that a server runs before it lets a new version answer."""

import tensorflow as tf

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
    try:
        from tensorflow_serving.apis import prediction_log_pb2
    except ImportError:
        raise ImportError(
            "An export's warm-up requests need tensorflow-serving-api: "
            'pip install "keras_selfattn[serving]"'
        ) from None
    return prediction_log_pb2


def write(path, signatures, names):
    """Write one request for each signature, as TensorFlow Serving reads it.

    Args:
        path: Path of the new file, a TFRecord file of `PredictionLog`.
        signatures: The names of the signatures.
        names: The names of their inputs.
    """
    prediction_log_pb2 = import_prediction_log()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for signature in signatures:
            log = prediction_log_pb2.PredictionLog()
            request = log.predict_log.request
            request.model_spec.signature_name = signature
            for name in names:
                request.inputs[name].CopyFrom(tf.make_tensor_proto(TEXTS))
            writer.write(log.SerializeToString(deterministic=True))
