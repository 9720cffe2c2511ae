import io
import json
import sys

import numpy as np
import pytest

from keras_selfattn.cli import main
from keras_selfattn.models import from_preset
from tests.cli.commands import fails
from tests.visualization.examples import decomposable

TEXTS = ["good food", "bad", "a much longer text about good food ."]


@pytest.fixture
def files(tmp_path):
    one, other = tmp_path / "one.txt", tmp_path / "other.csv"
    one.write_text("\n".join(TEXTS) + "\n")
    other.write_text('id,text\n1,good\n2,\n3,"bad food"\n')
    return one, other


def encode(model, files, output, *more):
    arguments = ["encode", model, *files, f"--output={output}", *more]
    assert main(list(map(str, arguments))) == 0


def check(arrays, folder, capsys):
    model = from_preset(folder)
    texts = [*TEXTS, "good", "bad food"]
    good = [0, 1, 2, 3, 5]
    expected = model.encode(texts, verbose=0)
    np.testing.assert_allclose(arrays["embedding"][good], expected, atol=1e-6)
    probabilities = model.predict(texts, verbose=0)
    np.testing.assert_allclose(
        arrays["probabilities"][good], probabilities, atol=1e-6
    )
    labels = [model.labels[place] for place in probabilities.argmax(-1)]
    assert arrays["label"][good].tolist() == labels
    assert arrays["label"][4] == ""
    for name in ("embedding", "probabilities"):
        assert arrays[name].dtype == "float32"
        assert np.isnan(arrays[name][4]).all()
    (line,) = capsys.readouterr().err.splitlines()
    assert "1 of 6 rows could not be encoded" in line
    assert "other.csv:3: expected text" in line


def test_one_file_of_arrays(tiny_folder, files, tmp_path, capsys):
    encode(tiny_folder, files, tmp_path / "vectors.npz")
    with np.load(tmp_path / "vectors.npz") as arrays:
        check(arrays, tiny_folder, capsys)
        assert arrays["labels"].tolist() == ["1", "two", "gütig"]


@pytest.mark.parametrize("is_there", [False, True])
def test_a_folder_of_arrays(tiny_folder, files, tmp_path, capsys, is_there):
    folder = tmp_path / "vectors"
    if is_there:
        folder.mkdir()
    encode(tiny_folder, files, folder)
    arrays = {path.stem: np.load(path) for path in folder.iterdir()}
    check(arrays, tiny_folder, capsys)
    assert arrays["labels"].tolist() == ["1", "two", "gütig"]


def test_parquet(tiny_folder, files, tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    encode(tiny_folder, files, tmp_path / "vectors.parquet")
    table = parquet.read_table(tmp_path / "vectors.parquet").to_pydict()
    names = ("1", "two", "gütig")
    columns = [table.pop(f"probability_{name}") for name in names]
    arrays = {name: np.array(rows) for name, rows in table.items()}
    arrays["embedding"] = arrays["embedding"].astype("float32")
    arrays["probabilities"] = np.array(columns, "float32").T
    check(arrays, tiny_folder, capsys)


def test_what_is_given(tiny_folder, tmp_path, monkeypatch):
    for given in ("label", "embedding", "probabilities", "label,embedding"):
        stream = io.TextIOWrapper(io.BytesIO(b"good food\n"))
        monkeypatch.setattr(sys, "stdin", stream)
        encode(tiny_folder, ["-"], tmp_path / "vectors.npz", f"--give={given}")
        with np.load(tmp_path / "vectors.npz") as arrays:
            assert {*arrays} == {*given.split(","), "labels"}
    with pytest.raises(SystemExit):
        encode(tiny_folder, ["-"], tmp_path / "vectors.npz", "--give=scores")


def test_pairs(tmp_path):
    decomposable().save_to_preset(tmp_path / "model")
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"a": "good", "b": "bad"}) + "\n")
    columns = ["--text=a", "--text-pair=b"]
    encode(tmp_path / "model", [path], tmp_path / "vectors.npz", *columns)
    with np.load(tmp_path / "vectors.npz") as arrays:
        assert len(arrays["embedding"]) == 1


def test_rows_that_are_all_bad(tiny_folder, tmp_path, capsys):
    path = tmp_path / "texts.txt"
    path.write_text("\n\n")
    encode(tiny_folder, [path], tmp_path / "vectors.npz")
    with np.load(tmp_path / "vectors.npz") as arrays:
        assert np.isnan(arrays["embedding"]).all()
        assert arrays["label"].tolist() == ["", ""]


def test_a_pattern_gives_a_file_for_each_file(tiny_folder, tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    for number, text in enumerate(("good\n\n", "bad\n")):
        (tmp_path / f"part-{number}.txt").write_text(text)
    arguments = [
        *("encode", tiny_folder, tmp_path / "part-*", "--give=label,attention"),
        f"--output={tmp_path / 'out'}",
    ]
    for more in ("", ", 2 more were there"):
        assert main(list(map(str, arguments))) == 0
        captured = capsys.readouterr()
        written = 0 if more else 2
        assert captured.out == f"3 rows; {written} files written{more}\n"
        assert "1 of 3 rows could not be encoded" in captured.err
    tables = [
        parquet.read_table(tmp_path / "out" / f"part-{number}.parquet")
        for number in (0, 1)
    ]
    assert tables[0].schema.names == ["label", "tokens", "attention"]
    assert tables[0]["tokens"].to_pylist() == [["good"], None]
    assert tables[1]["tokens"].to_pylist() == [["bad"]]
    # The same in one file, and the files in the order of their names.
    encode(tiny_folder, [tmp_path / "part-*"], tmp_path / "all.parquet")
    table = parquet.read_table(tmp_path / "all.parquet")
    labels = [label for each in tables for label in each["label"].to_pylist()]
    assert table["label"].to_pylist() == labels


def test_arguments_that_do_not_go_together(
    tiny_folder, files, tmp_path, capsys
):
    file = f"--output={tmp_path / 'vectors.npz'}"
    folder = f"--output={tmp_path / 'out'}"
    fails(
        capsys,
        ["encode", tiny_folder, files[0], file, "--give=attention"],
        "attention has as many numbers as a text has words",
    )
    fails(
        capsys,
        ["encode", tiny_folder, files[0], folder, "--give=label,attention"],
        "written to .parquet alone",
    )
    for more in ("--workers=2", "--ray-address=127.0.0.1:1"):
        fails(
            capsys,
            ["encode", tiny_folder, files[0], file, more],
            "--output must be a folder",
        )
    fails(
        capsys,
        ["encode", tiny_folder, tmp_path / "*.txt", folder, "--download"],
        "--download gets one archive",
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["vectors.csv", "none/vectors.npz", "full"])
def test_outputs_that_cannot_be_written(
    tiny_folder, files, tmp_path, name, capsys
):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    output = f"--output={tmp_path / name}"
    fails(
        capsys, ["encode", tiny_folder, files[0], output], str(tmp_path / name)
    )
