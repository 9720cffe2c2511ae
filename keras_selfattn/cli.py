"""The command line: one function a command."""

import argparse
import itertools
import json
import logging
import pathlib
import signal
import sys

from keras_selfattn.data import formats
from keras_selfattn.data.checked_texts import MAX_BAD_RATE

PROGRAM = "keras-selfattn"


def main(arguments=None):
    """Run one command.

    Args:
        arguments: List of strings, or `None` for those of the process.

    Returns:
        The exit code: 0; 1 where a row of a reproduction failed, 2 where an
        input is at fault, 130 where the user interrupted. A terminated
        process ends with 143.
    """
    if arguments is None:
        # As an exception, so that what is half-written is cleared away.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        arguments = sys.argv[1:]
    options = make_parser().parse_args(arguments)
    options.arguments = arguments
    try:
        return options.run(options) or 0
    except (ValueError, OSError, ImportError, FloatingPointError) as error:
        message = " ".join(str(error).split())
        print(f"{PROGRAM}: error: {message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return 130


def make_parser():
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Explainable text classifiers: train, look, serve.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = _command(
        commands, "train", run_train, "train a preset on labelled texts"
    )
    train.add_argument(
        "data",
        help="training texts: .jsonl, .csv or .tsv, or the .zip archive of "
        "SNLI or MultiNLI as downloaded, or PAN's folder of authors",
    )
    train.add_argument(
        "--dev", help="dev texts; by default those in the same archive"
    )
    train.add_argument(
        "--output", required=True, help="folder of the run, a new one"
    )
    chosen = train.add_mutually_exclusive_group()
    chosen.add_argument("--preset", default="lin2017_yelp")
    chosen.add_argument(
        "--recipe", help="a preset with all settings, of the model zoo"
    )
    _add_columns(train)
    train.add_argument(
        "--dev-split", metavar="NAME", help="of the dev texts (default: dev)"
    )
    train.add_argument("--seed", type=int, help="(default: 0, or the recipe's)")
    _add_training(train)
    train.add_argument(
        "--resume", action="store_true", help="go on with the run in --output"
    )

    tune = _command(
        commands, "tune", run_tune, "search a preset's arguments, by KerasTuner"
    )
    _add_tuning(tune)

    evaluate = _command(
        commands, "evaluate", run_evaluate, "compare answers with labels"
    )
    evaluate.add_argument("model", help="folder of a run or of a model")
    evaluate.add_argument("data", help="labelled texts")
    _add_columns(evaluate)
    evaluate.add_argument(
        "--faithfulness",
        action="store_true",
        help="also measure how far attention tells what the model relied on",
    )

    predict = _command(commands, "predict", run_predict, "classify texts")
    _add_texts(predict)
    predict.set_defaults(label=None, gold=False)

    explain = _command(
        commands, "explain", run_explain, "show which words count"
    )
    _add_texts(explain)
    explain.add_argument("--label", help="column with the true label")
    explain.set_defaults(gold=True)
    explain.add_argument("--html", help="write one page to this file instead")

    export = _command(
        commands, "export", run_export, "write a SavedModel for serving"
    )
    export.add_argument("model", help="folder of a run or of a model")
    export.add_argument("folder", help="folder of the versions")
    export.add_argument("--version", type=int, default=1)
    export.add_argument(
        "--reduced-precision",
        choices=("bfloat16", "int8"),
        help="store weights in fewer bits; needs --check",
    )
    export.add_argument(
        "--check",
        metavar="FILE",
        help="labelled texts to measure what reduced precision costs; the "
        "export is refused where that is over a point of accuracy",
    )
    _add_columns(export)

    reproduce = _command(
        commands,
        "reproduce",
        run_reproduce,
        "run the rows of a paper's table, beside the published figures",
    )
    reproduce.add_argument("paper", help="lin2017, chen2018 or parikh2016")
    number = reproduce.add_mutually_exclusive_group(required=True)
    number.add_argument("--table", type=int, metavar="N")
    number.add_argument("--figure", type=int, metavar="N")
    reproduce.add_argument(
        "--corpus",
        required=True,
        help="what the texts are: yelp, age, snli or multinli",
    )
    reproduce.add_argument("--train", required=True, help="training texts")
    reproduce.add_argument(
        "--dev", help="dev texts; by default those in the same archive"
    )
    reproduce.add_argument(
        "--test", help="test texts; without, figures are of the dev texts"
    )
    reproduce.add_argument(
        "--mismatched", help="the mismatched texts of MultiNLI"
    )
    reproduce.add_argument(
        "--output",
        required=True,
        help="a new folder, or that of a reproduction to go on with",
    )
    reproduce.add_argument("--rows", help="only these, as in KEY,KEY")
    reproduce.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="runs of each row"
    )
    _add_columns(reproduce)
    _add_training(reproduce)

    _command(
        commands, "presets", run_presets, "list the rows of the papers' tables"
    )

    demo = _command(
        commands, "demo", run_demo, "train, explain and serve, without data"
    )
    demo.add_argument("--output", default="runs/demo", help="a new folder")
    demo.add_argument("--seed", type=int, default=0)
    return parser


