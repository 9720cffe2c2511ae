"""Writes the files that this version is remembered by.

    python -m tests.golden.write 1.0

makes the folder of that name here, with the code as it is. What a version has
written is never written again.
"""

import argparse
import json
import os
import pathlib
import shutil
import tempfile

import keras
import numpy as np

from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import serving
from keras_selfattn import training
from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import write_checksums
from keras_selfattn.data import Corpus
from keras_selfattn.model_card import model_card
from keras_selfattn.models.packed_weights import PACKED_FILE
from keras_selfattn.models.packed_weights import save_packed
from keras_selfattn.models.weights import WEIGHTS_FILE
from keras_selfattn.text import TextPreprocessor
from tests.golden.texts import GENERATED
from tests.golden.texts import few
from tests.golden.texts import texts
from tests.public_names import public_names

HERE = pathlib.Path(__file__).parent
LABELS = ["bad", "fair", "good"]
RUNS = {
    "structured_run": {
        "embedding_dim": 4,
        "units": 3,
        "attention_dim": 5,
        "num_heads": 2,
        "hidden_units": 6,
    },
    "decomposable_run": {
        "embedding_dim": 4,
        "projection_dim": 6,
        "attend_units": [6],
        "compare_units": [6],
        "aggregate_units": [6],
    },
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    folder = HERE / parser.parse_args().version
    if folder.exists():
        parser.error(f"{folder} is there already")
    with tempfile.TemporaryDirectory() as temporary:
        # Paths of texts are written as they are given.
        os.chdir(temporary)
        written = pathlib.Path(temporary, "golden")
        written.mkdir()
        answers = {}
        for name, arguments in RUNS.items():
            answers[name] = write_run(written / name, arguments)
        run = written / "structured_run"
        answers["structured_served"] = write_export(run)
        answers["packed_preset"] = write_packed(run)
        answers["cnn_preset"] = write_preset(written)
        answers["pruned.keras"] = write_keras(written)
        answers["reviews_shards"] = write_shards(written)
        text = json.dumps(answers, indent=1, ensure_ascii=False)
        (written / "answers.json").write_text(text + "\n", "utf-8")
        (written / "names.txt").write_text(
            "".join(
                ":".join(name.rpartition(".")[::2]) + "\n"
                for name in sorted(public_names())
            )
        )
        shutil.copytree(written, folder)


def write_run(folder, arguments):
    """A run of one epoch; what it answers, and how a second one ends."""
    preset, generate = GENERATED[folder.name]

    def train(path, epochs, **more):
        return training.train(
            preset,
            texts(generate, 200, 1),
            texts(generate, 60, 2),
            path,
            model_overrides=arguments,
            training_overrides={
                "epochs": epochs,
                "learning_rate": 0.01,
                "min_count": 2,
                "lowercase": True,
            },
            verbose=0,
            **more,
        )

    model = train(folder, 1)
    with tempfile.TemporaryDirectory() as other:
        train(pathlib.Path(other, "run"), 2)
        history = pathlib.Path(other, "run", "history.csv").read_text()
    return {
        **answers_of(model, few(generate)),
        "history_of_two_epochs": history,
    }


def write_export(run):
    model = models.from_preset(run)
    with tempfile.TemporaryDirectory() as folder:
        serving.export(model, folder, card=model_card(model))
        shutil.make_archive(run.with_name("structured_served"), "zip", folder)
    return answers_of(model, few(GENERATED[run.name][1]))


def write_packed(run):
    folder = run.with_name("packed_preset")
    shutil.copytree(run / "model", folder)
    save_packed(models.from_preset(folder), folder / PACKED_FILE)
    for name in (WEIGHTS_FILE, CHECKSUMS_FILE):
        (folder / name).unlink()
    write_checksums(folder)
    model = models.from_preset(folder)
    return answers_of(model, few(GENERATED[run.name][1]))


def write_preset(folder):
    model = classifier(
        "lin2017_cnn_max_yelp", embedding_dim=4, units=5, hidden_units=6
    )
    model.save_to_preset(folder / "cnn_preset")
    return answers_of(model, few(GENERATED["structured_run"][1]))


def write_keras(folder):
    model = classifier(
        "lin2017_yelp_pruned",
        embedding_dim=4,
        units=3,
        attention_dim=5,
        num_heads=4,
        row_units=2,
        column_units=2,
    )
    model.save(folder / "pruned.keras")
    return answers_of(model, few(GENERATED["structured_run"][1]))


def classifier(preset, **arguments):
    generate = GENERATED["structured_run"][1]
    preprocessor = TextPreprocessor(lowercase=True, max_tokens=40)
    preprocessor.adapt([t for t, _ in texts(generate, 50, 3)], max_size=60)
    keras.utils.set_random_seed(0)
    return models.from_preset(
        preset, preprocessor=preprocessor, labels=LABELS, **arguments
    )


def write_shards(folder):
    preset, generate = GENERATED["structured_run"]
    files = []
    for seed, size in enumerate((50, 30, 20)):
        files.append(pathlib.Path(f"part-{seed}.jsonl"))
        rows = [{"text": t, "label": y} for t, y in texts(generate, size, seed)]
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    *parts, dev = map(Corpus, files)
    place = folder / "reviews_shards"
    training.prepare_shards(
        preset, parts, dev, place, processes=1, shard_rows=40
    )
    return told(prepared(place, preset))


def prepared(folder, preset):
    """The `PreparedTexts` in a folder of shards."""
    values = models.get_preset(preset).training
    return training.PreparedFolder(folder).texts(preset, values, {})


def told(texts):
    """What is known of prepared texts."""
    ids, lengths = next(iter(texts.train_data.token_stretches()))
    return {
        "train": texts.train_data.checksum(),
        "dev": texts.dev_data.checksum(),
        "labels": list(texts.train_data.label_names),
        "words": texts.preprocessor.get_vocabulary()[:20],
        "first_ids": ids[: lengths[0]].tolist(),
    }


def answers_of(model, rows):
    found = np.concatenate([p for _, p in evaluation.predict(model, rows)])
    return {
        "texts": rows,
        "labels": model.labels,
        "probabilities": found.astype("float64").round(7).tolist(),
    }


if __name__ == "__main__":
    main()
