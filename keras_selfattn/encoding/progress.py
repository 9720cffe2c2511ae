"""How far the work on a corpus is, in one line every ten seconds."""

import datetime
import time

_SECONDS = 10


class Progress:
    """Counts rows, and foretells the time by the bytes of the files.

    Args:
        shards: List of all `Shard`s.
        done: Dictionary by shard of what was found in it before, or `None`.
        say: Function that is given a line, or `None`.
    """

    def __init__(self, shards, done, say):
        self._say = say
        self._files = len(shards)
        self._files_done = sum(found is not None for found in done.values())
        left = [shard for shard in shards if done[shard] is None]
        self._bytes_left = sum(shard.size for shard in left)
        # Of this call alone, as are the seconds.
        self._rows = self._rows_of_files = self._bytes = 0
        self._started = self._said = time.monotonic()

    def add(self, rows):
        """Count rows, those of files that are not finished included."""
        self._rows += rows
        now = time.monotonic()
        if self._say is not None and now - self._said >= _SECONDS:
            self._said = now
            self._say(self.line(now - self._started))

    def finished(self, shard, rows):
        """Count a file, whose rows `add` has counted."""
        self._rows_of_files += rows
        self._files_done += 1
        self._bytes += shard.size
        self._bytes_left -= shard.size

    def gave_up(self, shard):
        """Expect no more of a file."""
        self._bytes_left -= shard.size

    def line(self, seconds):
        """The line after some seconds.

        The rows of unfinished files that are still to come follow from the
        bytes a row of the finished ones; before there are any, it has no time.
        """
        rate = self._rows / max(seconds, 1e-6)
        line = (
            f"{self._rows:,} rows, {self._files_done:,} of {self._files:,} "
            f"files, {rate:,.0f} rows/s"
        )
        if not (self._bytes and rate):
            return line
        rows_a_byte = self._rows_of_files / self._bytes
        ahead = self._rows - self._rows_of_files
        rows_left = max(0, self._bytes_left * rows_a_byte - ahead)
        left = datetime.timedelta(seconds=round(rows_left / rate))
        return f"{line}, {left} left"
