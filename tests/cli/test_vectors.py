import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

from keras_selfattn.cli import main
from keras_selfattn.data import generate_reviews
from keras_selfattn.data import learn_word_vectors
from keras_selfattn.data import load_word_vectors
from keras_selfattn.data import open_corpus
from tests.cli.commands import fails
from tests.cli.commands import train_arguments
from tests.cli.commands import write_reviews


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, size, seed in (("train", 150, 0), ("dev", 150, 1)):
        write_reviews(folder / f"{name}.jsonl", size, seed)
    texts = [review.text for review in generate_reviews(300, seed=2)]
    with gzip.open(folder / "some.txt.gz", "wt") as file:
        file.writelines(f"{text}\n" for text in texts[:200])
    (folder / "more.txt").write_text("\n".join(texts[200:]))
    return folder


def test_vectors_of_texts_without_labels(data, tmp_path, capsys):
    output = tmp_path / "vectors.txt.gz"
    files = [str(data / "some.txt.gz"), str(data / "mor*.txt")]
    assert main(["vectors", *files, f"--output={output}"]) == 0
    texts = [
        text
        for name in ("some.txt.gz", "more.txt")
        for text, _ in open_corpus(data / name, labelled=False)
    ]
    words, expected = learn_word_vectors(texts)
    said = capsys.readouterr().out
    assert said == (
        f"{len(words)} words have vectors of 200 numbers in {output}\n"
    )
    vectors, found = load_word_vectors(output, words)
    assert found.all()
    np.testing.assert_allclose(vectors, expected, rtol=1e-4, atol=1e-8)
    # They are what `train` takes, beside others.
    given = [f"--vectors={output}", "--vectors=reviews_structured"]
    given.append("--set=learn_vectors=0")
    run = train_arguments(data, tmp_path / "run", *given)
    run.remove("--set=embedding_dim=8")
    assert main(run) == 0
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "vectors.txt.gz" in card
    config = json.loads(
        (tmp_path / "run" / "model" / "config.json").read_text()
    )
    assert config["config"]["embedding_dim"] == 250


def test_labels_are_not_read(data, tmp_path, capsys):
    files = [str(data / f"{name}.jsonl") for name in ("train", "dev")]
    output = tmp_path / "vectors.txt"
    given = ["--text=review", f"--output={output}"]
    assert main(["vectors", *files, *given]) == 0
    assert " words have vectors of 200 numbers" in capsys.readouterr().out
    words = [line.partition(" ")[0] for line in output.read_text().splitlines()]
    assert "was" in words and "4.0" not in words


@pytest.mark.slow
def test_standard_input(data, tmp_path):
    output = tmp_path / "vectors.txt"
    subprocess.run(
        [sys.executable, "-m", "keras_selfattn", "vectors", "-"]
        + [f"--output={output}"],
        input=gzip.decompress((data / "some.txt.gz").read_bytes()),
        check=True,
    )
    other = tmp_path / "of_a_file.txt"
    file = str(data / "some.txt.gz")
    assert main(["vectors", file, f"--output={other}"]) == 0
    assert output.read_bytes() == other.read_bytes()


def test_rows_without_a_text_are_left_out(data, tmp_path, capsys):
    texts = [review.text for review in generate_reviews(300, seed=2)]
    rows = [json.dumps({"text": text}) for text in texts]
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    whole.write_text("\n".join(rows))
    broken.write_text("\n".join(["{", '{"text": " "}', *rows]))
    for file in (whole, broken):
        output = str(file.with_suffix(".txt"))
        assert main(["vectors", str(file), f"--output={output}"]) == 0
    said = capsys.readouterr().err
    assert f"2 of {len(rows) + 2} rows are left out; the first: " in said
    assert "broken.jsonl:1" in said
    written = [
        file.with_suffix(".txt").read_bytes() for file in (whole, broken)
    ]
    assert written[0] == written[1]


def test_errors(data, tmp_path, capsys):
    def given(file, output, *more):
        return ["vectors", data / file, f"--output={tmp_path / output}", *more]

    fails(capsys, given("more.txt", "a.npz"), "must end in .txt or .txt.gz")
    fails(capsys, given("more.txt", "no/a.txt"), "There must be a folder")
    fails(capsys, given("none.txt", "a.txt"), "none.txt")
    fails(capsys, given("train.jsonl", "a.txt"), "train.jsonl:1", "review")
    few = tmp_path / "few.txt"
    few.write_text("a few words\n" * 9)
    fails(capsys, given(few, "a.txt"), "3 words that occur 5 times or more")
    assert [path.name for path in tmp_path.iterdir()] == ["few.txt"]
