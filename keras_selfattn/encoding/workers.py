"""Files of texts encoded by processes that Ray runs, here or on a cluster.

A worker has one core, one model, and one file at a time. One that dies is
started again, and its file with it: what it had written of that has no name
yet.
"""

import collections

from keras_selfattn.controls import one_line
from keras_selfattn.encoding import ray_sessions
from keras_selfattn.first_use import OF_COMMAND
from keras_selfattn.first_use import asked_backend
from keras_selfattn.first_use import import_tensorflow
from keras_selfattn.first_use import without_unused

# So often a file may see its worker die: it may be the one that kills it.
_DEATHS = 5
_SECONDS = 1.0
# Of the environment of a process that has one core.
_VARIABLES = {
    OF_COMMAND: "1",
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


class Worker:
    """Encodes files in a process of its own.

    Args:
        work: A `keras_selfattn.encoding.work.Work`.
    """

    def __init__(self, work):
        self._work = work
        self._encoder = None
        self._rows = 0

    def run(self, shard):
        """What was found in a file, or its `ValueError`."""
        self._rows = 0
        if self._encoder is None:
            import_tensorflow()
            with without_unused(asked_backend()):
                self._encoder = self._work.encoder()
        try:
            return self._work.run(shard, self._encoder, self._count)
        except ValueError as error:
            # One with a traceback might not reach the other process.
            return ValueError(str(error))

    def rows(self):
        """The rows so far of the file that is being encoded."""
        return self._rows

    def _count(self, rows):
        self._rows += rows


def worker_variables():
    """The environment variables of a worker: one core, and this backend."""
    return {**_VARIABLES, "KERAS_BACKEND": asked_backend()}


def run_workers(work, shards, progress, count, address):
    """Encode files by workers.

    Args:
        work: A `keras_selfattn.encoding.work.Work`.
        shards: List of `Shard`s.
        progress: A `keras_selfattn.encoding.progress.Progress`.
        count: Integer, the number of workers, or `None` for all cores.
        address: Address of a Ray cluster, or `None` for this machine alone.

    Yields:
        Each shard with what was found in it, or with the `ValueError` of its
        file, as they come.

    Raises:
        ValueError: if there are fewer cores than workers.
        ChildProcessError: if workers died again and again at one file.
    """
    variables = worker_variables()
    with ray_sessions.session(count, address, variables) as (ray, options):
        cores = int(ray.cluster_resources().get("CPU", 0))
        count = count or cores
        if count > cores:
            raise ValueError(
                f"`workers` must be at most the {cores} cores that there are. "
                f"Received: workers={count}"
            )
        start = ray.remote(Worker).options(
            num_cpus=1,
            max_restarts=-1,
            max_task_retries=_DEATHS,
            # The second thread tells how far the first one is.
            max_concurrency=2,
            **options,
        )
        team = [
            _Member(ray, start.remote(work))
            for _ in range(min(count, len(shards)))
        ]
        try:
            yield from _shared_out(ray, team, shards, progress)
        finally:
            for member in team:
                ray.kill(member.worker)


def _shared_out(ray, team, shards, progress):
    left = collections.deque(shards)
    busy = {}

    def give(member):
        if left:
            busy[member.begin(left.popleft())] = member

    for member in team:
        give(member)
    while busy:
        ready, _ = ray.wait([*busy], timeout=_SECONDS)
        for member in busy.values():
            progress.add(member.new_rows())
        for answer in ready:
            member = busy.pop(answer)
            try:
                result = ray.get(answer)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                raise ChildProcessError(
                    f"The workers that encoded {member.shard.source} died "
                    f"{_DEATHS + 1} times: {one_line(error)}"
                ) from error
            if not isinstance(result, ValueError):
                progress.add(result["rows"] - member.known)
            yield member.shard, result
            give(member)


class _Member:
    """A worker, its file, and how many of its rows are known of."""

    def __init__(self, ray, worker):
        self._ray = ray
        self.worker = worker
        self.shard = None
        self.known = 0
        self._asked = None

    def begin(self, shard):
        self.shard, self.known = shard, 0
        return self.worker.run.remote(shard)

    def new_rows(self):
        """The rows since the last question, below 0 after a death."""
        if self._asked is None:
            self._asked = self.worker.rows.options(max_task_retries=0).remote()
            return 0
        ready, _ = self._ray.wait([self._asked], timeout=0)
        if not ready:
            return 0
        answer, self._asked = self._asked, None
        try:
            rows = self._ray.get(answer)
        except self._ray.exceptions.RayError:
            # It has died, and is being started again.
            rows = 0
        new, self.known = rows - self.known, rows
        return new
