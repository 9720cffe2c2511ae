"""The installed package does its main job in a folder of its own.

    python tests/installed.py

is run with the Python that the wheel was installed for. It fails where the
package is not the installed one, where a file of it or the licence is
missing, or where a command does.
"""

import csv
import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = (
    "predict snli_decomposable --pair Sleeping. Awake.",
    "train reviews.csv --dev-fraction 0.2 --text review --label stars "
    "--preset lin2017_cnn_max_yelp --set units=32 --set hidden_units=32 "
    "--epochs 1 --output runs/reviews",
    "evaluate runs/reviews reviews.csv --text review --label stars",
    "predict runs/reviews hello",
    "explain runs/reviews hello --html page.html",
    "export runs/reviews served/reviews",
)
ANSWER = """
from keras_selfattn.serving import load_savedmodel
print(load_savedmodel("served/reviews/1").predict(["hello"]))
"""


def missing():
    """Files of the source, and the licence, that the package lacks."""
    installed = {
        str(path) for path in importlib.metadata.files("keras_selfattn")
    }
    files = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "keras_selfattn").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    lacks = sorted(files - installed)
    if not any(name.endswith("licenses/LICENSE") for name in installed):
        lacks.append("LICENSE")
    return lacks


def write_reviews(path):
    from keras_selfattn.data.generated import generate_reviews

    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["review", "stars"])
        for review in generate_reviews(100):
            writer.writerow([review.text, review.label])


def main():
    # As a script's folder, `tests` is on the path, and its parent is not.
    import keras_selfattn

    place = pathlib.Path(keras_selfattn.__file__)
    if place.is_relative_to(SOURCE / "keras_selfattn"):
        sys.exit(f"Expected an installed package. Received: {place}")
    if lacks := missing():
        sys.exit(f"The installed package lacks {lacks}")
    program = pathlib.Path(sys.executable).with_name("keras-selfattn")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_reviews("reviews.csv")
        for command in COMMANDS:
            subprocess.run([program, *command.split()], check=True)
        subprocess.run([sys.executable, "-c", ANSWER], check=True)
        os.chdir(SOURCE)


if __name__ == "__main__":
    main()
