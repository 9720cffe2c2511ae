"""The official distributions of SNLI 1.0 and MultiNLI 1.0."""

import os
import pathlib
import re
from collections.abc import Iterable
from collections.abc import Iterator

from keras_selfattn.data.checked_texts import MAX_BAD_RATE
from keras_selfattn.data.checked_texts import CheckedTexts
from keras_selfattn.data.checked_texts import Row
from keras_selfattn.data.compression import SUFFIXES
from keras_selfattn.data.compression import without_compression
from keras_selfattn.data.delimited import read_unquoted
from keras_selfattn.data.json_lines import read_json_lines
from keras_selfattn.data.lines import archive_members
from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import place
from keras_selfattn.data.text_lines import not_empty

LABELS = ("entailment", "neutral", "contradiction")

_NO_GOLD_LABEL = "-"
_SENTENCES = ("sentence1", "sentence2")
_PARSES = tuple(
    f"{sentence}_{kind}"
    for sentence in _SENTENCES
    for kind in ("parse", "binary_parse")
)
_READERS = {".jsonl": read_json_lines, ".txt": read_unquoted}
# snli_1.0/snli_1.0_dev.jsonl, multinli_1.0/multinli_1.0_dev_matched.txt
_MEMBER = re.compile(r"(?:.*/)?[^/]*?_\d+\.\d+_(\w+)(\.jsonl|\.txt)")

# In a Penn tree only words stand before a closing bracket.
_PENN_LEAF = re.compile(r"([^()\s]+)\)")
_BINARY_LEAF = re.compile(r"[^()\s]+")
_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}


class NaturalLanguageInference(CheckedTexts):
    """Pairs of SNLI or MultiNLI, streamed anew each time it is iterated.

    Iterating gives `((premise, hypothesis), label)`; `rows` also gives the
    genre and the pair's id. Pairs whose `gold_label` is `-`, on which the
    annotators didn't agree, are left out and counted.

    Args:
        path: Path of a `.jsonl` or `.txt` file of the distribution, which may
            have `.gz` behind, or of the `.zip` archive as downloaded, which
            is read without unpacking it.
        split: For an archive, the name of the part that is read: `"train"`,
            `"dev"`, `"test"`, or `"dev_matched"` and `"dev_mismatched"` of
            MultiNLI.
        use_parses: Boolean, whether a sentence is the words of its parse,
            where there is one, with spaces in between.
        genres: Collection of the genres that are read, or `None` for all.
        labelled: Boolean; otherwise each label is `None` and no pair is left
            out.
        max_bad_rate: Number from 0 to 1, the largest share of bad rows; see
            `keras_selfattn.data.checked_texts.CheckedTexts`.

    Attributes:
        report: The `Report` of the latest pass, `None` before the first.

    Raises:
        FileNotFoundError: if there is no such archive.
        ValueError: if `path` has another suffix or `split` is not in it, and
            while reading as `CheckedTexts` does.

    References:
        - [Bowman et al. 2015](https://arxiv.org/abs/1508.05326)
        - [Williams et al. 2018](https://arxiv.org/abs/1704.05426)

    Example:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "snli_1.0_dev.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("gold_label\\tsentence1\\tsentence2\\n")
    ...         _ = file.write("neutral\\tA dog runs.\\tA dog is late.\\n")
    ...         _ = file.write("-\\tA dog runs.\\tIt is far away.\\n")
    ...     pairs = NaturalLanguageInference(path)
    ...     print(list(pairs))
    ...     print(pairs.report)
    [(('A dog runs.', 'A dog is late.'), 'neutral')]
    2 rows, left out: 1 without gold label
    """

    def __init__(
        self,
        path: str | os.PathLike,
        split: str | None = None,
        use_parses: bool = True,
        genres: Iterable[str] | None = None,
        labelled: bool = True,
        max_bad_rate: float = MAX_BAD_RATE,
    ) -> None:
        super().__init__(labelled, LABELS, max_bad_rate)
        if isinstance(genres, str):
            raise ValueError(
                f"`genres` must be a collection. Received: genres={genres!r}"
            )
        self.path = pathlib.Path(path)
        self.split = split
        self.use_parses = use_parses
        self.genres = None if genres is None else frozenset(genres)
        self._member, suffix = _find(self.path, split)
        self._reader = _READERS[suffix]

    def read(self) -> Iterator[Row | ValueError]:
        name = place(self.path, self._member)
        fields = ("gold_label", *_SENTENCES) if self.labelled else _SENTENCES
        optional = ("genre", "pairID", *(_PARSES if self.use_parses else ()))
        rows = self._reader(self.path, fields, optional, self._member)
        left_out = set()
        empty = True
        for number, record in not_empty(rows, name):
            if not isinstance(record, ValueError):
                genre = record["genre"]
                if self.genres is not None and genre not in self.genres:
                    left_out.add(genre)
                    continue
                try:
                    record = self._row(name, number, record)
                except ValueError as error:
                    record = error
            empty = False
            yield record
        if empty:
            raise ValueError(
                f"`genres` must have one of {sorted(left_out)}, which are in "
                f"{name}. Received: {sorted(self.genres or ())}"
            )

    def _row(self, name, number, record):
        label = record.get("gold_label")
        sentences = []
        for field in _SENTENCES:
            words = []
            if self.use_parses:
                words = _words(
                    record[f"{field}_parse"], _PENN_LEAF, name, number
                ) or _words(
                    record[f"{field}_binary_parse"], _BINARY_LEAF, name, number
                )
            sentences.append(" ".join(words) or record[field])
        return Row(
            name,
            number,
            tuple(sentences),
            None if label == _NO_GOLD_LABEL else label,
            record["genre"] or None,
            record["pairID"] or None,
        )


def _find(path, split):
    """The member of an archive, if it is one, and the suffix of the file."""
    name = path.name.lower()
    if not name.endswith(".zip"):
        if split is not None:
            raise ValueError(
                f"`split` names a part of a .zip archive, and {path} is none. "
                f"Received: split={split!r}"
            )
        suffix = pathlib.PurePath(without_compression(name)).suffix
        if suffix not in _READERS:
            raise ValueError(
                "`path` must end in .jsonl or .txt, with or without "
                f"{', '.join(SUFFIXES)} behind, or in .zip. Received: {path}"
            )
        return None, suffix
    matches = map(_MEMBER.fullmatch, archive_members(path))
    members = {match.groups(): match[0] for match in matches if match}
    for suffix in _READERS:
        if (split, suffix) in members:
            return members[split, suffix], suffix
    splits = sorted({name for name, _ in members})
    raise ValueError(
        f"`split` must be one of those in {path}: "
        f"{', '.join(splits) or 'there are none'}. Received: split={split!r}"
    )


def _words(parse, leaf, name, number):
    """The words of a parse as they stood in the sentence."""
    if parse.count("(") != parse.count(")"):
        raise line_error(name, number, "a parse of paired brackets", parse)
    return [
        # The treebank escapes these two.
        _BRACKETS.get(word, word).replace("\\/", "/").replace("\\*", "*")
        for word in leaf.findall(parse)
    ]