def _command(commands, name, run, summary):
    parser = commands.add_parser(name, help=summary, description=summary)
    parser.set_defaults(run=run)
    return parser


def _add_text_columns(parser):
    parser.add_argument("--text", help="column of the text (default: text)")
    parser.add_argument("--text-pair", help="column of a pair's second text")
    parser.add_argument(
        "--format",
        choices=formats.FORMATS,
        help="of the files, if the names don't tell: records of columns, "
        "SNLI's or MultiNLI's own, or PAN's author profiling",
    )
    parser.add_argument(
        "--split",
        metavar="NAME",
        help="the part of an archive, such as train, test or dev_matched",
    )
    parser.add_argument(
        "--download",
        action="store_true",
        help="get snli_1.0.zip or multinli_1.0.zip first, if it isn't there",
    )
    parser.add_argument(
        "--max-bad-rate",
        metavar="SHARE",
        type=float,
        default=MAX_BAD_RATE,
        help="fail if more of the labelled rows are malformed, empty, "
        "repeated or of an unknown label (default: %(default)s)",
    )


def _add_columns(parser):
    _add_text_columns(parser)
    parser.add_argument(
        "--label",
        help="column of the label (default: label); for PAN, gender or "
        "age_group (the default)",
    )


def _corpus(path, options, split=None, labelled=True):
    if options.download:
        from keras_selfattn.data.downloads import PUBLISHED
        from keras_selfattn.data.downloads import download

        file = pathlib.Path(path)
        if file.name in PUBLISHED or not file.exists():
            download(file)
    return formats.open_corpus(
        path,
        options.format,
        split,
        options.text,
        options.label,
        options.text_pair,
        labelled,
        options.max_bad_rate,
    )


def _report_left_out(*corpora):
    for corpus in corpora:
        if corpus.report is not None and corpus.report.counts:
            print(f"{PROGRAM}: {corpus.path}: {corpus.report}", file=sys.stderr)


def _add_training(parser):
    parser.add_argument("--vectors", help="word vectors in text format")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--optimizer")
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_assignment,
        help="an argument of the model or of its training, such as "
        "units=100 or global_clipnorm=1",
    )


def _add_tuning(parser):
    parser.add_argument("data", help="training texts, as for train")
    parser.add_argument("--dev", help="dev texts, as for train")
    parser.add_argument(
        "--output", required=True, help="folder of the search, a new one"
    )
    parser.add_argument("--preset", default="lin2017_yelp")
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
        type=_choices,
        help="values to search of an argument, such as units=[50,100]",
    )
    parser.add_argument(
        "--only",
        action="store_true",
        help="search nothing but what --search names",
    )
    _add_columns(parser)
    parser.add_argument(
        "--dev-split", metavar="NAME", help="of the dev texts (default: dev)"
    )
    parser.add_argument("--seed", type=int, default=0)
    _add_training(parser)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the search in --output",
    )


