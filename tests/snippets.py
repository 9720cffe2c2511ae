"""The snippets of a page of documentation, and what they are run with."""

import csv
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
NOT_RUN = ("make", "docker", "curl", "pip", "python", "tensorboard", "printf")
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

    What other programs are to do is left out. Lines that end with `&` run
    beside those after them.
    """
    beside = []
    for line in lines:
        words = shlex.split(line)
        environment = {}
        while re.match(r"[A-Z_]+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            environment[name] = value
        if words[0] in NOT_RUN:
            continue
        assert words[0] == "keras-selfattn", line
        if not environment:
            assert main(words[1:]) == 0, line
            continue
        waits = words[-1] != "&"
        arguments = words[1:] if waits else words[1:-1]
        # Keras reads what it runs on once.
        process = subprocess.Popen(
            [sys.executable, "-m", "keras_selfattn", *arguments],
            env=os.environ | environment,
        )
        if waits:
            assert process.wait() == 0, line
        else:
            beside.append((process, line))
    for process, line in beside:
        assert process.wait() == 0, line


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
    write_pairs(folder / "pairs_train.csv", 400, 1)
    write_pairs(folder / "pairs_dev.csv", 100, 2)
    write_snli(folder / "snli_1.0.zip")
