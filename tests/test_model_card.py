import sys

import keras
import numpy as np
import pytest
from markdown_it import MarkdownIt

from keras_selfattn import models
from keras_selfattn.evaluation import Evaluation
from keras_selfattn.model_card import model_card
from keras_selfattn.model_card import read_model_card
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
    command = "    keras-selfattn train '/data/my texts.jsonl' --dev=/d\n"
    assert command in text
    assert "## License\n\nAsk first.\n" in text
    assert "- It knows reviews alone." in text
    assert "also chose the best epoch" in text


def test_a_model_without_a_run(tmp_path):
    text = model_card(tiny_classifier(labels=("a", "b")))
    assert "A `SentenceClassifier` of keras_selfattn" in text
    assert "| Vocabulary | 7 ids |" in text
    assert "## Training\n\nNothing is known of it.\n" in text
    assert "## Data" not in text and "## Figures" not in text
    assert "also chose the best epoch" not in text
    assert f"- keras {keras.__version__}" in text
    assert read_model_card(tmp_path) is None


def test_a_record_that_is_of_no_run(tmp_path):
    model = tiny_classifier(labels=("a", "b"))
    model.training_record = {"made_by": "me|you", "vectors": "/home/me/v.txt"}
    text = model_card(model)
    assert "| Made by | `me\\|you` |" in text
    assert "| Vectors | `v.txt` |" in text


def shown(text):
    """What a reader of Markdown sees: the cells of each row, and the HTML."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    rows, inside = [], None
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("th_open", "td_open"):
            inside = rows[-1]
        elif inside is not None:
            inside.append("".join(part.content for part in token.children))
            inside = None
    return rows, [t for t in tokens if "html" in t.type or _has_html(t)]


def _has_html(token):
    return any("html" in part.type for part in token.children or ())


def test_labels_stay_text():
    labels = ["<script>x</script>", "two\nlines", "a``b", "*_~[c](d)\\", "a\\|"]
    lines = [" ".join(label.split()) for label in labels]
    model = tiny_classifier(labels=labels)
    data = {"rows": 5, "classes": dict.fromkeys(labels, 1), "sha256": "1f"}
    text = model_card(
        model,
        Evaluation(labels, np.eye(5, dtype=int)),
        {"train": data},
        command=["keras-selfattn", "a\nb\ud800"],
    )
    rows, html = shown(text)
    assert html == []
    assert ["train", "5", ", ".join(f"{x} 1" for x in lines), "1f"] in rows
    assert ["true \\ predicted", *lines] in rows
    for label in lines:
        assert [label, "100.0", "100.0", "100.0", "1"] in rows
    assert (
        "`<script>x</script>`, `two lines`, ``` a``b ```, `*_~[c](d)\\`" in text
    )
    assert "    keras-selfattn 'a\n    b\ufffd'\n" in text


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
    for folder in (tmp_path / "run", tmp_path / "run" / "model"):
        assert read_model_card(folder) == path.read_text()
    loaded = models.from_preset(tmp_path / "run")
    assert loaded.training_record["seed"] == 4
