"""Which file is written for which file of texts."""

import dataclasses
import glob
import os
import pathlib

from keras_selfattn.checksums import ends_checksum
from keras_selfattn.data.compression import without_compression
from keras_selfattn.data.pipes import is_standard_input

SUFFIX = ".parquet"

_FORMATS = (".jsonl", ".json", ".csv", ".tsv", ".txt", SUFFIX)


@dataclasses.dataclass(frozen=True)
class Shard:
    """A file of texts, and the Parquet file that is written for it.

    Attributes:
        source: Path of the file of texts, as a string.
        output: Path of the Parquet file, as a string.
        size: Integer, the bytes of the file of texts.
    """

    source: str
    output: str
    size: int

    def made_of(self):
        """What tells that the file of texts is the one that was encoded."""
        return {
            "file": pathlib.Path(self.source).name,
            "bytes": self.size,
            "sha256 of both ends": ends_checksum(self.source, self.size),
        }


def is_pattern(file):
    """Whether a name stands for the files that match it."""
    return glob.has_magic(str(file)) and not os.path.lexists(file)


def expanded(files):
    """The paths of files and of what matches patterns.

    Args:
        files: Sequence of paths, and of patterns such as `"part-*"`, whose
            files come in the order of their names.

    Returns:
        List of strings.

    Raises:
        ValueError: if nothing matches a pattern.
    """
    found = []
    for file in map(str, files):
        if not is_pattern(file):
            found.append(file)
            continue
        matching = sorted(
            path
            for path in glob.glob(file, recursive=True)
            if os.path.isfile(path)
        )
        if not matching:
            raise ValueError(f"There is no file that matches {file}")
        found += matching
    return found


def shards_of(files, output):
    """What is to be written for some files of texts.

    A file's folders below the one that all are in are kept.

    Args:
        files: List of paths.
        output: Path of the folder to write to.

    Returns:
        List of `Shard`.

    Raises:
        ValueError: if a file of texts is missing or standard input, or two
            of them, or one and its output, would have one name.
    """
    for file in files:
        if is_standard_input(file) or not os.path.isfile(file):
            raise ValueError(
                "A folder of Parquet files is written for files of texts. "
                f"Received: {file}, which is none"
            )
    paths = [pathlib.Path(os.path.abspath(file)) for file in files]
    common = os.path.commonpath([path.parent for path in paths])
    folder = pathlib.Path(os.path.abspath(output))
    found = {}
    for path in paths:
        name = path.relative_to(common).with_name(_stem(path) + SUFFIX)
        target = folder / name
        if target in found:
            raise ValueError(
                f"{path} and {found[target].source} would both be written to "
                f"{target}: encode them into two folders"
            )
        if os.path.realpath(target) == os.path.realpath(path):
            raise ValueError(
                "The folder to write must not be the one of the texts. "
                f"Received: {output}"
            )
        found[target] = Shard(str(path), str(target), path.stat().st_size)
    return list(found.values())


def _stem(path):
    name = pathlib.PurePath(without_compression(path.name))
    return name.stem if name.suffix.lower() in _FORMATS else name.name
