import concurrent.futures
import gzip
import json
import os
import shutil

import numpy as np
import pytest

from keras_selfattn import encoding
from keras_selfattn.encoding import work
from keras_selfattn.encoding.views import VIEWS
from keras_selfattn.locks import folder_held
from keras_selfattn.models import from_preset
from tests.tiny_classifier import tiny_classifier

parquet = pytest.importorskip("pyarrow.parquet")

PARTS = {
    "part-0.txt": ["good food", "bad", "a longer text about good food ."],
    "part-1.txt": ["", "food"],
    "part-2.txt": [],
}


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, texts in PARTS.items():
        (folder / name).write_text("".join(f"{text}\n" for text in texts))
    return folder


@pytest.fixture
def other_thread():
    """Calls a function in a thread of its own, and gives its error."""

    def call(function):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(function).exception()

    return call


def contents(folder):
    """By name the bytes of all files."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_file_for_each_file(tiny_folder, parts, tmp_path):
    out = tmp_path / "out"
    found = encoding.encode_files(tiny_folder, [parts / "part-*"], out, VIEWS)
    assert (found.files, found.found, found.rows, found.bad) == (3, 0, 5, 1)
    assert "part-1.txt:1: expected text" in found.first
    assert str(found) == "5 rows; 3 files written"
    assert sorted(contents(out)) == [f"part-{i}.parquet" for i in range(3)]
    tables = [parquet.read_table(out / f"part-{i}.parquet") for i in range(3)]
    assert [table.num_rows for table in tables] == [3, 2, 0]
    assert tables[0].schema.types == tables[2].schema.types
    loaded = from_preset(tiny_folder)
    columns = tables[0].to_pydict()
    texts = PARTS["part-0.txt"]
    embeddings = loaded.encode(texts, verbose=0)
    np.testing.assert_allclose(columns["embedding"], embeddings, atol=1e-6)
    probabilities = loaded.predict(texts, verbose=0)
    np.testing.assert_allclose(
        np.transpose([columns[f"probability_{n}"] for n in loaded.labels]),
        probabilities,
        atol=1e-6,
    )
    assert columns["tokens"] == [text.split() for text in texts]
    (first, *_), (second, *_), (third, *_) = columns["attention"]
    assert [len(first), len(second), len(third)] == [2, 1, 7]
    assert sum(third) == pytest.approx(1, abs=1e-6)
    bad = tables[1].to_pylist()[0]
    assert bad["label"] == ""
    assert bad["tokens"] is None and bad["attention"] is None
    assert np.isnan(bad["embedding"]).all()
    assert tables[1].to_pylist()[1]["tokens"] == ["food"]


def test_what_is_there_stays(tiny_folder, parts, tmp_path, monkeypatch):
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    first = encoding.encode_files(tiny_folder, [parts / "*"], undisturbed)
    # It dies in the second file, between two chunks.
    run = work.Work.run
    monkeypatch.setattr(work, "ROWS", 1)

    def dying(self, shard, encoder, on_rows):
        def count(rows):
            on_rows(rows)
            if shard.source.endswith("part-1.txt"):
                raise KeyboardInterrupt

        return run(self, shard, encoder, count)

    monkeypatch.setattr(work.Work, "run", dying)
    with pytest.raises(KeyboardInterrupt):
        encoding.encode_files(tiny_folder, [parts / "*"], out)
    assert list(contents(out)) == ["part-0.parquet"]
    before = (out / "part-0.parquet").stat()
    # As a process leaves it that had no time to clear away.
    (out / ".part-1.parquet.1234.tmp").write_text("half")
    monkeypatch.undo()
    second = encoding.encode_files(tiny_folder, [parts / "*"], out)
    assert (out / "part-0.parquet").stat() == before
    assert (second.files, second.found) == (2, 1)
    assert str(second) == "5 rows; 2 files written, 1 more were there"
    assert (second.rows, second.bad, second.first) == (
        *(first.rows, first.bad, first.first),
    )
    assert sorted(contents(out)) == sorted(contents(undisturbed))
    for name in contents(out):
        one, other = (
            parquet.read_table(folder / name) for folder in (out, undisturbed)
        )
        assert one.schema == other.schema
        assert one.num_rows == other.num_rows


@pytest.mark.parametrize("what", ["text", "model", "choice of columns"])
def test_nothing_is_mixed(tiny_folder, parts, tmp_path, what):
    out = tmp_path / "out"
    encoding.encode_files(tiny_folder, [parts / "*"], out, ["label"])
    before = contents(out)
    give = ["label"]
    if what == "text":
        (parts / "part-1.txt").write_text("food\nbad\n")
    elif what == "model":
        tiny_folder = tmp_path / "other"
        tiny_classifier(labels=("a", "b", "c")).save_to_preset(tiny_folder)
    else:
        give = ["label", "embedding"]
    with pytest.raises(ValueError, match=f"written for another {what}"):
        encoding.encode_files(tiny_folder, [parts / "*"], out, give)
    assert contents(out) == before


def test_a_card_that_was_edited_is_no_other_model(tiny_folder, parts, tmp_path):
    model, out = tmp_path / "model", tmp_path / "out"
    shutil.copytree(tiny_folder, model)
    encoding.encode_files(model, [parts / "*"], out, ["label"])
    (model / "README.md").write_text("# Ours\n")
    found = encoding.encode_files(model, [parts / "*"], out, ["label"])
    assert (found.files, found.found) == (0, 3)


def test_a_file_of_another_program(tiny_folder, parts, tmp_path):
    (tmp_path / "out").mkdir()
    for content in (b"", b"PAR1"):
        (tmp_path / "out" / "part-0.parquet").write_bytes(content)
        with pytest.raises(ValueError, match="part-0.parquet is there"):
            encoding.encode_files(tiny_folder, [parts / "*"], tmp_path / "out")


def test_files_that_cannot_be_read_keep_none_of_the_others_back(
    tiny_folder, parts, tmp_path
):
    damaged = gzip.compress(b"good\n" * 1000)[:-9]
    (parts / "part-05.txt.gz").write_bytes(damaged)
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="1 of 4 files .*part-05.txt.gz"):
        encoding.encode_files(tiny_folder, [parts / "*"], out)
    assert sorted(contents(out)) == [f"part-{i}.parquet" for i in range(3)]
    (parts / "part-05.txt.gz").unlink()
    assert encoding.encode_files(tiny_folder, [parts / "*"], out).found == 3


def test_a_first_file_without_rows_keeps_none_of_the_others_back(
    tiny_folder, parts, tmp_path
):
    (parts / "a.txt").write_text("")
    found = encoding.encode_files(tiny_folder, [parts / "*"], tmp_path / "out")
    assert (found.files, found.rows) == (4, 5)


def test_a_damaged_first_file_keeps_none_of_the_others_back(
    tiny_folder, parts, tmp_path
):
    (parts / "a.txt.gz").write_bytes(b"none")
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="1 of 4 files .*a.txt.gz"):
        encoding.encode_files(tiny_folder, [parts / "*"], out)
    assert sorted(contents(out)) == [f"part-{i}.parquet" for i in range(3)]


def test_a_crash_before_a_last_empty_file_goes_on(tiny_folder, parts, tmp_path):
    out = tmp_path / "out"
    encoding.encode_files(tiny_folder, [parts / "*"], out)
    (out / "part-2.parquet").unlink()
    found = encoding.encode_files(tiny_folder, [parts / "*"], out)
    assert (found.files, found.found, found.rows) == (1, 2, 5)


def test_files_without_any_row_that_can_be_read(tiny_folder, parts, tmp_path):
    empty, damaged = parts / "part-2.txt", parts / "part-3.txt.gz"
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="part-2.txt:1: .*one record"):
        encoding.encode_files(tiny_folder, [empty], out)
    damaged.write_bytes(b"none")
    with pytest.raises(ValueError, match="part-3.txt.gz:1: expected an intact"):
        encoding.encode_files(tiny_folder, [empty, damaged], out)
    assert not out.exists()


def test_columns_that_are_not_there_are_said_before_anything_is_loaded(
    tmp_path,
):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("no model at all")
    (tmp_path / "part-1.csv").write_text("review\ngood\n")
    with pytest.raises(ValueError, match="one column 'text'"):
        encoding.encode_files(
            tmp_path / "model", [tmp_path / "part-*"], tmp_path / "out"
        )


def test_other_formats_and_columns(tiny_folder, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parts = tmp_path / "parts"
    (parts / "a").mkdir(parents=True)
    rows = [{"review": text, "id": 1} for text in ("good", "bad food", "n't")]
    parquet.write_table(pa.Table.from_pylist(rows), parts / "a" / "p.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    with gzip.open(parts / "p.jsonl.gz", "wt") as file:
        file.write(lines)
    files = [parts / "**"]
    zstandard = pytest.importorskip("zstandard")
    (parts / "q.jsonl.zst").write_bytes(zstandard.compress(lines.encode()))
    found = encoding.encode_files(
        tiny_folder, files, tmp_path / "out", text="review"
    )
    assert found.rows == 9
    names = ["a/p.parquet", "p.parquet", "q.parquet"]
    assert sorted(contents(tmp_path / "out")) == names
    one, *others = (parquet.read_table(tmp_path / "out" / n) for n in names)
    assert all(other.equals(one) for other in others)


@pytest.mark.skipif(os.name == "nt", reason="no locks")
def test_one_process_at_a_time(tiny_folder, parts, tmp_path, other_thread):
    out = tmp_path / "out"
    with folder_held(out):
        error = other_thread(
            lambda: encoding.encode_files(tiny_folder, [parts / "*"], out)
        )
    assert f"{out} is being written by process {os.getpid()}" in str(error)


def test_wrong_arguments(tiny_folder, parts, tmp_path):
    def encode(tiny_folder=tiny_folder, files=(parts / "*",), **arguments):
        encoding.encode_files(tiny_folder, files, tmp_path / "out", **arguments)

    with pytest.raises(ValueError, match="`workers` must be an integer of 1"):
        encode(workers=0)
    with pytest.raises(ValueError, match="`give` must be"):
        encode(give="label")
    with pytest.raises(ValueError, match="There is no model in the folder"):
        encode(tiny_folder=tmp_path)
    with pytest.raises(ValueError, match="no file that matches"):
        encode(files=["none-*"])
    assert not (tmp_path / "out").exists()
