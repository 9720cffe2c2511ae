"""Every snippet of the README runs."""

import csv
import json
import pathlib
import re
import shlex
import subprocess
import zipfile

import pytest

from keras_selfattn import models
from keras_selfattn.cli import main
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
# These start what a test cannot: the tests themselves, and a container.
NOT_RUN = ("make", "docker", "curl")


def snippets(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


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


@pytest.mark.slow
def test_python_snippets(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for snippet in snippets("python"):
        exec(compile(snippet, "README.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "(None, 30, 300) (None, 30, None)" in shown
    assert "['1', '2', '3', '4', '5']" in shown


@pytest.mark.slow
def test_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_reviews("reviews_train.csv", 400, 1)
    write_reviews("reviews_dev.csv", 100, 2)
    write_snli("snli_1.0.zip")
    commands = [
        shlex.split(line)
        for snippet in snippets("sh")
        for line in snippet.splitlines()
    ]
    run = [command for command in commands if command[0] not in NOT_RUN]
    assert {command[0] for command in run} == {"keras-selfattn"}
    assert {command[1] for command in run} == {
        "train",
        "evaluate",
        "predict",
        "explain",
        "tune",
        "reproduce",
        "export",
    }
    for command in run:
        assert main(command[1:]) == 0, command


def test_make_knows_its_targets():
    makefile = ROOT / "Makefile"
    for snippet in snippets("sh"):
        for line in snippet.splitlines():
            if line.startswith("make "):
                subprocess.run(
                    ["make", "--dry-run", "--file", makefile, line.split()[1]],
                    check=True,
                    capture_output=True,
                    cwd=ROOT,
                )


def test_linked_files_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


def test_table_of_presets():
    rows = {
        cells[1].strip(" `"): [cell.strip() for cell in cells[2:-1]]
        for line in README.splitlines()
        if line.startswith("| `") and len(cells := line.split("|")) == 9
    }
    assert list(rows) == models.list_presets()
    for name, cells in rows.items():
        preset = models.get_preset(name)
        model = models.from_preset(
            name, vocabulary_size=2, num_classes=preset.num_classes
        )
        counts = model.parameter_counts()
        del counts["word vectors"]
        counts["all"] = sum(counts.values())
        assert cells[0] == preset.table
        for figure in preset.published.values():
            assert str(figure) in cells[1]
        assert cells[2:] == [f"{count:,}" for count in counts.values()]
        assert preset.parameters == counts["all"]
