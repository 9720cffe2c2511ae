"""Processes that train together: started here, or one of those on machines.

TensorFlow is told of all of them by the environment variable `TF_CONFIG`, a
JSON object of the addresses of all and of which of them a process is.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from keras_selfattn.cli.notes import note
from keras_selfattn.leftovers import cleared

# What a worker ends with where it has lost another: it is not at fault.
LOST = 75

_CONFIG = "TF_CONFIG"
# Set in the processes that `run_workers` starts.
_STARTED = "KERAS_SELFATTN_WORKER"
_LOOKS_SECONDS = 0.05
# How long workers are given to end by themselves, and by each signal. The
# second one ends those too that wait for others within TensorFlow.
_ENDING_SECONDS = 5.0
_STOPPING_SECONDS = 3.0
# Waiting for another, one thread sends nothing: two workers on a machine then
# take longer than one.
_LEAST_THREADS = 4


def add_workers(parser):
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="train in so many processes on this machine; each takes a part "
        "of the rows of each batch, so that the run stays the same",
    )
    chosen.add_argument(
        "--distribute",
        action="store_true",
        help="this is one of several processes that train together, on the "
        "machines that the environment variable TF_CONFIG names; give all of "
        "them the same command. The first one writes --output",
    )


def are_to_start(options):
    """Whether this process is to start those that train."""
    if options.workers is None or is_started():
        return False
    if options.workers < 1:
        raise ValueError(
            "`--workers` must be a positive integer. "
            f"Received: --workers {options.workers}"
        )
    if "-" in (*options.data, options.dev):
        raise ValueError(
            "Several workers can't all read standard input. Received: "
            f"--workers {options.workers} and -"
        )
    return options.workers > 1


def is_started():
    """Whether `run_workers` has started this process."""
    return _STARTED in os.environ


def writes(options):
    """Whether this process is the one that writes the folder of the run."""
    if not (options.distribute or is_started()):
        return True
    cluster, task = _config()
    kinds = [kind for kind in ("chief", "worker") if cluster.get(kind)]
    return (task["type"], int(task["index"])) == (kinds[0], 0)


def make_strategy(options):
    """What `keras_selfattn.training.train` takes, or `None` without workers.

    It waits until all workers have been started.
    """
    if not (options.distribute or is_started()):
        return None
    _config()
    import tensorflow as tf

    if is_started():
        _follow_parent()
        _share_machine(tf, int(os.environ[_STARTED]), options.workers)
    # It warns of what costs nothing here.
    tf.get_logger().setLevel("ERROR")
    threads = tf.config.threading
    threads.set_inter_op_parallelism_threads(
        max(_LEAST_THREADS, threads.get_inter_op_parallelism_threads())
    )
    handler = signal.getsignal(signal.SIGTERM)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    # TensorFlow has taken the signal for itself, and does nothing about it.
    signal.signal(signal.SIGTERM, handler)
    return strategy


@contextlib.contextmanager
def losses_coded():
    """In the block, a worker that was started here and loses another ends.

    The process that has started them says which one is at fault.
    """
    try:
        yield
    except ConnectionError:
        if not is_started():
            raise
        sys.exit(LOST)


def _config():
    """The cluster and the task that the environment names."""
    text = os.environ.get(_CONFIG)
    try:
        config = json.loads(text or "")
        cluster, task = config["cluster"], config["task"]
        if cluster[task["type"]][int(task["index"])]:
            return cluster, task
    except (ValueError, KeyError, TypeError, IndexError):
        pass
    raise ValueError(
        f"`{_CONFIG}` must be a JSON object such as "
        '{"cluster": {"worker": ["one:2222", "two:2222"]}, '
        '"task": {"type": "worker", "index": 0}}. '
        f"Received: {_CONFIG}={text}"
    )


def _share_machine(tf, number, count):
    """Take this worker's part of the machine's cores and devices."""
    devices = tf.config.list_physical_devices("GPU")
    if devices:
        if len(devices) < count:
            raise ValueError(
                "`--workers` must be at most the number of GPUs, "
                f"{len(devices)}. Received: --workers {count}"
            )
        tf.config.set_visible_devices(devices[number], "GPU")
    threads = tf.config.threading
    if "TF_NUM_INTRAOP_THREADS" not in os.environ:
        cores = os.cpu_count() or 1
        threads.set_intra_op_parallelism_threads(max(1, cores // count))


def _follow_parent():
    """End this process when the one that has started it is gone."""

    def wait():
        # The other end of the pipe closes with its process.
        with contextlib.suppress(OSError):
            os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_STOPPING_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def run_workers(options):
    """Run a command in several processes on this machine, to their end.

    Args:
        options: The parsed options.

    Returns:
        The exit code.
    """
    workers = _start(options.arguments, options.workers)
    with cleared(_stop, workers):
        fault = _first_fault(workers)
        if fault is None:
            return 0
        code, said = fault.code, fault.error
        end = fault.describe()
        # What has been written half is cleared away.
        _stop(workers)
        if said is None:
            note(f"error: {end}")
        else:
            print(said, end="", file=sys.stderr, flush=True)
        return code if code in (1, 2) else 2


class _Worker:
    """A process that trains with others."""

    def __init__(self, arguments, number, addresses):
        task = {"type": "worker", "index": number}
        config = {"cluster": {"worker": addresses}, "task": task}
        self.number = number
        self.error = None
        self.is_lost = False
        self.process = subprocess.Popen(
            [sys.executable, "-m", "keras_selfattn", *arguments],
            env={
                **os.environ,
                _CONFIG: json.dumps(config),
                _STARTED: str(number),
            },
            stdin=subprocess.PIPE,
            stdout=None if number == 0 else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # An interrupt from the keyboard is for the one that starts them.
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def code(self):
        """The exit code, or `None` while the process runs."""
        return self.process.poll()

    def wait(self, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def finish_reading(self):
        self._reader.join(_ENDING_SECONDS)

    def describe(self):
        """What has become of the worker, in words."""
        name = f"worker {self.number} (process {self.process.pid})"
        code = self.code
        if code is None:
            end = "answers no more"
        elif code < 0:
            end = f"was ended by {signal.Signals(-code).name}"
        else:
            end = f"has ended with the exit code {code}"
        return (
            f"{name} {end}; with --resume the run goes on from its last "
            "checkpoint"
        )

    def _read(self):
        for line in self.process.stderr:
            # The others say the same, or what follows from it.
            if line.partition(": ")[2].startswith(("error:", "internal error")):
                self.error = line
            elif self.number == 0:
                print(line, end="", file=sys.stderr, flush=True)


def _start(arguments, count):
    with contextlib.ExitStack() as stack:
        # All at once, so that no two are the same.
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets]
    addresses = [f"127.0.0.1:{port}" for port in ports]
    return [_Worker(arguments, number, addresses) for number in range(count)]


def _first_fault(workers):
    """The worker whose end has ended the others, or `None`."""
    while not any(worker.code for worker in workers):
        if all(worker.code == 0 for worker in workers):
            return None
        time.sleep(_LOOKS_SECONDS)
    if not _at_fault(workers):
        # Where one has lost another, that may still be ending.
        _wait(workers, _ENDING_SECONDS)
    found = _at_fault(workers)
    if found and all(worker.code > 0 for worker in found):
        # Where all are at fault, the chief says it.
        workers[0].wait(_ENDING_SECONDS)
        found = _at_fault(workers)
    if not found:
        found = [worker for worker in workers if worker.code is None]
    found = found or workers
    for worker in found:
        if worker.code is not None:
            worker.finish_reading()
    return found[0]


def _at_fault(workers):
    return [worker for worker in workers if worker.code not in (None, 0, LOST)]


def _wait(workers, seconds):
    end = time.monotonic() + seconds
    for worker in workers:
        worker.wait(max(0.0, end - time.monotonic()))


def _stop(workers):
    """End all workers that there still are."""
    running = [worker for worker in workers if worker.code is None]
    for _ in range(2):
        for worker in running:
            worker.process.terminate()
        _wait(running, _STOPPING_SECONDS)
    for worker in running:
        if worker.code is None:
            worker.process.kill()
            worker.process.wait()
