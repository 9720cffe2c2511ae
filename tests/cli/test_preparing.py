import json
import subprocess
import sys
import zipfile

import pytest

from keras_selfattn.cli import main
from tests.cli.commands import SMALL
from tests.cli.commands import fails
from tests.cli.commands import write_reviews


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for number, size in enumerate((60, 40)):
        path = write_reviews(folder / f"part-{number}.jsonl", size, number)
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"review": "", "stars": 1.0}\n')
    write_reviews(folder / "dev.jsonl", 30, 2)
    return folder


def arguments(parts, output, *more):
    return [
        "prepare",
        str(parts / "part-*.jsonl"),
        f"--dev={parts / 'dev.jsonl'}",
        f"--output={output}",
        "--text=review",
        "--label=stars",
        "--workers=1",
        "--max-bad-rate=0.1",
        *SMALL,
        *more,
    ]


def test_prepare_and_train(parts, tmp_path, capsys):
    assert main(arguments(parts, tmp_path / "ids")) == 0
    said = capsys.readouterr()
    assert "100 texts of" in said.out and "in 2 shards" in said.out
    assert "part-1.jsonl: 41 rows, left out: 1 empty text" in said.err
    train = ["train", str(tmp_path / "ids"), *SMALL]
    assert main([*train, f"--output={tmp_path / 'run'}"]) == 0
    assert "Best dev accuracy" in capsys.readouterr().out
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "| train | 100 |" in card and "| dev | 30 |" in card
    # Of the rows of the dev texts, by their true labels.
    _, confusion = card.split("true \\ predicted")
    rows = [line.split("|")[2:-1] for line in confusion.splitlines()[2:7]]
    assert sum(int(cell) for row in rows for cell in row) == 30
    history = (tmp_path / "run" / "history.csv").read_text().splitlines()
    names, epoch = (line.split(",") for line in history[:2])
    accuracy = float(epoch[names.index("val_accuracy")])
    assert f"Dev accuracy {accuracy:.2%} over 30 texts" in card
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    # As for files of one's own texts.
    assert settings["training"]["patience"] is not None
    fails(
        capsys,
        [*train, f"--output={tmp_path / 'other'}", "--text=review"],
        "`--text` is for texts",
    )
    for option in ("--download", "--max-bad-rate=0"):
        fails(
            capsys,
            [*train, f"--output={tmp_path / 'other'}", option],
            f"`{option.split('=')[0]}` is for texts",
        )
    fails(
        capsys,
        [*train, str(parts / "dev.jsonl"), f"--output={tmp_path / 'other'}"],
        "A prepared folder is given alone",
    )
    fails(
        capsys,
        [*train, f"--output={tmp_path / 'other'}", "--max-tokens=9"],
        "prepared with other values of: max_tokens",
    )
    assert not (tmp_path / "other").exists()
    fails(capsys, arguments(parts, tmp_path / "ids"), "must be new")


def test_no_file_of_a_pattern(parts, tmp_path, capsys):
    given = arguments(parts, tmp_path / "ids")
    given[1] = str(parts / "nothing-*")
    fails(capsys, given, "no file that matches", "nothing-*")
    assert not (tmp_path / "ids").exists()


@pytest.mark.parametrize("place", ["data", "dev"])
def test_texts_that_are_ids_already_are_refused(parts, tmp_path, capsys, place):
    ids = tmp_path / "ids"
    ids.mkdir()
    (ids / "manifest.json").write_text("{}")
    given = arguments(parts, tmp_path / "new", f"--dev={ids}")
    if place == "data":
        given = ["prepare", ids, f"--output={tmp_path / 'new'}"]
    fails(capsys, given, f"`prepare` takes texts. Received: {ids}, which")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("manifest", ["{}", "[]", '{"settings": 1}'])
@pytest.mark.parametrize("more", [[], ["--preset=lin2017_yelp"]])
def test_a_folder_of_another_manifest(tmp_path, capsys, manifest, more):
    path = tmp_path / "manifest.json"
    path.write_text(manifest)
    train = ["train", tmp_path, f"--output={tmp_path / 'run'}", *more]
    fails(capsys, train, f"{path} does not say what `prepare` has made")
    assert not (tmp_path / "run").exists()


def write_archive(path, *words):
    """An archive as SNLI's, of a pair for each word in each of its parts."""
    rows = [
        {"gold_label": label, "sentence1": f"A {word}.", "sentence2": "Any."}
        for word in words
        for label in ("entailment", "neutral")
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    with zipfile.ZipFile(path, "w") as archive:
        for part in ("train", "dev"):
            archive.writestr(f"snli_1.0/snli_1.0_{part}.jsonl", lines)
    return path


def test_the_dev_texts_of_all_archives(parts, tmp_path, capsys):
    archives = [
        write_archive(tmp_path / "one.zip", "dog"),
        write_archive(tmp_path / "two.zip", "cat", "cow"),
    ]
    output = tmp_path / "ids"
    given = ["--preset=parikh2016_snli", "--workers=1", f"--output={output}"]
    fails(capsys, ["prepare", *archives, parts / "dev.jsonl", *given], "--dev")
    assert main(["prepare", *map(str, archives), *given]) == 0
    manifest = json.loads((output / "manifest.json").read_text())
    assert manifest["dev"]["rows"] == 6
    assert "6 texts of" in capsys.readouterr().out


@pytest.mark.slow
def test_processes_say_nothing_of_their_own(parts, tmp_path):
    given = arguments(parts, tmp_path / "ids", "--workers=2")
    done = subprocess.run(
        [sys.executable, "-m", "keras_selfattn", *given],
        capture_output=True,
        text=True,
        check=True,
    )
    (note,) = done.stderr.splitlines()
    assert "1 empty text" in note
    assert done.stdout.startswith("100 texts of")
