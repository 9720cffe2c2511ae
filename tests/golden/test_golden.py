"""What earlier versions wrote is read for ever, and answers as it did.

Each folder here holds what one version wrote: runs of training, presets, a
`.keras` file, prepared shards, and the zipped folders of exports; and in
`answers.json` what they answered then, and in `names.txt` the public names
there were. `python -m tests.golden.write` makes them.
"""

import importlib
import json
import pathlib
import shutil

import keras
import numpy as np
import pytest

from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import serving
from keras_selfattn import training
from keras_selfattn.checksums import check_checksums
from tests.backend import tensorflow_only
from tests.golden.texts import GENERATED
from tests.golden.texts import texts
from tests.golden.write import prepared
from tests.golden.write import told

HERE = pathlib.Path(__file__).parent
VERSIONS = sorted(path for path in HERE.iterdir() if path.name[0].isdigit())


def things():
    for version in VERSIONS:
        answers = json.loads((version / "answers.json").read_text("utf-8"))
        for name, expected in answers.items():
            yield pytest.param(
                version / name, expected, id=f"{version.name}-{name}"
            )


def of_kind(suffix):
    return [
        thing for thing in things() if thing.values[0].name.endswith(suffix)
    ]


def texts_of(expected):
    """JSON has lists for pairs."""
    return [
        text if isinstance(text, str) else tuple(text)
        for text in expected["texts"]
    ]


def assert_answers(model, expected):
    assert model.labels == expected["labels"]
    rows = [p for _, p in evaluation.predict(model, texts_of(expected))]
    np.testing.assert_allclose(
        np.concatenate(rows), expected["probabilities"], rtol=0, atol=1e-6
    )


def test_there_is_something_of_each_kind():
    for suffix in ("_run", "_preset", ".keras", "_served", "_shards"):
        assert of_kind(suffix)


@pytest.mark.parametrize(
    ("path", "expected"), [*of_kind("_run"), *of_kind("_preset")]
)
def test_runs_and_presets(path, expected):
    assert_answers(models.from_preset(path), expected)


@pytest.mark.parametrize(("path", "expected"), of_kind(".keras"))
def test_keras_files(path, expected):
    model = keras.models.load_model(path)
    if model.preprocessor is None:
        # They held neither at first.
        model.labels = expected["labels"]
        model.preprocessor = models.from_preset(
            path.with_name("cnn_preset")
        ).preprocessor
    assert_answers(model, expected)


@tensorflow_only
@pytest.mark.parametrize(("path", "expected"), of_kind("_served"))
def test_exports(path, expected, tmp_path):
    shutil.unpack_archive(path.with_suffix(".zip"), tmp_path)
    served = serving.load_savedmodel(tmp_path / "1")
    _, probabilities = served.predict(texts_of(expected))
    np.testing.assert_allclose(
        probabilities, expected["probabilities"], rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(("path", "expected"), of_kind("_shards"))
def test_shards(path, expected):
    assert told(prepared(path, GENERATED["structured_run"][0])) == expected


@pytest.mark.parametrize(
    "path",
    [
        path
        for version in VERSIONS
        for path in version.glob("**/checksums.json")
    ],
    ids=lambda path: str(path.parent.relative_to(HERE)),
)
def test_files_are_those_that_were_written(path):
    check_checksums(path.parent)


# What a second epoch was before dropouts drew numbers of their own is in
# `answers.json`.
SECOND_EPOCHS = {
    ("0.1", "structured_run"): [2, 0.27, 3.437014, 0.18333334, 3.4970634],
    ("0.1", "decomposable_run"): [2, 0.34, 1.4218541, 0.36666667, 1.1734304],
    ("0.1.0", "structured_run"): [2, 0.265, 3.4520445, 0.18333334, 3.4604354],
    ("0.1.0", "decomposable_run"): [2, 0.38, 1.8728408, 0.33333334, 1.1434493],
}


@tensorflow_only
@pytest.mark.parametrize(
    "name",
    [
        "structured_run",
        pytest.param("decomposable_run", marks=pytest.mark.slow),
    ],
)
def test_runs_are_resumed(name, tmp_path):
    preset, generate = GENERATED[name]
    for version in VERSIONS:
        folder = tmp_path / version.name
        shutil.copytree(version / name, folder)
        answers = json.loads((version / "answers.json").read_text("utf-8"))
        settings = json.loads((folder / "settings.json").read_text())
        own = models.get_preset(preset)
        model = {
            k: v for k, v in settings["model"].items() if own.model.get(k) != v
        }
        training.train(
            preset,
            texts(generate, 200, 1),
            texts(generate, 60, 2),
            folder,
            resume=True,
            model_overrides=model,
            training_overrides={**settings["training"], "epochs": 2},
            verbose=0,
        )
        found = table((folder / "history.csv").read_text())
        expected = table(answers[name]["history_of_two_epochs"])
        assert len(found) == len(expected) == 2
        expected[1] = SECOND_EPOCHS[version.name, name]
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def table(text):
    return [
        [float(cell) for cell in line.split(",")]
        for line in text.splitlines()[1:]
    ]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_public_names(version):
    missing = []
    for line in (version / "names.txt").read_text().split():
        module, _, name = line.partition(":")
        if "tuning" in module:
            pytest.importorskip("keras_tuner")
        if not hasattr(importlib.import_module(module), name):
            missing.append(line)
    assert missing == []
