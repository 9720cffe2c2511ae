import os

import pytest

from keras_selfattn.encoding.shards import expanded
from keras_selfattn.encoding.shards import is_pattern
from keras_selfattn.encoding.shards import shards_of


@pytest.fixture
def folder(tmp_path):
    for name in ("a/part-2.jsonl.zst", "a/part-10.csv", "b/part-1", "[x].txt"):
        path = tmp_path / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    return tmp_path / "texts"


def names(paths, folder):
    return [os.path.relpath(path, folder) for path in paths]


def test_patterns_give_files_in_the_order_of_their_names(folder):
    found = expanded([folder / "b" / "part-1", folder / "a" / "part-*"])
    assert names(found, folder) == [
        *("b/part-1", "a/part-10.csv", "a/part-2.jsonl.zst")
    ]
    # Folders match, and are no files of texts.
    assert names(expanded([folder / "**"]), folder) == [
        *("[x].txt", "a/part-10.csv", "a/part-2.jsonl.zst", "b/part-1")
    ]
    with pytest.raises(ValueError, match="no file that matches .*none-"):
        expanded([folder / "none-*"])


def test_a_file_may_have_a_name_like_a_pattern(folder):
    assert not is_pattern(folder / "[x].txt")
    assert is_pattern(folder / "[xy].txt")
    assert names(expanded([folder / "[x].txt"]), folder) == ["[x].txt"]


def test_a_file_keeps_its_name_and_its_folder(folder, tmp_path):
    shards = shards_of(expanded([folder / "**"]), tmp_path / "out")
    assert names([shard.output for shard in shards], tmp_path / "out") == [
        "[x].parquet",
        "a/part-10.parquet",
        "a/part-2.parquet",
        "b/part-1.parquet",
    ]
    assert [shard.size for shard in shards] == [5] * 4
    # Alone, without the folder that all are in.
    (shard,) = shards_of([folder / "b" / "part-1"], tmp_path / "out")
    assert names([shard.output], tmp_path / "out") == ["part-1.parquet"]


def test_two_files_of_one_name(folder, tmp_path):
    (folder / "a" / "part-2.csv").write_text("text\n")
    with pytest.raises(ValueError, match="would both be written to .*part-2.p"):
        shards_of(expanded([folder / "a" / "*"]), tmp_path / "out")


def test_a_folder_of_its_own(folder):
    path = folder / "b" / "part-1.parquet"
    path.write_text("")
    with pytest.raises(ValueError, match="must not be the one of the texts"):
        shards_of([path], folder / "b")


@pytest.mark.parametrize("file", ["-", "none.txt", "a"])
def test_what_is_no_file(folder, tmp_path, file, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(ValueError, match=f"Received: {file}, which is none"):
        shards_of([file], tmp_path / "out")


def test_another_file_is_told_by_its_ends(folder, tmp_path):
    path = folder / "b" / "part-1"
    facts = []
    for text in ("a" * 200_000, "a" * 199_999 + "b", "b" + "a" * 199_999, "a"):
        path.write_text(text)
        (shard,) = shards_of([path], tmp_path / "out")
        facts.append(shard.made_of())
    assert len({str(each) for each in facts}) == 4
