"""The command `prepare`."""

from keras_selfattn.cli import corpora
from keras_selfattn.cli import training
from keras_selfattn.cli.notes import note
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.options import overrides
from keras_selfattn.cli.own_texts import own_recipe
from keras_selfattn.cli.starting import start_keras
from keras_selfattn.data.corpora import together
from keras_selfattn.encoding.shards import expanded
from keras_selfattn.validation import integer


def add_commands(commands):
    parser = add_command(commands, prepare)
    training.add_recipe(parser)
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that work at a time (default: the number of cores)",
    )
    parser.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="of a Ray cluster that has the processes instead, one a core; "
        "its machines must see all paths",
    )
    training.add_run(parser, "preparation", "; a file is one process's")


def prepare(options):
    """Make texts of many files into ids, for `train` to read."""
    if options.workers is not None:
        integer(options.workers, "--workers")
        if options.ray_address is not None:
            raise ValueError("Expected --workers or --ray-address, not both")
    corpora.refuse_prepared([*options.data, options.dev], "prepare")
    recipe = training.asked_recipe(options)
    files = expanded(options.data)
    for file in files:
        corpora.check_dev(options, file)
    texts = corpora.open_splits(files, options, options.split, "train")
    dev = training.open_dev(files, options)
    model_overrides, training_overrides = overrides(options)
    vectors = options.vectors
    if recipe is None:
        recipe, vectors = own_recipe(texts[0], vectors, model_overrides)
    start_keras()
    from keras_selfattn.training import prepare_shards

    done = prepare_shards(
        recipe.preset,
        texts,
        together(dev),
        options.output,
        vectors=vectors,
        resume=options.resume,
        model_overrides={**recipe.model, **model_overrides},
        training_overrides=training.over_recipe(recipe, training_overrides),
        processes=options.workers,
        ray_address=options.ray_address,
    )
    for path, said in done["left_out"].items():
        note(f"{path}: {said}")
    corpora.report_left_out(*dev)
    print(
        f"{done['rows']:,} texts of {done['tokens']:,} tokens are in "
        f"{done['shards']:,} shards in {options.output}"
    )
