"""A new user, from an empty folder with a CSV file to a served answer.

Each step is timed; the times are printed, with `-s` to be seen.
"""

import csv
import pathlib
import subprocess
import sys
import time

import pytest

from keras_selfattn.data.generated import generate_reviews

# Of what a user would type: twelve lines at most.
SCRIPT = """
import csv, keras_selfattn as ks
rows = list(csv.DictReader(open("reviews.csv", encoding="utf-8")))
texts, labels = [r["review"] for r in rows], [r["stars"] for r in rows]
preprocessor = ks.text.TextPreprocessor(lowercase=True)
preprocessor.adapt(texts)
model = ks.models.from_preset("lin2017_cnn_max_yelp", preprocessor=preprocessor, labels=sorted(set(labels)), units=32, hidden_units=32)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(texts, labels, validation_split=0.1, epochs=2)
print(model.predict(["Not bad at all!"]))
ks.serving.export(model, "served/reviews")
print("served", ks.serving.load_savedmodel("served/reviews/1").predict(["Not bad at all!"]))
"""  # noqa: E501
# And five commands.
COMMANDS = (
    "train reviews.csv --dev-fraction 0.1 --text review --label stars "
    "--preset lin2017_cnn_max_yelp --set units=32 --set hidden_units=32 "
    "--epochs 2 --output runs/reviews",
    "evaluate runs/reviews reviews.csv --text review --label stars",
    "predict runs/reviews",
    "export runs/reviews served/reviews",
)
ANSWER = """
from keras_selfattn.serving import load_savedmodel
print("served", load_savedmodel("served/reviews/1").predict(["Not bad!"]))
"""


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "reviews.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["review", "stars"])
        for review in generate_reviews(400, seed=1):
            writer.writerow([review.text, review.label])
    return tmp_path


def run(folder, *arguments):
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    print(f"{seconds:6.1f} s  {' '.join(arguments)[:60]!r}")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_in_python(folder):
    assert len(SCRIPT.strip().splitlines()) <= 12
    assert "served (" in run(folder, "-c", SCRIPT)


@pytest.mark.slow
def test_on_the_command_line(folder):
    assert len(COMMANDS) + 1 <= 5
    for command in COMMANDS:
        more = ["Not bad at all!"] if command.startswith("predict") else []
        shown = run(folder, "-m", "keras_selfattn", *command.split(), *more)
        assert shown
    assert pathlib.Path(folder, "served/reviews/1/saved_model.pb").exists()
    assert "served (" in run(folder, "-c", ANSWER)
