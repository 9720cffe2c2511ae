"""Folders of PAN's author profiling task."""

import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from keras_selfattn import validation
from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.checked_texts import CheckedTexts
from keras_selfattn.data.checked_texts import Row
from keras_selfattn.data.lines import line_error
from keras_selfattn.data.text_lines import check_text
from keras_selfattn.data.text_lines import read_text_lines

TRUTH_FILE = "truth.txt"

_COLUMNS = ("gender", "age_group")
_LABELS = {
    "gender": re.compile("male|female|m|f"),
    # 18-24, 65-xx, 10s
    "age_group": re.compile(r"\d\d(-\d\d|-xx|-plus|\+|s)"),
}
_UNKNOWN = {"gender": "unknown", "age_group": "xx-xx"}
_LARGEST = 1 << 26


class AuthorProfiling(CheckedTexts):
    """Documents of authors, labeled with the author's age group or gender.

    The folder holds a `.xml` file for each author, named by their id, whose
    `document` elements are the rows, and `truth.txt` with a line for each
    author: `id:::gender:::age group`, and whatever else behind. Labels are
    lowercased. Documents of authors whose age group is `XX-XX` or who are not
    in `truth.txt` have no gold label.

    The XML files may not declare a document type, so no entity of theirs is
    ever expanded, and hold 64 MiB at most. One that is not well-formed is one
    malformed row.

    Args:
        path: Path of the folder.
        label: `"age_group"` or `"gender"`; with `None`, each label is `None`,
            no row is left out, and no `truth.txt` is needed.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows; see
            `keras_selfattn.data.checked_texts.CheckedTexts`.

    Attributes:
        report: The `Report` of the latest pass, `None` before the first.

    Raises:
        ValueError: if an argument is not as expected, and while reading as
            `CheckedTexts` does.
        FileNotFoundError: while reading, if there is no `truth.txt`.

    References:
        - [Rangel et al. 2016](https://ceur-ws.org/Vol-1609/16090750.pdf)
    """

    def __init__(
        self,
        path: str | os.PathLike,
        label: str | None = "age_group",
        max_bad_rate: float = MAX_BAD_RATE,
    ) -> None:
        super().__init__(label is not None, None, max_bad_rate)
        validation.one_of(label, (*_LABELS, None), "label")
        self.path = pathlib.Path(path)
        if not self.path.is_dir():
            raise ValueError(
                "`path` must be a folder of .xml files and a truth.txt. "
                f"Received: {path}"
            )
        self.label = label

    def knows(self, label: Any) -> bool:
        return _LABELS[str(self.label)].fullmatch(label) is not None

    def read(self) -> Iterator[Row | ValueError]:
        files = sorted(self.path.glob("*.xml"))
        if not files:
            raise ValueError(f"Expected .xml files in {self.path}, found none")
        labels = {}
        if self.labelled:
            for row in self._read_truth({file.stem for file in files}):
                if isinstance(row, ValueError):
                    yield row
                else:
                    labels.update([row])
        for file in files:
            try:
                documents = _documents(file)
            except ValueError as error:
                yield error
                continue
            for number, text in documents:
                yield Row(file, number, text, labels.get(file.stem))

    def _read_truth(self, names):
        """Yields pairs of an author and a label, or what is wrong."""
        truth = self.path / TRUTH_FILE
        known = set()
        column = _COLUMNS.index(self.label)
        for number, line in enumerate(read_text_lines(truth), 1):
            if not line.strip():
                continue
            try:
                check_text(truth, number, line)
                author, *cells = [cell.strip() for cell in line.split(":::")]
                expected = None
                if len(cells) <= column:
                    expected = ":::".join(("author", *_COLUMNS))
                elif author in known:
                    expected = "each author once"
                elif author not in names:
                    expected = f"an author with a file {author}.xml"
                if expected is not None:
                    raise line_error(truth, number, expected, repr(line))
            except ValueError as error:
                yield error
                continue
            label = cells[column].lower()
            known.add(author)
            yield author, None if label == _UNKNOWN[self.label] else label


class _Declaration(Exception):
    """A document type is declared."""


def _documents(path):
    """The documents of a file, each with the number of its line."""
    size = path.stat().st_size
    if size > _LARGEST:
        raise line_error(path, 1, f"at most {_LARGEST} bytes", f"{size}")
    documents = []
    parts = None
    parser = expat.ParserCreate()

    def refuse(*declaration):
        # Entities are declared there: of other files, or that grow.
        raise _Declaration

    def start(name, attributes):
        nonlocal parts
        if name == "document":
            parts = []
            documents.append((parser.CurrentLineNumber, parts))

    def end(name):
        nonlocal parts
        if name == "document":
            parts = None

    def keep(text):
        if parts is not None:
            parts.append(text)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = keep
    try:
        with open(path, "rb") as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        raise line_error(
            path,
            error.lineno,
            "well-formed XML",
            expat.errors.messages[error.code],
        ) from error
    except _Declaration:
        raise line_error(
            path,
            parser.CurrentLineNumber,
            "no document type declaration",
            "one",
        ) from None
    # Of encodings that expat asks Python for.
    except (LookupError, ValueError) as error:
        raise line_error(
            path, 1, "an encoding that can be read", str(error)
        ) from error
    if not documents:
        raise line_error(path, 1, "at least one document", "none")
    return [(number, "".join(parts)) for number, parts in documents]
