"""The snippets of a page of documentation, and what they are run with."""

import csv
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile

from keras_selfattn.cli import main
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs

# These start what a test cannot: containers, servers, and what takes hours.
NOT_RUN = ("make", "docker", "curl", "pip", "python", "tensorboard")
_SERVER = "keras-selfattn serve "
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def snippets(text, *languages):
    """Pairs of a language and its snippet, in the page's order."""
    return [found for found in _FENCE.findall(text) if found[0] in languages]


def commands(text):
    """The lines of a page's commands."""
    return [
        line
        for _, code in snippets(text, "sh")
        for line in code.replace("\\\n", " ").splitlines()
        if line and not line.startswith("#")
    ]


def run(text, page):
    """Runs what a page shows, in order, in the working folder."""
    names = {}
    for language, code in snippets(text, "python", "sh"):
        if language == "python":
            exec(compile(code, page, "exec"), names)
        else:
            run_commands(commands(f"```sh\n{code}```"))


def run_commands(lines):
    """Runs lines of `keras-selfattn`; an error fails.

    Lines that begin with another program are left out, unless it feeds ours.
    """
    run = [
        line
        for line in lines
        if (shlex.split(line)[0] not in NOT_RUN or "| keras-selfattn" in line)
        and not line.startswith(_SERVER)
    ]
    for is_shell, group in itertools.groupby(run, _needs_shell):
        if is_shell:
            _run_in_shell(group)
            continue
        for line in group:
            program, *arguments = shlex.split(line)
            assert program == "keras-selfattn", line
            assert main(arguments) == 0, line


def _needs_shell(line):
    # TensorFlow is imported once for all lines that don't.
    return not line.startswith("keras-selfattn ") or bool(
        re.search(r"[|<>&]", line)
    )


def _run_in_shell(lines):
    script = [
        "set -eu -o pipefail",
        'keras-selfattn() { "$PYTHON" -m keras_selfattn "$@"; }',
        "beside=",
    ]
    for line in lines:
        script.append(line)
        if line.endswith("&"):
            script.append('beside="$beside $!"')
    script.append("for process in $beside; do wait $process; done")
    subprocess.run(
        ["bash", "-c", "\n".join(script)],
        env=os.environ | {"PYTHON": sys.executable},
        check=True,
    )


def write_reviews(path, size, seed):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["review", "stars"])
        for review in generate_reviews(size, seed=seed):
            writer.writerow([review.text, review.label])


def write_snli(path):
    with zipfile.ZipFile(path, "w") as archive:
        for seed, split in enumerate(("train", "dev", "test")):
            pairs = [
                {
                    "gold_label": pair.label,
                    "sentence1": pair.premise,
                    "sentence2": pair.hypothesis,
                    "pairID": f"{split}{number}",
                }
                for number, pair in enumerate(generate_pairs(60, seed=seed))
            ]
            archive.writestr(
                f"snli_1.0/snli_1.0_{split}.jsonl",
                "".join(json.dumps(pair) + "\n" for pair in pairs),
            )


def write_pairs(path, size, seed):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["first", "second", "relation"])
        for pair in generate_pairs(size, seed=seed):
            writer.writerow([pair.premise, pair.hypothesis, pair.label])


def write_corpora(folder):
    """The files that the snippets read."""
    write_reviews(folder / "reviews_train.csv", 400, 1)
    write_reviews(folder / "reviews_dev.csv", 100, 2)
    texts = [review.text for review in generate_reviews(400, seed=3)]
    (folder / "more_reviews.txt").write_text("\n".join(texts))
    write_pairs(folder / "pairs_train.csv", 400, 1)
    write_pairs(folder / "pairs_dev.csv", 100, 2)
    write_snli(folder / "snli_1.0.zip")
