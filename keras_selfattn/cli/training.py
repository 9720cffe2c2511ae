"""Commands that train: `train` and `tune`."""

import contextlib
import pathlib

from keras_selfattn import zoo
from keras_selfattn.cli import corpora
from keras_selfattn.cli import models
from keras_selfattn.cli import workers
from keras_selfattn.cli.duration import noted_duration
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.options import add_training
from keras_selfattn.cli.options import check_once
from keras_selfattn.cli.options import check_seed
from keras_selfattn.cli.options import choices
from keras_selfattn.cli.options import overrides
from keras_selfattn.cli.own_texts import own_recipe
from keras_selfattn.cli.own_texts import recipe_of_prepared
from keras_selfattn.cli.starting import start_keras
from keras_selfattn.cli.trained import print_best
from keras_selfattn.cli.trained import write_card
from keras_selfattn.data.corpora import expect
from keras_selfattn.data.corpora import together
from keras_selfattn.data.splitting import split
from keras_selfattn.encoding.shards import expanded
from keras_selfattn.locks import folder_held
from keras_selfattn.models.groups import GROUPS
from keras_selfattn.models.presets import get_preset
from keras_selfattn.models.presets import list_presets
from keras_selfattn.training.ending import finished_history
from keras_selfattn.training.settings import DATA_FOLDER
from keras_selfattn.training.settings import check_new
from keras_selfattn.training.settings import is_prepared
from keras_selfattn.training.values import preset_of
from keras_selfattn.training.values import training_values


def add_commands(commands):
    _add_train(commands)
    _add_tune(commands)


def _add_train(commands):
    parser = add_command(commands, train)
    add_recipe(parser).add_argument(
        "--from",
        dest="start",
        metavar="MODEL",
        help="a trained model to start from, as `predict` takes it: its "
        "weights, words and settings, with a new last layer for other labels",
    )
    parser.add_argument(
        "--freeze",
        metavar="GROUP",
        action="append",
        default=[],
        choices=[group.replace(" ", "_") for group in GROUPS],
        help="with --from: a group of layers whose weights stay, of "
        "%(choices)s; may be given several times",
    )
    parser.add_argument(
        "--teacher",
        dest="teachers",
        metavar="MODEL",
        action="append",
        default=[],
        help="a trained model of the same labels, as `predict` takes it, whose "
        "answers are learned beside the labels (how much of either: --set "
        "student_loss_weight=0.3); may be given several times",
    )
    parser.add_argument(
        "--seed", type=int, help="(default: 0, or the recipe's)"
    )
    parser.add_argument(
        "--keep-checkpoint",
        action="store_true",
        help="keep what a finished run needs to go on with more --epochs",
    )
    parser.add_argument(
        "--checkpoint-minutes",
        type=float,
        metavar="N",
        help="keep what --resume goes on from every so many minutes, and not "
        "only at the end of an epoch",
    )
    models.add_verify(parser)
    workers.add_workers(parser)
    corpora.add_dev_fraction(parser)
    add_run(parser, "run", ", or one folder that `prepare` has made")


def _add_tune(commands):
    parser = add_command(commands, tune)
    add_recipe(parser)
    parser.add_argument(
        "--tuner",
        choices=("random", "hyperband", "grid", "bayesian"),
        default="random",
    )
    parser.add_argument(
        "--trials", type=int, help="at most (default: 20, or by --time alone)"
    )
    parser.add_argument(
        "--time", type=float, metavar="MINUTES", help="how long at most"
    )
    parser.add_argument(
        "--search",
        metavar="NAME=[VALUE,...]",
        action="append",
        default=[],
        type=choices,
        help="values to search of an argument, such as units=[50,100]",
    )
    parser.add_argument(
        "--only",
        action="store_true",
        help="search nothing but what --search names",
    )
    parser.add_argument("--seed", type=int, default=0)
    corpora.add_dev_fraction(parser)
    add_run(parser, "search")


