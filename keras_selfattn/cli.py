"""The command line: train, evaluate, predict, explain, export, demo."""

import argparse
import json
import pathlib
import sys

PROGRAM = "keras-selfattn"


def main(arguments=None):
    """Run one command.

    Args:
        arguments: List of strings, or `None` for those of the process.

    Returns:
        The exit code: 0, or 2 where an input is at fault.
    """
    options = make_parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except (ValueError, OSError, ImportError) as error:
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
    train.add_argument("data", help="training texts (.jsonl, .csv, .tsv, .gz)")
    train.add_argument("--dev", required=True, help="dev texts")
    train.add_argument(
        "--output", required=True, help="folder of the run, a new one"
    )
    train.add_argument("--preset", default="lin2017_yelp")
    _add_columns(train)
    train.add_argument("--vectors", help="word vectors in text format")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--epochs", type=int)
    train.add_argument("--batch-size", type=int)
    train.add_argument("--optimizer")
    train.add_argument("--learning-rate", type=float)
    train.add_argument("--max-tokens", type=int)
    train.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_assignment,
        help="an argument of the model, such as units=100",
    )
    train.add_argument(
        "--resume", action="store_true", help="go on with the run in --output"
    )

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
    predict.set_defaults(label=None)

    explain = _command(
        commands, "explain", run_explain, "show which words count"
    )
    _add_texts(explain)
    explain.add_argument("--label", help="column with the true label")
    explain.add_argument("--html", help="write one page to this file instead")

    export = _command(
        commands, "export", run_export, "write a SavedModel for serving"
    )
    export.add_argument("model", help="folder of a run or of a model")
    export.add_argument("folder", help="folder of the versions")
    export.add_argument("--version", type=int, default=1)

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
    parser.add_argument("--text", default="text", help="column of the text")
    parser.add_argument("--text-pair", help="column of a pair's second text")


def _add_columns(parser):
    _add_text_columns(parser)
    parser.add_argument("--label", default="label", help="of the label")


def _corpus(path, options):
    from keras_selfattn.data.corpus import Corpus

    return Corpus(path, options.text, options.label, options.text_pair)


def _add_texts(parser):
    parser.add_argument("model", help="folder of a run or of a model")
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--file", help="a file of texts instead")
    _add_text_columns(parser)


def _assignment(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def run_train(options):
    from keras_selfattn import training

    given = {
        "epochs": options.epochs,
        "batch_size": options.batch_size,
        "optimizer": options.optimizer,
        "learning_rate": options.learning_rate,
        "max_tokens": options.max_tokens,
    }
    model = training.train(
        options.preset,
        _corpus(options.data, options),
        _corpus(options.dev, options),
        options.output,
        vectors=options.vectors,
        seed=options.seed,
        resume=options.resume,
        model_overrides=dict(options.set),
        training_overrides={k: v for k, v in given.items() if v is not None},
    )
    _report_training(model, options.output)


def _report_training(model, folder):
    record = model.training_record
    print(
        f"Best dev accuracy {record['dev_accuracy']:.2%} after epoch "
        f"{record['epoch']}; the model is in {folder}"
    )


def run_evaluate(options):
    from keras_selfattn.evaluation import evaluate

    model = _load(options.model)
    corpus = _corpus(options.data, options)
    _print_evaluation(evaluate(model, corpus))
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
        table.add_row(label, *shares, str(figures["rows"]))
    console.print(table)
    confusion = Table(
        "true \\ predicted", *evaluation.labels, title="Confusion matrix"
    )
    for label, row in zip(evaluation.labels, evaluation.confusion, strict=True):
        confusion.add_row(label, *map(str, row))
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
        return _corpus(options.file, options)
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
            print(json.dumps(answer, ensure_ascii=False))


def run_explain(options):
    from keras_selfattn import visualization

    rows = list(_texts(options))
    explanations = visualization.explain(
        _load(options.model),
        [text for text, _ in rows],
        gold=[label for _, label in rows],
    )
    if options.html:
        from rich.progress import track

        shown = track(
            explanations, "Explaining", total=len(rows), transient=True
        )
        print(visualization.write_html(shown, options.html))
        return
    from rich.console import Console

    console = Console()
    for explanation in explanations:
        console.print(explanation)


def run_export(options):
    from keras_selfattn import serving

    path = serving.export(
        _load(options.model), options.folder, version=options.version
    )
    print(path)


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
