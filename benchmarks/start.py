"""What it takes to start: the import, and the first batch of a training.

    python -m benchmarks.start

Seconds of processor time, and by the clock, of the import beside that of
TensorFlow and Keras alone, and of making W4's model and of `fit` with one
batch, tracing included, beside stock Keras's. Each is in a process of its own,
and they take turns.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time

from benchmarks.tables import median_and_range
from benchmarks.tables import print_table

IMPORTS = {
    "TensorFlow and Keras": ("tensorflow", "keras"),
    "ours": ("keras_selfattn",),
}
PEERS = {"Keras": "stock_keras", "ours": "ours"}
WORK = "W4"


class Watch:
    """Seconds of the processor and of the clock since the last look."""

    def __init__(self):
        self.look()

    def look(self):
        now = time.process_time(), time.perf_counter()
        taken = [
            b - a for a, b in zip(getattr(self, "_last", now), now, strict=True)
        ]
        self._last = now
        return taken


def measure_import(who):
    watch = Watch()
    for module in IMPORTS[who]:
        importlib.import_module(module)
    return {"import": watch.look()}


def measure_first_batch(who):
    import tensorflow as tf

    from benchmarks.peers.workloads import WORKS
    from benchmarks.peers.workloads import make_rows

    peer = importlib.import_module(f"benchmarks.peers.{PEERS[who]}")
    dataset = tf.data.Dataset.from_tensors(make_rows(WORKS[WORK]))
    watch = Watch()
    model = peer.build_model(WORKS[WORK])
    made = watch.look()
    model.fit(dataset, verbose=0)
    first = watch.look()
    model.fit(dataset, verbose=0)
    return {"model": made, "first `fit`": first, "second": watch.look()}


def in_a_process(*arguments):
    command = [sys.executable, "-m", "benchmarks.start", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("alone", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        what, who = options.alone
        found = {"import": measure_import, "batch": measure_first_batch}
        print(json.dumps(found[what](who)))
        return
    rows = []
    for what, peers in (("import", IMPORTS), ("batch", PEERS)):
        taken = {}
        for turn in range(options.turns + 1):
            for who in peers:
                found = in_a_process(what, who)
                # The first turn reads the files.
                if turn:
                    for task, each in found.items():
                        taken.setdefault((task, who), []).append(each)
        base = next(iter(peers))
        for (task, who), each in taken.items():
            ratios = [
                ours[0] / theirs[0]
                for ours, theirs in zip(each, taken[task, base], strict=True)
            ]
            rows.append(
                [
                    task,
                    who,
                    *(
                        f"{statistics.median(s):.2f}"
                        for s in zip(*each, strict=True)
                    ),
                    median_and_range(ratios),
                ]
            )
    print_table(
        ["task", "by", "processor s", "clock s", "times the first"], rows
    )


if __name__ == "__main__":
    main()