def add_recipe(parser):
    """The options of a preset or a recipe, one of which may be given."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--preset",
        help="one that `presets` lists (default: settings for one's own "
        "texts, with --vectors or the installed ones that English texts take, "
        "or without, or for pairs)",
    )
    chosen.add_argument(
        "--recipe",
        help="a preset with all settings: own_texts or own_pairs, for one's "
        "own texts without installed vectors, or that of a trained model, "
        "such as snli_decomposable",
    )
    return chosen


def add_run(parser, kind, more=""):
    """What a command reads and writes.

    Args:
        parser: The command's parser.
        kind: What the folder is that it writes, such as `"run"`.
        more: What else is to be said of the files, as a string.
    """
    parser.add_argument(
        "data",
        nargs="+",
        help="training texts: .jsonl, .csv, .tsv or .parquet, - for standard "
        "input, or the .zip archive of SNLI or MultiNLI as downloaded, or "
        "PAN's folder of authors; several of them, and patterns in quotes, "
        f"such as 'part-*.jsonl.zst'{more}",
    )
    corpora.add_dev(parser)
    parser.add_argument(
        "--dev-split",
        metavar="NAME",
        help="of the dev texts (default: dev; MultiNLI has dev_matched and "
        "dev_mismatched in its place)",
    )
    parser.add_argument(
        "--output", required=True, help=f"folder of the {kind}, a new one"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help=f"go on with the {kind} in --output",
    )
    parser.set_defaults(resumable=kind)
    corpora.add_columns(parser)
    add_training(parser)


def how_to_resume(options):
    """What is to be said where a command was interrupted, as a string."""
    kind = getattr(options, "resumable", None)
    # All begin with a file of their settings.
    if kind is None or not any(pathlib.Path(options.output).glob("*.json")):
        return ""
    return f"; with --resume the {kind} goes on"


def train(options):
    """Train a model on labeled texts."""
    check_seed(options)
    recipe = asked_recipe(options)
    if workers.are_to_start(options):
        _check_new(options)
        return workers.run_workers(options)
    with workers.losses_coded():
        if not workers.writes(options):
            return _train(options, recipe, writes=False)
        # Until the model card is written, too.
        with folder_held(options.output):
            _check_new(options)
            return _train(options, recipe)


def _check_new(options):
    if not options.resume:
        check_new(pathlib.Path(options.output), "run", DATA_FOLDER)


def _train(options, recipe, writes=True):
    seed = options.seed
    if seed is None:
        seed = 0 if recipe is None else recipe.seed
    for name in [*filter(None, [options.start]), *options.teachers]:
        models.check_folder(name)
    prepared = any(map(is_prepared, options.data))
    if prepared:
        corpora.refuse_columns(options)
        whole, dev_corpus = [], None
        corpus = pathlib.Path(options.data[0])
    else:
        corpora.refuse_prepared([options.dev], "--dev")
        whole, corpus, dev_corpus = _open_corpora(options, seed)
    model_overrides, training_overrides = overrides(options)
    vectors = options.vectors
    if options.start is not None:
        recipe = zoo.Recipe(None)
    elif recipe is None and prepared:
        recipe, vectors = recipe_of_prepared(corpus, vectors, model_overrides)
    elif recipe is None:
        recipe, vectors = own_recipe(corpus, vectors, model_overrides, writes)
    was_finished = (
        writes and options.resume and finished_history(options.output)
    )
    start_keras()
    strategy = workers.make_strategy(options)
    from keras_selfattn import training
    from keras_selfattn.model_card import read_model_card

    if prepared:
        corpus = training.PreparedFolder(corpus, options.verify)
    with contextlib.ExitStack() as stack:
        if writes and not was_finished:
            stack.enter_context(noted_duration(options.output))
        model = training.train(
            recipe.preset,
            corpus,
            dev_corpus,
            options.output,
            vectors=vectors,
            seed=seed,
            resume=options.resume,
            model_overrides={**recipe.model, **model_overrides},
            training_overrides=over_recipe(recipe, training_overrides),
            keep_checkpoint=options.keep_checkpoint,
            verify=options.verify,
            start=options.start,
            freeze=options.freeze,
            strategy=strategy,
            checkpoint_minutes=options.checkpoint_minutes,
            teachers=options.teachers,
        )
    if not writes:
        return
    if was_finished and read_model_card(options.output) is not None:
        print("The run was finished before: there was nothing to go on with")
    else:
        # Where it has ended before, none has told them.
        expect(dev_corpus, model.labels)
        write_card(model, options, corpus, dev_corpus, recipe)
        corpora.report_left_out(*whole)
    print_best(model, options)


def tune(options):
    """Search a model's arguments and its training, by KerasTuner."""
    check_seed(options)
    corpora.refuse_prepared([*options.data, options.dev], "tune")
    recipe = asked_recipe(options)
    whole, corpus, dev_corpus = _open_corpora(options, options.seed)
    model_overrides, training_overrides = overrides(options)
    fixed = {
        # A list would be searched.
        name: tuple(value) if isinstance(value, list) else value
        for name, value in {**model_overrides, **training_overrides}.items()
    }
    check_once(name for name, _ in options.search)
    searched = dict(options.search)
    if both := sorted(fixed.keys() & searched.keys()):
        raise ValueError(f"Both set and to be searched: {', '.join(both)}")
    epochs = fixed.pop("epochs", None)
    vectors = options.vectors
    if recipe is None:
        given = {**model_overrides, **searched}
        recipe, vectors = own_recipe(corpus, vectors, given)
    start_keras()
    from keras_selfattn import tuning

    model = tuning.search(
        recipe,
        corpus,
        dev_corpus,
        options.output,
        tuner=options.tuner,
        trials=options.trials,
        minutes=options.time,
        epochs=epochs,
        vectors=vectors,
        seed=options.seed,
        arguments={**fixed, **searched},
        papers_space=not options.only,
        resume=options.resume,
    )
    corpora.report_left_out(*whole)
    # A worker of a search leaves the model to its chief.
    if model is not None:
        write_card(model, options, corpus, dev_corpus, recipe)
        print_best(model, options)


