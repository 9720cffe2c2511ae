"""The whole road on a generated corpus: `demo`."""

import json
import pathlib

from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.options import check_seed
from keras_selfattn.cli.starting import start_keras
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.files import write_text

TRAIN_ROWS = 8000
DEV_ROWS = 1000
PRESET = "lin2017_yelp"
# The paper's model, made small enough for a laptop's processor.
MODEL = {
    "embedding_dim": 64,
    "units": 64,
    "attention_dim": 64,
    "num_heads": 8,
    # The paper's 1.0 is for hundreds of thousands of reviews.
    "attention_penalty": 0.01,
    "hidden_units": 64,
}
TRAINING = {"optimizer": "adam", "learning_rate": 2e-3, "epochs": 5}
QUESTIONS = (
    "The food was great, but the service was awful.",
    "My friend called it a disaster, but the room was not bad at all.",
)
SHIPPED = "snli_decomposable"
PAIR = ("A man sleeps.", "A person is awake.")


def add_commands(commands):
    parser = add_command(commands, demo)
    parser.add_argument("--output", default="runs/demo", help="a new folder")
    parser.add_argument("--seed", type=int, default=0)


def demo(options):
    """Train, explain and serve, without data."""
    check_seed(options)
    folder = pathlib.Path(options.output)
    if folder.exists():
        raise ValueError(f"The folder of the demo must be new: {folder} exists")
    start_keras()
    from rich.console import Console

    from keras_selfattn import evaluation
    from keras_selfattn import models
    from keras_selfattn import serving
    from keras_selfattn import training
    from keras_selfattn import visualization

    console = Console()
    data = folder / "data"
    data.mkdir(parents=True)
    console.rule("1. A generated corpus of reviews, labeled 1 to 5")
    reviews = list(generate_reviews(TRAIN_ROWS + DEV_ROWS, seed=options.seed))
    splits = {"train": reviews[:TRAIN_ROWS], "dev": reviews[TRAIN_ROWS:]}
    for name, rows in splits.items():
        path = data / f"{name}.jsonl"
        lines = [json.dumps({"text": r.text, "label": r.label}) for r in rows]
        write_text(path, "\n".join(lines) + "\n")
        console.print(f"{len(rows)} rows in {path}")
    console.print(f"For example: {reviews[0].label} - {reviews[0].text}")

    console.rule(f"2. Training {PRESET}, made small")
    pairs = {k: [(r.text, r.label) for r in v] for k, v in splits.items()}
    model = training.train(
        PRESET,
        pairs["train"],
        pairs["dev"],
        folder / "run",
        seed=options.seed,
        model_overrides=MODEL,
        training_overrides=TRAINING,
    )

    console.rule("3. Answers on the dev texts")
    result = evaluation.evaluate(model, pairs["dev"])
    console.print(f"Dev accuracy {result.accuracy:.2%}", highlight=False)

    console.rule("4. What the model looked at")
    examples = splits["dev"][:200]
    explanations = visualization.explain(
        model, [r.text for r in examples], [r.label for r in examples]
    )
    explanations = list(explanations)
    for explanation in explanations[:2]:
        console.print(explanation)
    page = visualization.write_html(explanations, folder / "explain.html")
    console.print(f"The first {len(examples)} dev texts as a page: {page}")

    console.rule("5. A SavedModel that takes raw text")
    version = serving.export(model, folder / "savedmodel")
    served = serving.load_savedmodel(version)
    labels, probabilities = served.predict(list(QUESTIONS))
    for question, label, row in zip(
        QUESTIONS, labels, probabilities, strict=True
    ):
        console.print(f"{label} ({row.max():.0%}): {question}")
    console.print(f"For TensorFlow Serving: {version}")

    console.rule(f"6. {SHIPPED}, which came with the installation")
    trained = models.from_preset(SHIPPED)
    (row,) = trained.predict([PAIR], verbose=0)
    label = trained.labels[row.argmax()]
    console.print(f"{label} ({row.max():.0%}): {' / '.join(PAIR)}")
