"""A server that answers as TensorFlow Serving does, for tests on one machine.

It has the gRPC `PredictionService` and the REST predict format, on loopback,
for one exported model, which it warms up with the requests beside it. It can
put requests that wait together into one batch, row by row, as TensorFlow
Serving's batching does.
"""

import base64
import concurrent.futures
import contextlib
import http.server
import json
import queue
import threading

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2
from tensorflow_serving.apis import prediction_log_pb2
from tensorflow_serving.apis import prediction_service_pb2_grpc

from keras_selfattn.serving import load_savedmodel
from keras_selfattn.serving import warmup

HOST = "127.0.0.1"


class NoSuchModel(Exception):
    """The request names a model or a signature that is not there."""


class Runner:
    """Runs signatures, a request at a time or several in one batch.

    Args:
        folder: Path of a version folder, or of a folder of them.
        name: The name of the model.
        max_batch_size: The most rows of a batch, or `None` for no batching.
        wait: Seconds to wait for further requests of a batch.
    """

    def __init__(self, folder, name, max_batch_size=None, wait=0.002):
        self.served = load_savedmodel(folder)
        self.name = name
        self.version = int(self.served.folder.name)
        self.max_batch_size = max_batch_size
        self.wait = wait
        self._queues = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._warm_up()

    def __call__(self, model, signature, inputs):
        """Outputs by name, NumPy arrays, of inputs by name."""
        signature = signature or "serving_default"
        if model != self.name:
            raise NoSuchModel(f"Servable not found for request: {model}")
        if signature not in self.served.signatures:
            raise NoSuchModel(f"Signature not found: {signature}")
        names = set(self.served.input_names)
        if set(inputs) != names:
            raise ValueError(
                f"Expected the inputs {sorted(names)}. Received: "
                f"{sorted(inputs)}"
            )
        if self.max_batch_size is None:
            return self._run(signature, inputs)
        future = concurrent.futures.Future()
        self._queue(signature).put((inputs, future))
        return future.result(timeout=300)

    def close(self):
        """Lets the threads of the batches end."""
        self._stopped.set()

    def _warm_up(self):
        path = self.served.folder / "assets.extra" / warmup.FILE
        for record in tf.data.TFRecordDataset(str(path)):
            log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
            request = log.predict_log.request
            self._run(request.model_spec.signature_name, _arrays(request))

    def _run(self, signature, inputs):
        function = self.served.signatures[signature]
        outputs = function(
            **{name: tf.constant(array) for name, array in inputs.items()}
        )
        return {name: output.numpy() for name, output in outputs.items()}

    def _queue(self, signature):
        with self._lock:
            if signature not in self._queues:
                self._queues[signature] = queue.Queue()
                threading.Thread(
                    target=self._run_batches, args=[signature], daemon=True
                ).start()
            return self._queues[signature]

    def _run_batches(self, signature):
        waiting = self._queues[signature]
        while not self._stopped.is_set():
            try:
                batch = [waiting.get(timeout=0.1)]
            except queue.Empty:
                continue
            rows = len(next(iter(batch[0][0].values())))
            with contextlib.suppress(queue.Empty):
                while rows < self.max_batch_size:
                    batch.append(waiting.get(timeout=self.wait))
                    rows += len(next(iter(batch[-1][0].values())))
            self._run_batch(signature, batch)

    def _run_batch(self, signature, batch):
        sizes = [len(next(iter(inputs.values()))) for inputs, _ in batch]
        try:
            outputs = self._run(
                signature,
                {
                    name: np.concatenate([inputs[name] for inputs, _ in batch])
                    for name in self.served.input_names
                },
            )
        except Exception as error:
            for _, future in batch:
                future.set_exception(error)
            return
        ends = np.cumsum(sizes)
        for size, end, (_, future) in zip(sizes, ends, batch, strict=True):
            future.set_result(
                {
                    name: output[end - size : end]
                    for name, output in outputs.items()
                }
            )


