"""Searches on the generated reviews, each with the preset's values first.

    python -m benchmarks.tuning

runs 12 trials of each tuner around the model of `lin2017_yelp`, made small,
from the command line and from a Keras script, and prints a table: the dev
accuracy of the preset's own values and of the best trial, for the same number
of epochs.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import keras

from benchmarks.tables import mean_and_spread
from benchmarks.tables import print_table
from keras_selfattn import cli
from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import tuning
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.tuning.oracles import best_trial
from keras_selfattn.tuning.oracles import in_order

PRESET = "lin2017_yelp"
# The paper's model, made small; the search has the rest.
FIXED = {
    "embedding_dim": 32,
    "encoder": "cnn",
    "units": 64,
    "attention_dim": 32,
    "hidden_units": 64,
    "row_units": None,
    "column_units": None,
    "pooling": "structured",
}
SEARCHED = {"num_heads": [30, 5, 10]}
TUNERS = {
    "random": tuning.RandomSearch,
    "hyperband": tuning.Hyperband,
    "grid": tuning.GridSearch,
    "bayesian": tuning.BayesianOptimization,
}


def from_the_command_line(name, splits, folder, options):
    """Dev accuracies of the preset and of the best trial."""
    code = cli.main(
        [
            *("tune", str(splits["train"]), "--dev", str(splits["dev"])),
            *("--output", str(folder), "--preset", PRESET, "--tuner", name),
            *("--trials", str(options.trials)),
            *("--epochs", str(options.epochs)),
            *(f"--set={k}={json.dumps(v)}" for k, v in FIXED.items()),
            *(f"--search={k}={json.dumps(v)}" for k, v in SEARCHED.items()),
        ]
    )
    if code:
        sys.exit(code)
    first_trial = min((folder / "trials").glob("trial_*"))
    history = json.loads((first_trial / "history.json").read_text())
    first = max(logs["val_accuracy"] for logs in history)
    model = models.from_preset(folder)
    return first, model.training_record["dev_accuracy"], model


def from_a_script(name, reviews, folder, options):
    """The same, with the tuner in the hands of a Keras script."""
    texts = {k: [(r.text, r.label) for r in v] for k, v in reviews.items()}
    values = {**models.get_preset(PRESET).training, "max_tokens": 512}
    preprocessor, _ = training.make_preprocessor(
        texts["train"], values, None, {}
    )
    train = EncodedDataset.from_texts(texts["train"], preprocessor)
    dev = EncodedDataset.from_texts(
        texts["dev"], preprocessor, labels=train.label_names
    )
    hypermodel = tuning.SentenceHyperModel(
        PRESET, preprocessor.vocabulary_size(), 5, **FIXED, **SEARCHED
    )
    more = {}
    if name == "hyperband":
        more = {"max_epochs": options.epochs, "hyperband_iterations": None}
    tuner = TUNERS[name](
        hypermodel,
        max_trials=options.trials,
        seed=0,
        directory=folder,
        **more,
    )
    tuner.search(train, validation_data=dev, epochs=options.epochs, verbose=0)
    (model,) = tuner.get_best_models()
    model.preprocessor = preprocessor
    model.labels = train.label_names
    first = in_order(tuner.oracle)[0].score
    return first, best_trial(tuner.oracle).score, model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train-rows", type=int, default=2000)
    parser.add_argument("--dev-rows", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument(
        "--tuners", nargs="+", choices=TUNERS, default=list(TUNERS)
    )
    options = parser.parse_args()
    generated = list(
        generate_reviews(options.train_rows + options.dev_rows, seed=0)
    )
    reviews = {
        "train": generated[: options.train_rows],
        "dev": generated[options.train_rows :],
    }
    dev_texts = [(r.text, r.label) for r in reviews["dev"]]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        splits = {}
        for split, part in reviews.items():
            splits[split] = folder / f"{split}.jsonl"
            lines = [
                json.dumps({"text": r.text, "label": r.label}) for r in part
            ]
            splits[split].write_text("\n".join(lines) + "\n")
        for name in options.tuners:
            for way, run, data in (
                ("command line", from_the_command_line, splits),
                ("Keras script", from_a_script, reviews),
            ):
                output = folder / f"{name}-{way.replace(' ', '-')}"
                first, best, model = run(name, data, output, options)
                # What is reported is what the model does.
                again = evaluation.evaluate(model, dev_texts).accuracy
                if abs(again - best) > 1e-6 or best < first:
                    raise AssertionError((name, way, first, best, again))
                rows.append(
                    [name, way, *(mean_and_spread([x]) for x in (first, best))]
                )
                print(*rows[-1], flush=True)
                keras.backend.clear_session()
    print_table(
        ["tuner", "from", "the preset's values %", "best trial %"], rows
    )


if __name__ == "__main__":
    main()
