"""What became of the files of a corpus."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Encoded:
    """The counts of what was encoded.

    Attributes:
        files: Integer, the number of files that were written.
        found: Integer, the number of files that were there already.
        rows: Integer, the rows of all of them.
        bad: Integer, how many of these had no text that could be read.
        first: String that says where the first of these is and what is wrong
            with it, or `None`.
    """

    files: int
    found: int
    rows: int
    bad: int
    first: str | None

    def __str__(self):
        there = f", {self.found:,} more were there" if self.found else ""
        return f"{self.rows:,} rows; {self.files:,} files written{there}"
