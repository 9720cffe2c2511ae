"""The command that learns word vectors from texts: `vectors`."""

import pathlib

from keras_selfattn.cli import corpora
from keras_selfattn.cli.notes import note
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.starting import start_keras
from keras_selfattn.cli.tables import check_folder_of
from keras_selfattn.data.bad_rows import TextsOf
from keras_selfattn.encoding.shards import expanded
from keras_selfattn.locks import path_held

_SUFFIXES = (".txt", ".txt.gz")


def add_commands(commands):
    parser = add_command(commands, vectors)
    corpora.add_files(parser)
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="what `train --vectors` takes, ending in "
        f"{' or '.join(_SUFFIXES)}",
    )
    corpora.add_text_columns(parser)
    parser.set_defaults(label=None)


def vectors(options):
    """Learn word vectors from texts, labeled or not, for `train --vectors`."""
    output = pathlib.Path(options.output)
    if not output.name.lower().endswith(_SUFFIXES):
        raise ValueError(
            f"The file to write must end in {' or '.join(_SUFFIXES)}. "
            f"Received: {output}"
        )
    files = expanded(options.files)
    check_folder_of(output, files)
    texts = TextsOf(
        corpora.open_corpus(
            path, options, options.split, labelled=False, forgiving=True
        )
        for path in files
    )
    start_keras()
    from keras_selfattn.data import learn_word_vectors
    from keras_selfattn.data import write_word_vectors

    with path_held(output):
        words, table = learn_word_vectors(texts)
        write_word_vectors(output, words, table)
    print(
        f"{len(words):,} words have vectors of {table.shape[1]} numbers in "
        f"{output}"
    )
    if texts.left_out.bad:
        note(
            f"{texts.left_out} are left out; the first: {texts.left_out.first}"
        )
