"""Yelp reviews and blog posts by age, beside a linear model on tf-idf.

    python -m benchmarks.real_text yelp
    python -m benchmarks.real_text age

reads the folder that KERAS_SELFATTN_DATA names, and prints dev accuracies of
one run each (`--seeds` for more).
"""

import argparse
import os
import pathlib
import tempfile

from benchmarks.tables import mean_and_spread
from benchmarks.tables import print_table
from keras_selfattn import training
from keras_selfattn.data.corpus import Corpus

VECTORS = "vectors/word2vec_googlenews_8000x300.txt.gz"
CORPORA = {
    "yelp": ("yelp/yelp_review_{}.jsonl.gz", "stars"),
    "age": ("age/blog_age_{}.jsonl.gz", "age_group"),
}
SHARED = {
    "units": 100,
    "hidden_units": 300,
    "encoder_dropout": 0.3,
}
ATTENTION = {"attention_dim": 100, "num_heads": 10}
MODELS = {
    "structured self-attention, penalty 0.1": (
        "lin2017_{}",
        {**ATTENTION, "attention_penalty": 0.1},
    ),
    "structured self-attention, no penalty": (
        "lin2017_{}",
        {**ATTENTION, "attention_penalty": 0.0},
    ),
    "BiLSTM, max pooling": ("lin2017_bilstm_max_{}", {}),
}
TRAINING = {
    "yelp": {"epochs": 8, "batch_size": 32, "max_tokens": 300},
    "age": {"epochs": 3, "batch_size": 64, "max_tokens": 200},
}
OPTIMIZER = {"optimizer": "adam", "learning_rate": 1e-3}


def linear_svm(train, dev):
    """Dev accuracy of a linear SVM on tf-idf of 1- and 2-grams."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        LinearSVC(C=0.1),
    )
    model.fit(*zip(*train, strict=True))
    return model.score(*zip(*dev, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--models", type=int, default=len(MODELS))
    options = parser.parse_args()
    data = pathlib.Path(os.environ["KERAS_SELFATTN_DATA"])
    pattern, label = CORPORA[options.corpus]
    train, dev = (
        Corpus(data / pattern.format(split), label=label)
        for split in ("train", "dev")
    )
    svm = linear_svm(list(train), list(dev))
    rows = [["linear SVM, tf-idf of 1- and 2-grams", mean_and_spread([svm])]]
    print(f"linear SVM: {svm:.2%}", flush=True)
    for name, (preset, changes) in list(MODELS.items())[: options.models]:
        accuracies = []
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                model = training.train(
                    preset.format(options.corpus),
                    train,
                    dev,
                    pathlib.Path(folder) / "run",
                    vectors=data / VECTORS,
                    seed=seed,
                    model_overrides={**SHARED, **changes},
                    training_overrides={
                        **TRAINING[options.corpus],
                        **OPTIMIZER,
                    },
                )
            accuracies.append(model.training_record["dev_accuracy"])
            print(f"{name}, seed {seed}: {accuracies[-1]:.2%}", flush=True)
        rows.append([name, mean_and_spread(accuracies)])
    print_table(["model", "dev accuracy %"], rows)


if __name__ == "__main__":
    main()