def _overrides(options):
    """The arguments of the model that are given, and the training values."""
    from keras_selfattn.training import is_training_value

    names = (
        "epochs",
        "batch_size",
        "optimizer",
        "learning_rate",
        "max_tokens",
    )
    given = {name: getattr(options, name) for name in names}
    training = {k: v for k, v in given.items() if v is not None}
    model = {}
    for name, value in options.set:
        if name in ("vocabulary_size", "num_classes", "name"):
            raise ValueError(f"{name!r} follows from the data and the preset")
        (training if is_training_value(name) else model)[name] = value
    return model, training


def _add_texts(parser):
    parser.add_argument("model", help="folder of a run or of a model")
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--file", help="a file of texts instead")
    _add_text_columns(parser)


# Words that would otherwise be strings, and so all be true.
_PYTHON = {"True": True, "False": False, "None": None}


def _assignment(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, _PYTHON.get(value, value)


def _choices(text):
    name, values = _assignment(text)
    if not isinstance(values, list):
        raise argparse.ArgumentTypeError(
            f"expected NAME=[VALUE,...] in JSON, got {text!r}"
        )
    return name, values


def run_train(options):
    from keras_selfattn import training
    from keras_selfattn import zoo

    recipe = zoo.Recipe(options.preset)
    if options.recipe is not None:
        recipe = zoo.get_recipe(options.recipe)
    corpus, dev_corpus = _training_corpora(options)
    model_overrides, training_overrides = _overrides(options)
    model = training.train(
        recipe.preset,
        corpus,
        dev_corpus,
        options.output,
        vectors=options.vectors,
        seed=recipe.seed if options.seed is None else options.seed,
        resume=options.resume,
        model_overrides={**recipe.model, **model_overrides},
        training_overrides={**recipe.training, **training_overrides},
    )
    _report_left_out(corpus, dev_corpus)
    _write_model_card(model, options, corpus, dev_corpus, recipe)
    _report_training(model, options.output)


def _write_model_card(model, options, corpus, dev_corpus, recipe):
    from keras_selfattn.data.fingerprint import fingerprint
    from keras_selfattn.evaluation import evaluate
    from keras_selfattn.model_card import write_model_card

    write_model_card(
        options.output,
        model,
        evaluate(model, dev_corpus),
        {"train": fingerprint(corpus), "dev": fingerprint(dev_corpus)},
        command=[PROGRAM, *options.arguments],
        licence=recipe.licence,
        limits=recipe.limits,
    )


def run_tune(options):
    from keras_selfattn import tuning
    from keras_selfattn import zoo

    model_overrides, training_overrides = _overrides(options)
    fixed = {
        # A list would be searched.
        name: tuple(value) if isinstance(value, list) else value
        for name, value in {**model_overrides, **training_overrides}.items()
    }
    epochs = fixed.pop("epochs", None)
    searched = dict(options.search)
    if both := sorted(fixed.keys() & searched.keys()):
        raise ValueError(f"Both set and to be searched: {', '.join(both)}")
    corpus, dev_corpus = _training_corpora(options)
    model = tuning.search(
        options.preset,
        corpus,
        dev_corpus,
        options.output,
        tuner=options.tuner,
        trials=options.trials,
        minutes=options.time,
        epochs=epochs,
        vectors=options.vectors,
        seed=options.seed,
        arguments={**fixed, **searched},
        papers_space=not options.only,
        resume=options.resume,
    )
    _report_left_out(corpus, dev_corpus)
    # A worker leaves the model to its chief.
    if model is not None:
        recipe = zoo.Recipe(options.preset)
        _write_model_card(model, options, corpus, dev_corpus, recipe)
        _report_training(model, options.output)


def _training_corpora(options):
    if options.dev is None and not formats.is_archive(options.data):
        raise ValueError("Expected --dev with the dev texts")
    paths = options.data, options.dev or options.data
    splits = (options.split, "train"), (options.dev_split, "dev")
    corpora = []
    for path, (split, default) in zip(paths, splits, strict=True):
        if split is None and formats.is_archive(path):
            split = default
        corpora.append(_corpus(path, options, split))
    return corpora


def _report_training(model, folder):
    record = model.training_record
    print(
        f"Best dev accuracy {record['dev_accuracy']:.2%} after epoch "
        f"{record['epoch']}; the model is in {folder}"
    )


def run_evaluate(options):
    from keras_selfattn.evaluation import evaluate

    model = _load(options.model)
    corpus = _corpus(options.data, options, options.split)
    _print_evaluation(evaluate(model, corpus))
    _report_left_out(corpus)
    if options.faithfulness:
        from rich.progress import track

        from keras_selfattn import faithfulness

        read = track(corpus, "Removing words", total=None, transient=True)
        _print_faithfulness(faithfulness.measure(model, read))


def _print_evaluation(evaluation):
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"Accuracy {evaluation.accuracy:.2%}", highlight=False)
    table = Table("class", "precision", "recall", "F1", "rows")
    for label, figures in evaluation.per_class().items():
        shares = [
            f"{figures[name]:.1%}" for name in ("precision", "recall", "f1")
        ]
        table.add_row(str(label), *shares, str(figures["rows"]))
    console.print(table)
    confusion = Table(
        "true \\ predicted",
        *map(str, evaluation.labels),
        title="Confusion matrix",
    )
    for label, row in zip(evaluation.labels, evaluation.confusion, strict=True):
        confusion.add_row(str(label), *map(str, row))
    console.print(confusion)


