import sys

import keras
import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn.evaluation import Evaluation
from keras_selfattn.model_card import write_model_card
from tests.tiny_classifier import tiny_classifier

DATA = {
    "train": {"rows": 1200, "classes": {"a": 700, "b": 500}, "sha256": "1f2e"},
    "dev": {"rows": 8, "classes": {"a": 5, "b": 3}, "sha256": "77aa"},
}
EVALUATION = Evaluation(["a", "b|c"], np.array([[4, 1], [1, 2]]))


@pytest.fixture(scope="module")
def model():
    preset = models.get_preset("lin2017_yelp")
    model = tiny_classifier(labels=("a", "b|c"))
    model.training_record = {
        "preset": "lin2017_yelp",
        "seed": 4,
        "vectors": "/somewhere/here/vectors.txt.gz",
        "model": {**preset.model, "units": 4, "encoder": "cnn"},
        "training": {**preset.training, "epochs": 2},
        "train_rows": 1200,
        "dev_rows": 8,
        "epoch": 2,
        "dev_accuracy": 0.75,
    }
    return model


def card(model, folder, **more):
    path = write_model_card(folder, model, EVALUATION, DATA, **more)
    return path, path.read_text()


def test_what_a_card_says(model, tmp_path):
    path, text = card(model, tmp_path)
    assert path == tmp_path / "README.md"
    assert text.startswith("# lin2017_yelp, trained on 1,200 texts\n")
    assert "Lin et al. 2017, Table 1, our model" in text
    assert "| train | 1,200 | a 700, b 500 | 1f2e |" in text
    assert "Word vectors: `vectors.txt.gz`." in text
    assert "Dev accuracy 75.00% over 8 texts, after epoch 2." in text
    # Of 5 "a" 4 are found, and 4 of 5 answers "a" are right.
    assert "| a | 80.0 | 80.0 | 80.0 | 5 |" in text
    assert "| b\\|c | 66.7 | 66.7 | 66.7 | 3 |" in text
    assert "yelp 64.21 %" in text
    counts = model.parameter_counts()
    assert f"| pooling | {counts['pooling']:,} |" in text
    assert "Seed 4." in text
    assert "| units | `4` | `300` |" in text
    assert '| encoder | `"cnn"` | not set |' in text
    assert "| attention_dim | `350` | the same |" in text
    assert "| epochs | `2` | `10` |" in text
    assert f"- keras {keras.__version__}" in text
    assert f"- Python {sys.version.split()[0]}" in text
    assert "None is stated here" in text
    assert "/somewhere" not in text
    assert "## Command" not in text


def test_command_licence_and_limits(model, tmp_path):
    _, text = card(
        model,
        tmp_path,
        command=["keras-selfattn", "train", "/data/my texts.jsonl", "--dev=/d"],
        licence="Ask first.",
        limits=["It knows reviews alone."],
    )
    assert "    keras-selfattn train 'my texts.jsonl' --dev=d\n" in text
    assert "## Licence\n\nAsk first.\n" in text
    assert "- It knows reviews alone." in text
    assert "also chose the best epoch" in text


def test_without_vectors(model, tmp_path):
    record = model.training_record
    try:
        model.training_record = {**record, "vectors": None}
        assert "none pretrained" in card(model, tmp_path)[1]
    finally:
        model.training_record = record


def test_a_run_s_card_is_in_its_model_folder(model, tmp_path):
    model.save_to_preset(tmp_path / "run" / "model")
    path, _ = card(model, tmp_path / "run")
    assert path == tmp_path / "run" / "model" / "README.md"
    loaded = models.from_preset(tmp_path / "run")
    assert loaded.training_record["seed"] == 4
