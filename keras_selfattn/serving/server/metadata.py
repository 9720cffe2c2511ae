"""What TensorFlow Serving tells of a model: its status and its signatures."""

from tensorflow.core.framework import types_pb2


def status(servables):
    """The status of versions of a model."""
    return {
        "model_version_status": [
            {
                "version": str(servable.version),
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
            for servable in servables
        ]
    }


def metadata(servable):
    """The signatures of a model, with the names and shapes of its tensors."""
    return {
        "model_spec": {
            "name": servable.name,
            "signature_name": "",
            "version": str(servable.version),
        },
        "metadata": {
            "signature_def": {
                "signature_def": {
                    name: _signature(name, function)
                    for name, function in servable.signatures.items()
                }
            }
        },
    }


def _signature(name, function):
    _, inputs = function.structured_input_signature
    return {
        "inputs": {
            key: _tensor(spec, f"{name}_{key}:0")
            for key, spec in inputs.items()
        },
        "outputs": {
            key: _tensor(spec, f"StatefulPartitionedCall:{place}")
            for place, (key, spec) in enumerate(
                sorted(function.structured_outputs.items())
            )
        },
        "method_name": "tensorflow/serving/predict",
        "defaults": {},
    }


def _tensor(spec, name):
    return {
        "dtype": types_pb2.DataType.Name(spec.dtype.as_datatype_enum),
        "tensor_shape": {
            "dim": [
                {"size": str(-1 if size is None else size), "name": ""}
                for size in spec.shape
            ],
            "unknown_rank": False,
        },
        "name": name,
    }
