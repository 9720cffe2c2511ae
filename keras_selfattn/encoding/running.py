"""Whole corpora encoded, in this process or by workers."""

import contextlib
import os
import pathlib
from collections.abc import Callable
from collections.abc import Sequence

from keras_selfattn import validation
from keras_selfattn.checksums import folder_checksum
from keras_selfattn.data.bad_rows import BadRows
from keras_selfattn.data.bad_rows import check_some_row
from keras_selfattn.data.parquet import pyarrow
from keras_selfattn.data.text_lines import NoRecords
from keras_selfattn.encoding.encoded import Encoded
from keras_selfattn.encoding.progress import Progress
from keras_selfattn.encoding.shards import SUFFIX
from keras_selfattn.encoding.shards import expanded
from keras_selfattn.encoding.shards import shards_of
from keras_selfattn.encoding.views import DEFAULT
from keras_selfattn.encoding.views import check_views
from keras_selfattn.encoding.work import Work
from keras_selfattn.files import UNFINISHED
from keras_selfattn.first_use import import_tensorflow
from keras_selfattn.locks import folder_held
from keras_selfattn.zoo.folders import find_model
from keras_selfattn.zoo.folders import find_saved_model


def encode_files(
    model: str | os.PathLike,
    files: Sequence,
    output: str | os.PathLike,
    give: Sequence[str] = DEFAULT,
    workers: int | None = None,
    ray_address: str | None = None,
    verify: bool = True,
    on_progress: Callable | None = None,
    format: str | None = None,
    split: str | None = None,
    text: str | None = None,
    text_pair: str | None = None,
    delimiter: str | None = None,
) -> Encoded:
    """Write what a model makes of files of texts, a Parquet file for each.

    A Parquet file has a row for each row of its texts, in their order. It
    gets its name when it is complete, and one that is there already is left
    as it is: after a crash, the same call goes on. Of rows without a text
    that can be read, labels are `""`, numbers NaN, and lists missing.

    Args:
        model: Path of the folder of a run, of a model, of one version of an
            export, or of its versions, whose newest is taken; or the name of
            a trained model, as `keras_selfattn.models.from_preset` takes it.
        files: Sequence of paths, and of patterns such as `"part-*"`, of files
            that `keras_selfattn.data.open_corpus` reads.
        output: Path of the folder to write to. A file keeps its name, with
            `.parquet` in the place of its format, and the folders below the
            one that all files are in.
        give: Which columns there are: `"label"`; `"probabilities"`, one
            column a label; `"embedding"`; and `"attention"`, the tokens of
            each text and, for each head, the weight of each token. Pairs have
            the last two of each side.
        workers: Integer, the number of processes on this machine, of one
            core each, which Ray runs; of all machines with `ray_address`,
            where it defaults to their number of cores. Defaults to none:
            this process does it alone, on all cores.
        ray_address: Address of a Ray cluster whose machines see all paths
            under the same names.
        verify: Boolean, whether the model's files must be those that were
            written.
        on_progress: Function that is given a line about the progress every
            ten seconds.
        format: As in `keras_selfattn.data.open_corpus`, as are the others.
        split: As there.
        text: As there.
        text_pair: As there.
        delimiter: As there.

    Returns:
        An `Encoded`.

    Raises:
        ValueError: if there is no such model or file; if the folder has a
            file that was written with another model, of other texts or other
            columns; if another process is writing it; or, once all others are
            written, if files could not be read.
        ImportError: if pyarrow is not installed, or Ray for workers.
        OSError: if a disk is full, or workers died again and again at one
            file.

    Example:

    >>> import pathlib, tempfile
    >>> from keras_selfattn.models import SentenceClassifier
    >>> from keras_selfattn.text import TextPreprocessor
    >>> model = SentenceClassifier(
    ...     preprocessor=TextPreprocessor(["a", "dog", "cat"]),
    ...     labels=["no", "yes"], embedding_dim=4, units=3,
    ...     pooling="max", hidden_units=6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     folder = pathlib.Path(folder)
    ...     model.save_to_preset(folder / "model")
    ...     for part in (1, 2):
    ...         _ = (folder / f"part-{part}.txt").write_text("a dog\\na cat\\n")
    ...     print(encode_files(
    ...         folder / "model", [folder / "part-*"], folder / "out"))
    4 rows; 2 files written
    """
    give = check_views(give)
    pyarrow()
    if workers is not None:
        validation.integer(workers, "workers")
    shards = shards_of(expanded(files), output)
    reading = {
        "format": format,
        "split": split,
        "text": text,
        "text_pair": text_pair,
        "delimiter": delimiter,
    }
    folder = _folder(model)
    work = Work(
        os.path.abspath(folder),
        folder_checksum(folder),
        tuple(give),
        verify,
        reading,
    )
    output = pathlib.Path(output)
    with folder_held(output):
        for path in output.rglob(f".*{SUFFIX}.*{UNFINISHED}"):
            path.unlink(missing_ok=True)
        return _encode(work, shards, workers, ray_address, on_progress)


def _encode(work, shards, workers, ray_address, on_progress):
    done = {shard: work.done(shard) for shard in shards}
    left = [shard for shard in shards if done[shard] is None]
    found = len(shards) - len(left)
    progress = Progress(shards, done, on_progress)
    if left:
        # What is wrong with the columns is said before anything is loaded.
        _check_some_file(work, left, found)
        for shard in left:
            pathlib.Path(shard.output).parent.mkdir(parents=True, exist_ok=True)
        run = _alone(work, left, progress)
        if workers is not None or ray_address is not None:
            from keras_selfattn.encoding.workers import run_workers

            run = run_workers(work, left, progress, workers, ray_address)
        faults = []
        with contextlib.closing(run):
            for shard, result in run:
                if isinstance(result, ValueError):
                    faults.append(result)
                    progress.gave_up(shard)
                else:
                    done[shard] = result
                    progress.finished(shard, result["rows"])
        if faults:
            raise ValueError(
                f"{len(faults):,} of {len(shards):,} files could not be "
                f"encoded, the others are; the first: {faults[0]}"
            )
    total = BadRows()
    for shard in shards:
        total.add(**done[shard])
    return Encoded(len(left), found, total.rows, total.bad, total.first)


def _check_some_file(work, shards, found):
    """The first error, where no file begins with a row that can be read.

    Args:
        work: A `Work`.
        shards: List of the `Shard`s that are left, at least one.
        found: Integer, how many others were written before.
    """
    first = empty = None
    for shard in shards:
        try:
            check_some_row(work.open(shard))
            return
        except NoRecords as error:
            # Without rows it has no fault, and those before had the columns.
            if found:
                return
            empty = empty or error
        except ValueError as error:
            first = first or error
    raise first or empty


def _alone(work, shards, progress):
    """Each shard with what was found in it, or the error of its file."""
    import_tensorflow()
    encoder = work.encoder()
    for shard in shards:
        try:
            yield shard, work.run(shard, encoder, progress.add)
        except ValueError as error:
            yield shard, error


def _folder(model):
    folder = find_model(model) or find_saved_model(model)
    if folder is None:
        raise ValueError(f"There is no model in the folder {model}")
    return folder
