"""Processes that train one model together, on one machine or on several.

What they tell each other goes over TensorFlow's
`tf.distribute.MultiWorkerMirroredStrategy`. Nothing else of it is used: each
worker has a whole model of its own, and as the gradients of all are added up
before the optimizer sees them, all models stay the same.
"""

import contextlib
import json
import re

import numpy as np
import tensorflow as tf

_TASK = re.compile(r"/job:(\w+)(?:/replica:\d+)?/task:(\d+)")
# What TensorFlow raises in a worker when another is gone.
_LOST = (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.InternalError,
)


class LostWorkerError(ConnectionError):
    """Another worker has ended, or can't be reached."""


class Workers:
    """The processes that train one model together.

    Args:
        strategy: A `tf.distribute.MultiWorkerMirroredStrategy` of one device
            a worker, or `None` where this process is alone.

    Attributes:
        number: Integer, which of them this process is. 0 is the chief, which
            alone writes.
        count: Integer, how many there are.

    Raises:
        ValueError: if `strategy` is another one, or its workers have several
            devices.
    """

    def __init__(self, strategy=None):
        self._strategy = strategy
        self._tasks, self.number = [("worker", 0)], 0
        self._addresses = ["this process"]
        if strategy is not None:
            _check(strategy)
            resolver = strategy.cluster_resolver
            spec = resolver.cluster_spec().as_dict() if resolver else {}
            found = [
                (kind, index, address)
                for kind in ("chief", "worker")
                for index, address in enumerate(spec.get(kind, ()))
            ]
            if found:
                self._tasks = [task[:2] for task in found]
                self._addresses = [task[2] for task in found]
                self.number = self._tasks.index(
                    (resolver.task_type, int(resolver.task_id))
                )
        self.count = len(self._tasks)
        replicas = 1 if strategy is None else strategy.num_replicas_in_sync
        if replicas != self.count:
            raise ValueError(
                "`strategy` must have one device a worker; start a worker for "
                f"each device. Received: {replicas} devices of {self.count} "
                "workers"
            )

    @property
    def is_chief(self):
        """Whether this is the worker that writes."""
        return self.number == 0

    @property
    def share(self):
        """What `EncodedDataset.batches` takes as `share`."""
        return self.number, self.count

    def name(self, number):
        """What messages call a worker."""
        return f"worker {number} ({self._addresses[number]})"

    def add_up(self, tensors):
        """The sums of tensors over all workers, each of which calls this.

        Args:
            tensors: List of tensors or `tf.IndexedSlices`, of the same kinds
                and, but for the rows of slices, of the same shapes everywhere.

        Returns:
            List of what these are.
        """
        if self.count == 1:
            return list(tensors)

        # What is dense and of one type goes in one message.
        kinds = [(isinstance(t, tf.IndexedSlices), t.dtype) for t in tensors]

        def add():
            replica = tf.distribute.get_replica_context()
            added = {}
            for kind in dict.fromkeys(kinds):
                some = [
                    # Here it gets the device that the sum goes to.
                    tf.nest.map_structure(
                        tf.identity, each, expand_composites=True
                    )
                    for each, other in zip(tensors, kinds, strict=True)
                    if other == kind
                ]
                some = replica.all_reduce(tf.distribute.ReduceOp.SUM, some)
                added[kind] = iter(some)
            return [next(added[kind]) for kind in kinds]

        if tf.executing_eagerly():
            add_within = tf.function(
                lambda: self._strategy.run(add), autograph=False
            )
            return add_within()
        return self._strategy.run(add)

    def from_chief(self, arrays):
        """The chief's arrays, in all workers.

        Args:
            arrays: List of NumPy arrays, of the same kinds everywhere.
        """
        if self.count == 1:
            return arrays
        # The sum of the chief's numbers and of zeros; not of all kinds.
        sent = [
            array.astype("int64") if array.dtype.kind in "bui" else array
            for array in map(np.asarray, arrays)
        ]
        if not self.is_chief:
            sent = [np.zeros_like(array) for array in sent]
        received = self.add_up([tf.constant(array) for array in sent])
        return [
            each.numpy().astype(np.asarray(array).dtype)
            for each, array in zip(received, arrays, strict=True)
        ]

    def told_by_chief(self, value=None):
        """What the chief says, in all workers.

        Args:
            value: Anything that JSON has; that of the others is not looked at.
        """
        if self.count == 1:
            return value
        said = np.frombuffer(json.dumps(value).encode(), "uint8")
        (size,) = self.from_chief([np.array(len(said))])
        if not self.is_chief:
            said = np.zeros(int(size), "uint8")
        (said,) = self.from_chief([said])
        return json.loads(said.tobytes())

    def check_same(self, number, what):
        """`ValueError` in all workers where one has another number.

        Args:
            number: Integer, such as a checksum, below 2**63.
            what: What it stands for, in words.
        """
        if self.count == 1:
            return
        mine = np.zeros(self.count, "int64")
        mine[self.number] = number
        (all_of_them,) = self.add_up([tf.constant(mine)])
        numbers = all_of_them.numpy()
        others = np.flatnonzero(numbers != numbers[0])
        if len(others):
            names = ", ".join(self.name(other) for other in others)
            raise ValueError(
                f"All workers must have the same {what}. Received others than "
                f"those of {self.name(0)} in {names}"
            )

    def wait_for_all(self):
        """Return once all workers have come here."""
        self.add_up([tf.constant(1.0)])

    @contextlib.contextmanager
    def losses_named(self):
        """In the block, the end of another worker is said in a line.

        Raises:
            LostWorkerError: if another worker has ended.
        """
        try:
            yield
        except _LOST as error:
            if self.count == 1:
                raise
            raise LostWorkerError(
                f"{self._lost(str(error))} has ended, or can't be reached any "
                "more. Once all workers are started again, with --resume "
                "(resume=True), the run goes on from its last checkpoint"
            ) from error

    def _lost(self, message):
        for kind, index in _TASK.findall(message):
            task = kind, int(index)
            if task in self._tasks and self._tasks.index(task) != self.number:
                return self.name(self._tasks.index(task))
        return "Another worker"


def _check(strategy):
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        raise ValueError(
            "`strategy` must be a tf.distribute.MultiWorkerMirroredStrategy; "
            "for several devices of one process there is `fit`, within the "
            f"scope of a MirroredStrategy. Received: strategy={strategy!r}"
        )
