"""Requests that a server runs before it lets a new version answer."""

import functools

import tensorflow as tf
from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool
from google.protobuf import message_factory
from tensorflow.core.framework import tensor_pb2

FILE = "tf_serving_warmup_requests"

# Of several lengths, as an op's first run on a new shape is slow.
TEXTS = (
    "",
    "Good.",
    "The food was great, but we waited an hour for it.",
    "I'd come back for the soup, and for nothing else on the menu. " * 4,
)
_PACKAGE = "keras_selfattn.warmup"
_TENSOR = ".tensorflow.TensorProto"
# The fields that are written of TensorFlow Serving's `PredictionLog`, in the
# numbers that it gives them. Its own package has 1,500 more, and would be
# needed for these alone.
_MESSAGES = {
    "ModelSpec": {"signature_name": (3, None)},
    # How protobuf writes a dictionary.
    "Input": {"key": (1, None), "value": (2, _TENSOR)},
    "PredictRequest": {
        "model_spec": (1, f".{_PACKAGE}.ModelSpec"),
        "inputs": (2, f".{_PACKAGE}.Input"),
    },
    "PredictLog": {"request": (1, f".{_PACKAGE}.PredictRequest")},
    "PredictionLog": {"predict_log": (6, f".{_PACKAGE}.PredictLog")},
}


def write(path, signatures, names):
    """Write one request for each signature, as TensorFlow Serving reads it."""
    with tf.io.TFRecordWriter(str(path)) as writer:
        for signature in signatures:
            log = _prediction_log()()
            request = log.predict_log.request
            request.model_spec.signature_name = signature
            for name in sorted(names):
                tensor = tf.make_tensor_proto(TEXTS)
                request.inputs.add(key=name, value=tensor)
            writer.write(log.SerializeToString(deterministic=True))


@functools.cache
def _prediction_log():
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="keras_selfattn/warmup.proto",
        package=_PACKAGE,
        dependency=[tensor_pb2.DESCRIPTOR.name],
        syntax="proto3",
    )
    for message, fields in _MESSAGES.items():
        written = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            written.field.add(
                name=name,
                number=number,
                type=field.TYPE_MESSAGE if kind else field.TYPE_STRING,
                type_name=kind,
                label=field.LABEL_REPEATED
                if name == "inputs"
                else field.LABEL_OPTIONAL,
            )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"{_PACKAGE}.PredictionLog")
    )
