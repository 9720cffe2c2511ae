"""The long commands, each as a process of its own, on JAX and on torch."""

import csv
import json

import pytest

from keras_selfattn.data.generated import generate_reviews
from tests.backends.process import OTHERS
from tests.backends.process import python
from tests.backends.process import skip_without

SMALL = {
    "embedding_dim": 4,
    "units": 3,
    "attention_dim": 5,
    "num_heads": 2,
    "hidden_units": 6,
}


@pytest.fixture
def texts(tmp_path):
    paths = []
    for seed, (name, size) in enumerate({"train": 60, "dev": 30}.items()):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(
            "".join(
                json.dumps({"text": row.text, "label": row.label}) + "\n"
                for row in generate_reviews(size, seed)
            )
        )
        paths.append(str(path))
    return paths


def command(backend, *arguments):
    skip_without(backend)
    return python(backend, "-m", "keras_selfattn", *map(str, arguments))


def small(**more):
    values = {**SMALL, "min_count": 1, **more}
    return [
        part
        for name, value in values.items()
        for part in ("--set", f"{name}={value}")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("backend", OTHERS)
def test_tune(backend, tmp_path, texts):
    train, dev = texts
    folder = tmp_path / "search"
    command(
        *(backend, "tune", train, "--dev", dev, "--output", folder),
        *(
            "--trials",
            2,
            "--epochs",
            1,
            "--only",
            "--search",
            "kernel_size=[2,3]",
        ),
        *small(batch_size=20, encoder="cnn"),
    )
    with open(folder / "trials.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["completed"] * 2
    answer = command(backend, "predict", folder, "The food was good.")
    assert json.loads(answer)["label"] in "12345"


@pytest.mark.slow
@pytest.mark.parametrize("backend", OTHERS)
def test_reproduce(backend, tmp_path, texts):
    train, dev = texts
    folder = tmp_path / "table"
    command(
        *(backend, "reproduce", "lin2017", "--table", 1, "--corpus", "yelp"),
        *("--train", train, "--dev", dev, "--output", folder),
        *("--rows", "structured,bilstm-max", "--epochs", 1),
        *small(),
    )
    results = json.loads((folder / "results.json").read_text())
    assert "structured" in json.dumps(results)
    assert "failed" not in (folder / "results.md").read_text()
