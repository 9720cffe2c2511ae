"""Ask a served model over gRPC or REST.

    python examples/serving_client.py reviews "Not bad at all!"
    python examples/serving_client.py reviews "Not bad!" --signature attend
    python examples/serving_client.py nli "A dog runs." --hypothesis "It sits."

REST (`--rest http://localhost:8501`) needs nothing installed; gRPC (the
default, localhost:8500) needs tensorflow-serving-api.
"""

import argparse
import json
import urllib.request


def predict_rest(url, model, inputs, signature="serving_default", timeout=10):
    """Ask over REST.

    Args:
        url: The URL of the server, such as `http://localhost:8501`.
        model: The name of the model.
        inputs: Dictionary by name of lists of strings.
        signature: The name of the signature.
        timeout: Seconds to wait.

    Returns:
        Dictionary by name of lists.
    """
    body = json.dumps({"signature_name": signature, "inputs": inputs})
    request = urllib.request.Request(
        f"{url}/v1/models/{model}:predict",
        body.encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=timeout) as response:
        outputs = json.load(response)["outputs"]
    # An output alone, which `embed` has, comes without its name.
    return outputs if isinstance(outputs, dict) else {"embedding": outputs}


class GrpcClient:
    """A connection to the gRPC `PredictionService`.

    Args:
        address: `host:port` of the server.
    """

    def __init__(self, address):
        import grpc
        from tensorflow_serving.apis import prediction_service_pb2_grpc

        self._channel = grpc.insecure_channel(address)
        self._stub = prediction_service_pb2_grpc.PredictionServiceStub(
            self._channel
        )

    def predict(self, model, inputs, signature="serving_default", timeout=10):
        """Ask once; arguments as those of `predict_rest`.

        Returns:
            Dictionary by name of NumPy arrays.
        """
        import tensorflow as tf
        from tensorflow_serving.apis import predict_pb2

        request = predict_pb2.PredictRequest()
        request.model_spec.name = model
        request.model_spec.signature_name = signature
        for name, texts in inputs.items():
            tensor = tf.make_tensor_proto(texts, dtype=tf.string)
            request.inputs[name].CopyFrom(tensor)
        response = self._stub.Predict(request, timeout)
        return {
            name: tf.make_ndarray(tensor)
            for name, tensor in response.outputs.items()
        }

    def close(self):
        """Close the connection."""
        self._channel.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="the name the model is served by")
    parser.add_argument("text", help="the text, or the premise")
    parser.add_argument("--hypothesis")
    parser.add_argument("--signature", default="serving_default")
    parser.add_argument("--grpc", default="localhost:8500")
    parser.add_argument("--rest", help="a URL, to ask over REST instead")
    options = parser.parse_args()
    inputs = {"text": [options.text]}
    if options.hypothesis is not None:
        inputs = {"premise": [options.text], "hypothesis": [options.hypothesis]}
    if options.rest:
        outputs = predict_rest(
            options.rest, options.model, inputs, options.signature
        )
    else:
        client = GrpcClient(options.grpc)
        outputs = client.predict(options.model, inputs, options.signature)
        client.close()
    for name, output in outputs.items():
        print(f"{name}: {output}")


if __name__ == "__main__":
    main()