class PredictionService(prediction_service_pb2_grpc.PredictionServiceServicer):
    """The gRPC side.

    Args:
        run: A `Runner`.
    """

    def __init__(self, run):
        self.run = run

    def Predict(self, request, context):
        try:
            outputs = self.run(
                request.model_spec.name,
                request.model_spec.signature_name,
                _arrays(request),
            )
        except NoSuchModel as error:
            context.abort(grpc.StatusCode.NOT_FOUND, str(error))
        except (ValueError, tf.errors.InvalidArgumentError) as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        response = predict_pb2.PredictResponse()
        response.model_spec.name = self.run.name
        response.model_spec.version.value = self.run.version
        for name, output in outputs.items():
            response.outputs[name].CopyFrom(tf.make_tensor_proto(output))
        return response


def _arrays(request):
    return {
        name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()
    }


def _rest_handler(run):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            size = int(self.headers["Content-Length"])
            status, answer = self._answer(self.rfile.read(size))
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _answer(self, body):
            path = self.path.removeprefix("/v1/models/")
            if path != f"{run.name}:predict":
                return 404, {"error": f"Malformed request: POST {self.path}"}
            try:
                request = json.loads(body)
                by_row = "instances" in request
                inputs = _columns(request, run.served.input_names)
                outputs = run(run.name, request.get("signature_name"), inputs)
            except NoSuchModel as error:
                return 404, {"error": str(error)}
            except (
                KeyError,
                TypeError,
                ValueError,
                tf.errors.InvalidArgumentError,
            ) as error:
                return 400, {"error": str(error)}
            outputs = {name: _json(output) for name, output in outputs.items()}
            if len(outputs) == 1:
                # An output alone has no name.
                (values,) = outputs.values()
                return 200, {"predictions" if by_row else "outputs": values}
            if by_row:
                names = list(outputs)
                rows = zip(*outputs.values(), strict=True)
                predictions = [
                    dict(zip(names, row, strict=True)) for row in rows
                ]
                return 200, {"predictions": predictions}
            return 200, {"outputs": outputs}

        def log_message(self, *arguments):
            pass

    return Handler


def _columns(request, names):
    """Inputs by name of a REST request, in the row or the column format."""
    if "instances" in request:
        rows = request["instances"]
        if len(names) == 1:
            rows = [
                row
                if isinstance(row, dict) and "b64" not in row
                else {names[0]: row}
                for row in rows
            ]
        columns = {name: [row[name] for row in rows] for name in names}
    else:
        columns = request["inputs"]
        if not isinstance(columns, dict):
            columns = {names[0]: columns}
    return {
        name: np.array([_bytes(text) for text in column], dtype=object)
        for name, column in columns.items()
    }


def _bytes(text):
    if isinstance(text, dict):
        return base64.b64decode(text["b64"])
    return text.encode()


def _json(output):
    if output.dtype != object:
        return output.tolist()
    flat = [value.decode("utf-8", "replace") for value in output.ravel()]
    return np.array(flat, dtype=object).reshape(output.shape).tolist()


@contextlib.contextmanager
def serve(folder, name="model", max_batch_size=None, threads=16):
    """Serves a model on free ports of loopback.

    Args:
        folder: Path of a version folder, or of a folder of them.
        name: The name of the model.
        max_batch_size: The most rows of a batch, or `None` for no batching.
        threads: How many requests are answered at once.

    Yields:
        The address of the gRPC server, `host:port`, and the URL of the REST
        one.
    """
    run = Runner(folder, name, max_batch_size)
    workers = concurrent.futures.ThreadPoolExecutor(threads)
    grpc_server = grpc.server(workers)
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
        PredictionService(run), grpc_server
    )
    port = grpc_server.add_insecure_port(f"{HOST}:0")
    rest = http.server.ThreadingHTTPServer((HOST, 0), _rest_handler(run))
    rest.daemon_threads = True
    grpc_server.start()
    thread = threading.Thread(target=rest.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{HOST}:{port}", f"http://{HOST}:{rest.server_port}"
    finally:
        rest.shutdown()
        rest.server_close()
        grpc_server.stop(grace=1).wait()
        run.close()
        workers.shutdown()