def _print_faithfulness(result):
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Lost without a method's words, and with only them")
    table.add_column("words by", no_wrap=True)
    for column in (
        "share",
        "p without",
        "p with only",
        "accuracy without",
        "accuracy with only",
    ):
        table.add_column(column)
    for (method, share), loss in result.losses.items():
        figures = (
            loss.comprehensiveness,
            loss.sufficiency,
            loss.accuracy_without,
            loss.accuracy_with_only,
        )
        table.add_row(
            method, f"{share:.0%}", *(f"{figure:.1%}" for figure in figures)
        )
    console = Console()
    console.print(table)
    if result.num_heads is None:
        return
    console.print(
        f"Heads: {result.num_heads}, effective number "
        f"{result.effective_heads:.2f}, mean overlap of two "
        f"{result.head_overlap:.1%}",
        highlight=False,
    )


def _load(folder):
    from keras_selfattn import models

    if not pathlib.Path(folder).is_dir():
        raise ValueError(f"There is no folder of a model at {folder}")
    model = models.from_preset(folder)
    if model.preprocessor is None:
        raise ValueError(f"The model in {folder} has no vocabulary")
    return model


def _texts(options):
    """The texts that a command is given, with their labels or `None`."""
    if bool(options.texts) == bool(options.file):
        raise ValueError("Expected texts, or --file with a file of texts")
    if options.file:
        columns = options.text or options.text_pair or options.label
        format = options.format or formats.guess_format(
            options.file, bool(columns)
        )
        # The other formats say themselves where their labels are.
        known = options.label is not None or format != formats.RECORDS
        return _corpus(
            options.file, options, options.split, options.gold and known
        )
    return [(text, None) for text in options.texts]


def run_predict(options):
    from keras_selfattn.evaluation import predict

    texts = _texts(options)
    model = _load(options.model)
    for batch, probabilities in predict(model, (text for text, _ in texts)):
        for text, row in zip(batch, probabilities, strict=True):
            answer = {
                "label": model.labels[row.argmax()],
                "probabilities": {
                    label: round(float(p), 4)
                    for label, p in zip(model.labels, row, strict=True)
                },
                "text": text,
            }
            line = json.dumps(answer, ensure_ascii=False)
            # Half of a surrogate pair can only be printed as JSON's escape.
            print(line.encode("utf-8", "backslashreplace").decode())


