"""Peers in processes of their own that take turns."""

import contextlib
import dataclasses
import json
import math
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parent.parent.parent
SAMPLE_SECONDS = 0.25
# Of a call, that one of them is a sample without a further trial.
LONG_SECONDS = 20
FIRST_CALLS = 5
# Of one core, used by other processes.
QUIET = 0.2
QUIET_WAIT = 3.0


class PeerError(RuntimeError):
    """A peer that ended, or that took too long."""


class Worker:
    """A process that does what it is told, and nothing otherwise.

    Args:
        command: List of strings; see `worker.py` for what it is to print.
        limit: Seconds that it may take to be ready.
        environment: Dictionary of environment variables to set for it.

    Attributes:
        facts: Dictionary that it printed when it was ready.
    """

    def __init__(self, command, limit=600, environment=None):
        # Open as long as the process runs.
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={
                **os.environ,
                "TF_CPP_MIN_LOG_LEVEL": "3",
                **(environment or {}),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.facts = self._answer(limit)

    def ask(self, name, count, limit=600):
        """Its answer to a call."""
        # One that has ended answers nothing, and `_answer` says why.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{name} {count}\n")
            self._process.stdin.flush()
        return self._answer(limit)

    def _answer(self, limit):
        ready, _, _ = select.select([self._process.stdout], [], [], limit)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            reason = self._why_it_ended() if ready else f"took over {limit} s"
            self.close()
            raise PeerError(reason)
        return json.loads(line)

    def _why_it_ended(self):
        code = self._process.wait()
        if code < 0:
            # One that memory ran out for says nothing.
            return f"it was ended by {signal.Signals(-code).name}"
        self._errors.seek(0)
        said = self._errors.read().strip().splitlines()
        return said[-1] if said else "it ended"

    def close(self):
        self._process.kill()
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout, self._errors):
            # What was not read is written again.
            with contextlib.suppress(BrokenPipeError):
                file.close()


def python_worker(
    peer, job, work=None, limit=600, environment=None, **arguments
):
    """A `Worker` for a job of a module of this package."""
    spec = {"peer": peer, "job": job, **arguments}
    if work is not None:
        spec["work"] = dataclasses.asdict(work)
    command = [sys.executable, "-m", "benchmarks.peers.worker"]
    return Worker([*command, json.dumps(spec)], limit, environment)


@dataclasses.dataclass
class Measured:
    """What one peer took for one task, in seconds a call."""

    seconds: list
    processor: list
    others: list
    result: float
    peak_mib: float

    @property
    def milliseconds(self):
        return 1e3 * statistics.median(self.seconds)

    @property
    def processor_milliseconds(self):
        return 1e3 * statistics.median(self.processor)

    def times(self, base):
        """How many times as long as `base`: median, least and most."""
        ratios = [
            mine / theirs
            for mine, theirs in zip(self.seconds, base.seconds, strict=True)
        ]
        return statistics.median(ratios), min(ratios), max(ratios)


def take_turns(workers, task, repeats, first_calls=FIRST_CALLS):
    """Has each worker do a task, one after the other, again and again.

    Args:
        workers: Dictionary of `Worker`s.
        task: The name of the task.
        repeats: How many samples of each to take.
        first_calls: How many calls come before the samples.

    Returns:
        A dictionary of `Measured`, and one of why others are not in it.
    """
    counts, results, failures = {}, {}, {}
    for name, worker in workers.items():
        progress(f"{name}: {task}, first calls")
        try:
            answer = worker.ask(task, first_calls)
            results[name] = answer["result"]
            once = answer["seconds"] / first_calls
            if once < LONG_SECONDS:
                # The first calls trace and allocate.
                once = worker.ask(task, 1)["seconds"]
            if once < 1:
                # What comes before the first step of several is no part of
                # one.
                once = worker.ask(task, 10)["seconds"] / 10
            counts[name] = max(1, math.ceil(SAMPLE_SECONDS / once))
        except PeerError as error:
            failures[name] = str(error)
    samples = {name: [] for name in counts}
    for turn in range(repeats):
        progress(f"{task}, turn {turn + 1} of {repeats}")
        for name in list(samples):
            try:
                taken = _sample(workers[name], task, counts[name])
            except PeerError as error:
                failures[name] = str(error)
                del samples[name]
            else:
                samples[name].append(taken)
    measured = {}
    for name, taken in samples.items():
        seconds, processor, others, peaks = zip(*taken, strict=True)
        measured[name] = Measured(
            seconds, processor, others, results[name], max(peaks)
        )
    return measured, failures


def _sample(worker, task, count):
    deadline = time.monotonic() + QUIET_WAIT
    while time.monotonic() < deadline and _busy_share() > QUIET:
        pass
    before = _machine_seconds()
    answer = worker.ask(task, count)
    used = _machine_seconds() - before - answer["processor"]
    seconds = answer["seconds"]
    others = max(0.0, used) / seconds
    return (
        seconds / count,
        answer["processor"] / count,
        others,
        answer["peak_mib"],
    )


def _busy_share():
    before, started = _machine_seconds(), time.monotonic()
    time.sleep(0.1)
    return (_machine_seconds() - before) / (time.monotonic() - started)


def _machine_seconds():
    """Seconds for which all cores together were not idle."""
    stat = pathlib.Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system, _, _, *rest = map(
        int, stat.read_text().splitlines()[0].split()[1:9]
    )
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def progress(text):
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
