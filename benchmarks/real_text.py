"""Yelp reviews and blog posts by age: settings of their own.

    python -m benchmarks.real_text yelp
    python -m benchmarks.real_text age

reads the folder that KERAS_SELFATTN_DATA names, and prints dev accuracies of
one run each (`--seeds` for more). The best epoch is chosen on the dev set. A
linear model on the same rows is that of

    python -m benchmarks.corpora --only yelp age svm
"""

import argparse
import pathlib
import tempfile

from benchmarks.corpora.texts import CORPORA
from benchmarks.corpora.texts import VECTORS
from benchmarks.corpora.texts import data_path
from benchmarks.tables import mean_and_spread
from benchmarks.tables import print_table
from keras_selfattn import training
from keras_selfattn.data.corpus import Corpus

SHARED = {"encoder": "cnn", "units": 256, "hidden_units": 128}
ATTENTION = {"attention_dim": 64, "num_heads": 8}
MODELS = {
    "convolution, structured self-attention": ("lin2017_{}", ATTENTION),
    "convolution, max pooling": ("lin2017_cnn_max_{}", {}),
    "BiLSTM, structured self-attention": (
        "lin2017_{}",
        {**ATTENTION, "encoder": "bilstm", "units": 100},
    ),
}
# Few reviews of which each word counts, and many posts whose evidence lies
# all over the text.
SETTINGS = {
    "yelp": (
        {"encoder_dropout": 0.6, "attention_penalty": 0.1},
        {
            "epochs": 8,
            "batch_size": 32,
            "max_tokens": 400,
            "learning_rate": 5e-4,
        },
    ),
    "age": (
        {
            "units": 150,
            "encoder_dropout": 0.3,
            "dropout": 0.3,
            "attention_penalty": 0.0,
            "character_vocabulary_size": 100,
            # Tuned vectors learn the words of the training authors.
            "trainable_embeddings": False,
        },
        {
            "induce_vectors": True,
            "min_count": 3,
            # Who writes "i" for "I" tells an age by it.
            "lowercase": False,
            "epochs": 10,
            "decay_epochs": 10,
            "batch_size": 128,
            "max_tokens": 200,
            "learning_rate": 2e-3,
            "ema_momentum": 0.998,
        },
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=SETTINGS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--model", choices=MODELS, help="only this one")
    options = parser.parse_args()
    source = CORPORA[options.corpus]
    train, dev = (
        Corpus(data_path(file), label=source.label)
        for file in (source.train, source.dev)
    )
    rows = []
    model_settings, recipe = SETTINGS[options.corpus]
    chosen = [options.model] if options.model else MODELS
    for name in chosen:
        preset, changes = MODELS[name]
        overrides = {**SHARED, **changes, **model_settings}
        if "num_heads" not in changes:
            # Max pooling has no attention to penalize.
            del overrides["attention_penalty"]
        accuracies = []
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                model = training.train(
                    preset.format(options.corpus),
                    train,
                    dev,
                    pathlib.Path(folder) / "run",
                    vectors=data_path(VECTORS),
                    seed=seed,
                    model_overrides=overrides,
                    training_overrides={"optimizer": "adam", **recipe},
                )
            accuracies.append(model.training_record["dev_accuracy"])
            print(f"{name}, seed {seed}: {accuracies[-1]:.2%}", flush=True)
        rows.append([name, mean_and_spread(accuracies)])
    print_table(["model", "dev accuracy %"], rows)


if __name__ == "__main__":
    main()