def run_explain(options):
    from rich.console import Console

    from keras_selfattn import visualization

    rows = _texts(options)
    # Side by side, so that no more than a batch is held.
    texts, labels = itertools.tee(rows)
    explanations = visualization.explain(
        _load(options.model),
        (text for text, _ in texts),
        gold=(label for _, label in labels),
    )
    if not options.html:
        console = Console()
        for explanation in explanations:
            console.print(explanation)
        return
    from rich.progress import track

    shown = track(
        explanations,
        "Explaining",
        total=sum(1 for _ in rows),
        transient=True,
        console=Console(stderr=True),
    )
    title = "What the model looked at"
    if options.file:
        title += f" in {pathlib.Path(options.file).name}"
    print(visualization.write_html(shown, options.html, title=title))
    if options.file:
        _report_left_out(rows)


def run_export(options):
    from keras_selfattn import serving
    from keras_selfattn.serving.card import model_card

    if (options.reduced_precision is None) != (options.check is None):
        raise ValueError(
            "Expected both --reduced-precision and --check with labelled "
            "texts, or none of them"
        )
    model = _load(options.model)
    card = _model_card(options.model)
    if options.reduced_precision:
        corpus = _corpus(options.check, options, options.split)
        reduced = serving.reduce_precision(model, options.reduced_precision)
        comparison = serving.compare(model, reduced, corpus)
        _report_left_out(corpus)
        comparison.check()
        cost = f"{options.reduced_precision}: {comparison}"
        print(cost)
        model = reduced
        # The figures of a run's own card are those in float32.
        card = f"{card or model_card(model)}\n## Reduced precision\n\n{cost}\n"
    print(serving.export(model, options.folder, options.version, card))


def _model_card(folder):
    """The text of a model's card, or `None` where it has none."""
    from keras_selfattn.model_card import CARD_FILE
    from keras_selfattn.models.loading import MODEL_FOLDER

    for path in (pathlib.Path(folder) / MODEL_FOLDER, pathlib.Path(folder)):
        if (path / CARD_FILE).is_file():
            return (path / CARD_FILE).read_text(encoding="utf-8")
    return None


def run_reproduce(options):
    from keras_selfattn.reproduction import reproduce
    from keras_selfattn.reproduction.report import print_report

    if options.split is not None:
        raise ValueError(
            "Each part of an archive has its use here: none is to be chosen. "
            f"Received: --split {options.split}"
        )
    # Each run compiles its own functions, of which TensorFlow warns.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    kind = "table" if options.figure is None else "figure"
    model_overrides, training_overrides = _overrides(options)
    results = reproduce(
        options.paper,
        f"{kind} {getattr(options, kind)}",
        options.corpus,
        *_reproduction_corpora(options),
        folder=options.output,
        rows=options.rows and options.rows.split(","),
        seeds=options.seeds,
        vectors=options.vectors,
        model_overrides=model_overrides,
        training_overrides=training_overrides,
    )
    print_report(results)
    print(f"The same, as files: {options.output}")
    return 1 if results.failures else 0


def _reproduction_corpora(options):
    if options.dev is None and not formats.is_archive(options.train):
        raise ValueError("Expected --dev with the dev texts")
    matched = options.corpus == "multinli"
    for path, split in (
        (options.train, "train"),
        (options.dev or options.train, "dev_matched" if matched else "dev"),
        (options.test, "test"),
        (options.mismatched, "dev_mismatched"),
    ):
        if path is None:
            yield None
        else:
            archive = formats.is_archive(path)
            yield _corpus(path, options, split if archive else None)


def run_presets(options):
    from rich.console import Console
    from rich.table import Table

    from keras_selfattn import models

    table = Table()
    table.add_column("preset", no_wrap=True)
    for column in ("paper", "row", "published %", "parameters"):
        table.add_column(column)
    for name in models.list_presets():
        preset = models.get_preset(name)
        model = models.from_preset(
            name, vocabulary_size=2, num_classes=preset.num_classes
        )
        counts = model.parameter_counts()
        del counts["word vectors"]
        figures = [f"{k} {v}" for k, v in preset.published.items()]
        table.add_row(
            name,
            preset.paper,
            preset.table,
            ", ".join(figures),
            f"{sum(counts.values()):,}",
        )
    Console().print(table)


def run_demo(options):
    from keras_selfattn.demo import run

    run(pathlib.Path(options.output), options.seed)
