"""Requests that wait together, answered as one batch."""

import concurrent.futures
import dataclasses
import queue
import threading

import numpy as np

from keras_selfattn.serving.words import cropped
from keras_selfattn.serving.words import padded

# As many rows as `predict` asks a model at once.
BATCH_ROWS = 64
# Of requests; whoever asks beyond them is told to come back.
_LONGEST_QUEUE = 1024


class Overloaded(Exception):
    """More requests wait than are kept."""


@dataclasses.dataclass(eq=False)
class _Request:
    signature: str
    columns: list
    future: concurrent.futures.Future


class Batcher:
    """Asks a model for all requests that wait, sorted by length.

    While the model answers a batch, the next requests gather: a lone request
    never waits for others, and under load batches grow by themselves.

    Args:
        servable: A `Servable`.
    """

    def __init__(self, servable):
        self._servable = servable
        self._waiting = queue.Queue(_LONGEST_QUEUE)
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, signature, columns):
        """Ask for the answer to the rows of a request.

        Args:
            signature: The name of a signature.
            columns: List with one list of bytes for each input; at least one
                row.

        Returns:
            A `concurrent.futures.Future` of a dictionary of NumPy arrays,
            padded to the longest row of the request.

        Raises:
            Overloaded: if too many requests wait already.
        """
        request = _Request(signature, columns, concurrent.futures.Future())
        try:
            self._waiting.put_nowait(request)
        except queue.Full:
            raise Overloaded(
                f"{_LONGEST_QUEUE} requests wait for "
                f"{self._servable.name!r} already: ask again later"
            ) from None
        return request.future

    def _work(self):
        while True:
            requests = [self._waiting.get()]
            rows = len(requests[0].columns[0])
            while rows < BATCH_ROWS and not self._waiting.empty():
                requests.append(self._waiting.get())
                rows += len(requests[-1].columns[0])
            # Whose client is gone needs no answer.
            requests = [
                request
                for request in requests
                if request.future.set_running_or_notify_cancel()
            ]
            for signature in {request.signature for request in requests}:
                self._answer(
                    signature,
                    [r for r in requests if r.signature == signature],
                )

    def _answer(self, signature, requests):
        try:
            answers = list(self._answers(signature, requests))
        except Exception as error:
            if len(requests) == 1:
                requests[0].future.set_exception(error)
                return
            # One may be at fault for the others.
            for request in requests:
                self._answer(signature, [request])
            return
        for request, answer in zip(requests, answers, strict=True):
            request.future.set_result(answer)

    def _answers(self, signature, requests):
        """The outputs of each request, from batches of rows of like length."""
        rows = [
            row
            for request in requests
            for row in zip(*request.columns, strict=True)
        ]
        lengths = [sum(map(len, row)) for row in rows]
        order = np.argsort(lengths, kind="stable")
        found = [None] * len(rows)
        for start in range(0, len(rows), BATCH_ROWS):
            chosen = order[start : start + BATCH_ROWS]
            columns = zip(*(rows[i] for i in chosen), strict=True)
            outputs = self._servable.run(signature, [*map(list, columns)])
            for place, row in enumerate(chosen):
                found[row] = cropped(
                    {name: output[place] for name, output in outputs.items()},
                    self._servable.is_aligned,
                )
        start = 0
        for request in requests:
            end = start + len(request.columns[0])
            yield _stacked(found[start:end])
            start = end


def _stacked(rows):
    """The rows of a request as arrays, padded to the longest."""
    return {name: padded([row[name] for row in rows]) for name in rows[0]}