def asked_recipe(options):
    """The recipe or the preset that is asked for by name, or `None`."""
    if options.recipe is not None:
        recipe = zoo.get_recipe(options.recipe)
        return recipe.with_vectors() if options.vectors else recipe
    if options.preset is None:
        return None
    # A preset's name may be that of a folder, too, such as its run's.
    is_preset = options.preset in list_presets()
    if not is_preset and pathlib.Path(options.preset).is_dir():
        raise ValueError(
            "`--preset` takes the name of a preset; `train --from` starts from "
            f"a trained model. Received: the folder {options.preset}"
        )
    get_preset(options.preset)
    return zoo.Recipe(options.preset)


def _open_corpora(options, seed):
    """The corpora to report on, and the training and dev texts."""
    fraction = options.dev_fraction
    files = expanded(options.data)
    for file in files:
        corpora.check_dev(options, file, fraction)
    whole = corpora.open_splits(files, options, options.split, "train")
    corpus = together(whole)
    if fraction is not None:
        return whole, *split(corpus, fraction, seed)
    dev = open_dev(files, options)
    return [*whole, *dev], corpus, together(dev)


def open_dev(files, options):
    """The dev texts, a list of corpora, of `--dev` or else of the files."""
    paths = [options.dev] if options.dev is not None else files
    return corpora.open_splits(paths, options, options.dev_split, "dev")


def over_recipe(recipe, training_overrides):
    """The training values of a recipe with those that are given.

    Args:
        recipe: The `Recipe`, whose preset is `None` where the values are those
            of a trained model.
        training_overrides: Dictionary of those that are given.
    """
    if not recipe.training:
        return training_overrides
    return training_values(preset_of(recipe), training_overrides)
