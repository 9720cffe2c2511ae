import json

import pytest

from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import check_checksums
from keras_selfattn.checksums import folder_checksum
from keras_selfattn.checksums import write_checksums


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_text("abc")
    (tmp_path / "other").write_text("")
    write_checksums(tmp_path)
    # Those that are there are no file of the folder's.
    write_checksums(tmp_path)
    return tmp_path


def test_what_is_written(folder):
    assert json.loads((folder / CHECKSUMS_FILE).read_text()) == {
        "sha256": {
            "below/file": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
            "10ff61f20015ad",
            "other": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b"
            "7852b855",
        }
    }
    check_checksums(folder)


def test_what_is_changed_or_missing(folder):
    (folder / "more").touch()
    check_checksums(folder)
    (folder / "below" / "file").write_text("abd")
    with pytest.raises(ValueError, match="below/file is not the file"):
        check_checksums(folder)
    check_checksums(folder, ["other"])
    (folder / "other").unlink()
    with pytest.raises(ValueError, match="other is missing"):
        check_checksums(folder, ["other"])
    (folder / CHECKSUMS_FILE).unlink()
    check_checksums(folder)


@pytest.mark.parametrize("name", ["/etc/hostname", "../file", "a/../../b"])
def test_files_of_other_folders(folder, name):
    (folder / CHECKSUMS_FILE).write_text(json.dumps({"sha256": {name: ""}}))
    with pytest.raises(ValueError, match="is not in the folder"):
        check_checksums(folder)
    with pytest.raises(ValueError, match="is not in the folder"):
        folder_checksum(folder)


def test_one_checksum_of_what_has_checksums(folder):
    before = folder_checksum(folder)
    for card in ("written", "changed"):
        (folder / "README.md").write_text(card)
        assert folder_checksum(folder) == before
    (folder / "below" / "file").write_text("abd")
    assert folder_checksum(folder) != before


def test_one_checksum_of_all_where_there_are_none(folder):
    (folder / CHECKSUMS_FILE).unlink()
    before = folder_checksum(folder)
    (folder / "README.md").write_text("written")
    assert folder_checksum(folder) != before
