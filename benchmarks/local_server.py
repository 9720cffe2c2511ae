"""`keras-selfattn serve` under load, beside a plain loop over `predict`.

    python -m benchmarks.local_server

exports the untrained models of `benchmarks.serving`, has the server answer
single generated reviews over REST on loopback from 1, 4 and 16 clients at
once, each with one connection, and asks the same reviews one after the other
in a loop over the same SavedModel's `predict` in this process. The clients
share the machine with the server.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.serving import MODELS
from benchmarks.serving import NAME
from benchmarks.serving import export_model
from benchmarks.tables import print_table
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.serving import load_savedmodel

CLIENTS = (1, 4, 16)


@contextlib.contextmanager
def server(folder):
    """The port of a server with the model of a folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "keras_selfattn", "serve", folder, "--port=0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        yield int(re.search(r":(\d+)/", line).group(1))
    finally:
        process.terminate()
        process.wait()


def ask(port, texts):
    """The seconds of each request of one client."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    seconds = []
    for text in texts:
        start = time.perf_counter()
        body = json.dumps({"instances": [text]})
        connection.request("POST", f"/v1/models/{NAME}:predict", body)
        response = connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200, answer
        seconds.append(time.perf_counter() - start)
    connection.close()
    return seconds


def at_once(port, texts, clients):
    """The seconds of each request of some clients, and those of all."""
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        parts = [texts[client::clients] for client in range(clients)]
        seconds = list(pool.map(lambda part: ask(port, part), parts))
    return np.concatenate(seconds), time.perf_counter() - start


def one_after_the_other(served, texts):
    start = time.perf_counter()
    seconds = []
    for text in texts:
        begin = time.perf_counter()
        served.predict([text])
        seconds.append(time.perf_counter() - begin)
    return np.array(seconds), time.perf_counter() - start


def row_of_table(label, how, seconds, total):
    p50, p99 = 1000 * np.percentile(seconds, [50, 99])
    rate = len(seconds) / total
    return [label, how, f"{p50:.1f}", f"{p99:.1f}", f"{rate:.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1600, help="a row")
    options = parser.parse_args()
    texts = [r.text for r in generate_reviews(options.requests, seed=1)]
    rows = []
    for label, (preset, overrides) in MODELS.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary, NAME)
            path = export_model(preset, overrides, texts, folder)
            served = load_savedmodel(path)
            one_after_the_other(served, texts[:50])
            measured = one_after_the_other(served, texts)
            rows.append(row_of_table(label, "loop over `predict`", *measured))
            with server(folder) as port:
                at_once(port, texts[:50], 2)
                for clients in CLIENTS:
                    how = f"server, {clients} client{'s' * (clients > 1)}"
                    measured = at_once(port, texts, clients)
                    rows.append(row_of_table(label, how, *measured))
    print_table(["model", "asked by", "p50 ms", "p99 ms", "answers/s"], rows)


if __name__ == "__main__":
    main()
