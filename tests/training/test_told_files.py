import json
import shutil

import pytest

from keras_selfattn import training
from keras_selfattn.data import Corpus
from keras_selfattn.data.author_profiling import AuthorProfiling
from keras_selfattn.data.corpora import Corpora
from keras_selfattn.training.told_files import told
from tests.training.test_shards import prepare
from tests.training.test_shards import write_files


@pytest.mark.parametrize("part", ["files", "dev"])
def test_what_is_there_is_of_the_same_columns(part, tmp_path):
    paths = []
    for number in range(2):
        path = tmp_path / f"part-{number}.jsonl"
        rows = [
            {"text": "good", "other": "bad", "label": label} for label in "ab"
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(path)
    folder = tmp_path / "ids"

    def make(resume, text="text"):
        columns = {"files": "text", "dev": "text", part: text}
        return training.prepare_shards(
            "lin2017_yelp",
            [Corpus(paths[0], text=columns["files"])],
            Corpora([Corpus(paths[1], text=columns["dev"])]),
            folder,
            resume=resume,
            processes=1,
        )

    make(resume=False)
    (folder / "manifest.json").unlink()
    shutil.rmtree(folder / "train" / "00000-0000")
    with pytest.raises(ValueError, match=f"other values of: {part}$"):
        make(resume=True, text="other")
    assert make(resume=True)["rows"] == 2


@pytest.mark.parametrize("part", ["files", "dev"])
def test_what_is_there_is_of_the_same_texts(part, tmp_path):
    paths = write_files(tmp_path, (50, 30, 24))
    folder = tmp_path / "ids"
    prepare(folder, paths)
    changed = paths[-1] if part == "dev" else paths[0]
    # As long as before.
    changed.write_text(changed.read_text().replace('"1"', '"2"'))
    with pytest.raises(ValueError, match=f"other values of: {part}"):
        prepare(folder, paths, resume=True)


def test_what_earlier_versions_did_not_tell_does_not_count(tmp_path):
    paths = write_files(tmp_path, (50, 30, 24))
    folder = tmp_path / "ids"
    prepare(folder, paths)
    settings = folder / "settings.json"
    made = json.loads(settings.read_text())
    assert made["dev"]["text"] == "text"
    for each in (*made["files"], made["dev"]):
        for name in each.keys() - {"path", "bytes"}:
            del each[name]
    # As of a folder, which has no size.
    made["dev"] = made["dev"]["path"]
    settings.write_text(json.dumps(made))
    (folder / "manifest.json").unlink()
    assert prepare(folder, paths, resume=True)["rows"] == 80


def test_how_a_folder_of_authors_is_read(tmp_path):
    found = prepared_authors(tmp_path, "gender")
    assert found["rows"] == 2
    with pytest.raises(ValueError, match="other values of: files, dev .label"):
        prepared_authors(tmp_path, "age_group", resume=True)


def prepared_authors(folder, label, resume=False):
    authors = folder / "authors"
    authors.mkdir(exist_ok=True)
    (authors / "truth.txt").write_text("a:::MALE:::18-24\nb:::FEMALE:::25-34\n")
    for name in "ab":
        text = f"<author><document>Text of {name}.</document></author>"
        (authors / f"{name}.xml").write_text(text)
    return training.prepare_shards(
        "lin2017_age",
        [AuthorProfiling(authors, label)],
        AuthorProfiling(authors, label),
        folder / "ids",
        resume=resume,
        processes=1,
    )


def test_texts_of_one_s_own_class():
    class Texts:
        path = "somewhere"

        def text(self):
            pass

    assert told(Texts()) == {"path": "somewhere"}
    assert told([("good", "1")]) is None
