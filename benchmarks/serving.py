"""Latency and throughput of an exported model under rising load.

    python -m benchmarks.serving

exports untrained models of usual sizes and asks each, over gRPC on loopback,
single generated reviews from 1, 2, 4, ... clients at once, with and without
batching on the server. The server is the tests' stand-in, in a process of its
own; `--address host:port --model NAME` asks a TensorFlow Serving instead.
Each row is a fixed number of requests; errors and lost answers are counted.
"""

import argparse
import concurrent.futures
import contextlib
import multiprocessing
import pathlib
import tempfile
import time

import numpy as np

from benchmarks.tables import print_table
from examples.serving_client import GrpcClient
from keras_selfattn import models
from keras_selfattn import serving
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.text import build_vocabulary

SIZES = {"embedding_dim": 100, "attention_dim": 64, "num_heads": 8}
MODELS = {
    "BiLSTM, structured self-attention": (
        "lin2017_yelp",
        {**SIZES, "units": 64, "hidden_units": 128},
    ),
    "convolution, structured self-attention": (
        "lin2017_yelp",
        {**SIZES, "encoder": "cnn", "units": 256, "hidden_units": 128},
    ),
}
NAME = "reviews"
CLIENTS = (1, 2, 4, 8, 16, 32)
MAX_BATCH_SIZE = 32
TIMEOUT = 60


def export_model(preset, overrides, texts, folder):
    """Exports an untrained model: weights change no timing."""
    preprocessor = TextPreprocessor(build_vocabulary(texts), lowercase=True)
    model = models.from_preset(
        preset,
        vocabulary_size=preprocessor.vocabulary_size(),
        num_classes=5,
        **overrides,
    )
    model.preprocessor = preprocessor
    model.labels = ["1", "2", "3", "4", "5"]
    return serving.export(model, folder)


def run_server(folder, max_batch_size, addresses, stop):
    from tests.serving.stand_in import serve

    with serve(folder, NAME, max_batch_size, threads=64) as (address, _):
        addresses.put(address)
        stop.wait()


@contextlib.contextmanager
def server(folder, max_batch_size):
    """The address of a server in a process of its own."""
    context = multiprocessing.get_context("spawn")
    addresses, stop = context.Queue(), context.Event()
    process = context.Process(
        target=run_server, args=(folder, max_batch_size, addresses, stop)
    )
    process.start()
    try:
        yield addresses.get(timeout=300)
    finally:
        stop.set()
        process.join(timeout=30)
        if process.is_alive():
            process.kill()


def measure(address, name, texts, clients):
    """Asks each text once from several clients.

    Returns:
        The seconds of each answered request, how many failed, and the
        seconds that all took.
    """
    connections = [GrpcClient(address) for _ in range(clients)]

    def ask(number):
        start = time.perf_counter()
        try:
            answer = connections[number % clients].predict(
                name, {"text": [texts[number]]}, timeout=TIMEOUT
            )
        except Exception:
            return None
        seconds = time.perf_counter() - start
        complete = answer["probabilities"].shape[0] == 1
        return seconds if complete else None

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        seconds = list(pool.map(ask, range(len(texts))))
    total = time.perf_counter() - start
    for connection in connections:
        connection.close()
    answered = [one for one in seconds if one is not None]
    return answered, len(texts) - len(answered), total


def rows_of_table(label, address, name, texts, clients_at_once):
    """The rows of one server, for a rising number of clients."""
    # The first requests pay for what the server has not done yet.
    measure(address, name, texts[:20], 2)
    for clients in clients_at_once:
        answered, failed, total = measure(address, name, texts, clients)
        p50, p95, p99 = 1000 * np.percentile(answered or [np.nan], [50, 95, 99])
        yield [
            label,
            clients,
            f"{p50:.1f}",
            f"{p95:.1f}",
            f"{p99:.1f}",
            f"{len(answered) / total:.0f}",
            f"{len(answered)} / {len(texts)}",
            failed,
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=400, help="a row")
    parser.add_argument(
        "--clients", type=int, nargs="+", default=CLIENTS, metavar="N"
    )
    parser.add_argument("--address", help="ask this server, host:port")
    parser.add_argument("--model", default=NAME, help="its name there")
    options = parser.parse_args()
    texts = [r.text for r in generate_reviews(options.requests, seed=1)]
    rows = []
    if options.address:
        rows += rows_of_table(
            options.address,
            options.address,
            options.model,
            texts,
            options.clients,
        )
    else:
        for label, (preset, overrides) in MODELS.items():
            with tempfile.TemporaryDirectory() as folder:
                path = export_model(
                    preset, overrides, texts, pathlib.Path(folder)
                )
                for size in (None, MAX_BATCH_SIZE):
                    batching = f"batches of up to {size}" if size else "alone"
                    with server(path, size) as address:
                        rows += rows_of_table(
                            f"{label}, {batching}",
                            address,
                            NAME,
                            texts,
                            options.clients,
                        )
    print_table(
        [
            "model",
            "clients",
            "p50 ms",
            "p95 ms",
            "p99 ms",
            "answers/s",
            "answered",
            "errors",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
