"""Corpora that are published at an address, with their checksums."""

import collections
import os
import pathlib
import tempfile

import keras

from keras_selfattn.checksums import file_checksum

Published = collections.namedtuple("Published", ("url", "sha256"))

# The file names are those of the publishers.
PUBLISHED = {
    "snli_1.0.zip": Published(
        "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
        "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
    ),
    "multinli_1.0.zip": Published(
        "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
        "049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
    ),
}


def download(path: str | os.PathLike) -> pathlib.Path:
    """Downloads a published corpus, unless it is there already.

    The file appears under its name only when it is complete and has the
    published checksum. One that is there is checked too, and never replaced.

    Args:
        path: Path of the file, whose name must be that of the publisher:
            `snli_1.0.zip` (95 MB) or `multinli_1.0.zip` (227 MB). Its folder
            is made if there is none.

    Returns:
        The path, a `pathlib.Path`.

    Raises:
        ValueError: if no corpus is published under that name, or the file has
            another checksum.
        OSError: if it can't be downloaded.
    """
    path = pathlib.Path(path)
    if path.name not in PUBLISHED:
        raise ValueError(
            "A file that can be downloaded must be named "
            f"{' or '.join(PUBLISHED)}. Received: {path}"
        )
    url, sha256 = PUBLISHED[path.name]
    if path.exists():
        found = file_checksum(path)
        if found != sha256:
            raise ValueError(
                f"{path}: expected the SHA-256 {sha256}, received {found}; "
                "move the file away to download it again"
            )
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f".{path.name}.", dir=path.parent
    ) as beside:
        try:
            file = keras.utils.get_file(
                path.name, url, file_hash=sha256, cache_dir=beside
            )
        except ValueError as error:
            raise ValueError(
                f"{url}: expected the SHA-256 {sha256}, received another; "
                "nothing was kept"
            ) from error
        # Nothing more special is raised for an answer such as 404.
        except Exception as error:
            raise OSError(f"Can't download {url}: {error}") from error
        os.replace(file, path)
    return path
