import hashlib
import json
import shutil

import keras
import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.data import Corpus
from keras_selfattn.encoding import ray_sessions
from keras_selfattn.training import preparation
from keras_selfattn.training.mapping import mapping
from keras_selfattn.training.settings import MANIFEST_FILE
from tests.training.small import SMALL
from tests.training.small import assert_same_run
from tests.training.small import reviews
from tests.training.small import write_vectors

VALUES = {"epochs": 2, "batch_size": 16}


def write_files(folder, sizes):
    paths = []
    for number, size in enumerate(sizes):
        path = folder / f"part-{number}.jsonl"
        rows = [
            {"text": t, "label": label} for t, label in reviews(size, number)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(path)
    return paths


def prepare(folder, paths, **changes):
    *parts, dev = map(Corpus, paths)
    arguments = {"processes": 1, "shard_rows": 20, **changes}
    return training.prepare_shards(
        "lin2017_yelp", parts, dev, folder, **arguments
    )


def contents(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("parts"), (50, 30, 24))


@pytest.fixture(scope="module")
def prepared(paths, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared") / "ids"
    done = prepare(folder, paths)
    assert done["rows"] == 80
    assert done["shards"] == 3 + 2
    assert done["left_out"] == {}
    return folder


def train(prepared, folder, **changes):
    return training.train(
        "lin2017_yelp",
        training.PreparedFolder(prepared),
        None,
        folder,
        model_overrides=SMALL,
        training_overrides={**VALUES, **changes.pop("values", {})},
        verbose=0,
        **changes,
    )


def test_ids_and_vocabulary_are_those_of_train(prepared, paths, tmp_path):
    *parts, dev = map(Corpus, paths)
    rows = [row for part in parts for row in part]
    model = train(prepared, tmp_path / "run")
    other = training.train(
        "lin2017_yelp",
        rows,
        dev,
        tmp_path / "other",
        model_overrides=SMALL,
        training_overrides=VALUES,
        verbose=0,
    )
    assert model.labels == other.labels
    assert (
        model.preprocessor.get_vocabulary()
        == other.preprocessor.get_vocabulary()
    )
    assert model.training_record["train_rows"] == 80


def test_a_finished_run_of_other_ids(prepared, tmp_path):
    train(prepared, tmp_path / "run", keep_checkpoint=False)
    train(prepared, tmp_path / "run", resume=True)
    folder = shutil.copytree(prepared, tmp_path / "prepared")
    manifest = json.loads((folder / MANIFEST_FILE).read_text())
    manifest["shards"][0]["checksum"] += 1
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="other texts"):
        train(folder, tmp_path / "run", resume=True)


@pytest.mark.slow
def test_a_stopped_run_goes_on(prepared, tmp_path):
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if self.model.optimizer.iterations > 7:
                raise KeyboardInterrupt

    values = {"steps_per_execution": 1}
    train(prepared, tmp_path / "whole", values=values)
    parts = tmp_path / "parts"
    with pytest.raises(KeyboardInterrupt):
        train(
            prepared,
            parts,
            values=values,
            callbacks=[Stop()],
            checkpoint_minutes=1e-9,
        )
    state = json.loads((parts / "checkpoint" / "state.json").read_text())
    assert (len(state["history"]), state["batches"]) == (1, 3)
    train(prepared, parts, values=values, resume=True)
    assert_same_run(tmp_path / "whole", tmp_path / "parts")


def test_what_is_there_is_not_made_again(prepared, paths, tmp_path):
    folder = tmp_path / "ids"
    prepare(folder, paths)
    whole = contents(folder)
    assert whole == contents(prepared)
    # As where it was killed.
    (folder / "manifest.json").unlink()
    for path in (folder / "train" / "00000-0001").iterdir():
        path.unlink()
    (folder / "train" / "00000-0001").rmdir()
    kept = folder / "train" / "00001-0000" / "labels.npy"
    before = kept.stat().st_mtime_ns
    with pytest.raises(ValueError, match="ask to resume"):
        prepare(folder, paths)
    prepare(folder, paths, resume=True)
    assert contents(folder) == whole
    assert kept.stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="other values of: files"):
        prepare(folder, paths[1:], resume=True)


@pytest.mark.slow
def test_several_processes_make_the_same_bytes(prepared, paths, tmp_path):
    prepare(tmp_path / "ids", paths, processes=2)
    assert contents(tmp_path / "ids") == contents(prepared)


@pytest.mark.slow
def test_a_ray_cluster_makes_the_same_bytes(
    prepared, paths, tmp_path, monkeypatch
):
    pytest.importorskip("ray")
    session = ray_sessions.session

    def on_this_machine(cores, address, variables):
        assert (cores, address) == (None, "somewhere:1")
        return session(2, None, variables)

    monkeypatch.setattr(ray_sessions, "session", on_this_machine)
    prepare(tmp_path / "ids", paths, ray_address="somewhere:1")
    assert contents(tmp_path / "ids") == contents(prepared)
    with (
        pytest.raises(ValueError, match="invalid literal .*: 'no'"),
        mapping(1, "somewhere:1") as map_files,
    ):
        list(map_files(int, ["1", "no"]))


def test_vectors(paths, tmp_path):
    write_vectors(tmp_path / "vectors.txt", ["food", "was"])
    vectors = tmp_path / "vectors.txt"
    prepare(tmp_path / "ids", paths, vectors=vectors)
    with pytest.raises(ValueError, match="prepared with other .*: vectors"):
        train(tmp_path / "ids", tmp_path / "run")
    with pytest.raises(ValueError, match="prepared with other .*: vectors"):
        train(tmp_path / "ids", tmp_path / "run", vectors=[vectors] * 2)
    small = {k: v for k, v in SMALL.items() if k != "embedding_dim"}
    model = training.train(
        "lin2017_yelp",
        training.PreparedFolder(tmp_path / "ids"),
        None,
        tmp_path / "run",
        vectors,
        model_overrides={**small, "trainable_embeddings": False},
        training_overrides={"epochs": 1, "batch_size": 16},
        verbose=0,
    )
    table = model.get_layer("word_vectors").get_weights()[0]
    word = model.preprocessor.get_vocabulary().index("was")
    assert table[word].tolist() == [1.0, 0.5, -1.0]


def test_learned_vectors_are_those_of_texts(paths, prepared):
    own = models.get_preset("lin2017_yelp").training
    values = {**own, "learn_vectors": 3, "induce_vectors": True}
    folder = training.PreparedFolder(prepared)
    texts = folder.texts("lin2017_yelp", values, {})
    assert texts.arguments["embedding_dim"] == 3
    rows = [row for path in paths[:-1] for row in Corpus(path)]
    whole = preparation.prepare("lin2017_yelp", rows, rows, values, {})
    words = [each.preprocessor.get_vocabulary() for each in (texts, whole)]
    assert words[0] == words[1]
    np.testing.assert_allclose(
        texts.vectors[0], whole.vectors[0], rtol=1e-4, atol=1e-5
    )


def test_ids_that_are_there_are_of_the_same_words(paths, tmp_path):
    vectors, folder = tmp_path / "vectors.txt", tmp_path / "ids"
    arguments = {
        "vectors": vectors,
        # Words without a vector share one id.
        "training_overrides": {"min_count": None},
    }
    write_vectors(vectors, ["food", "was"])
    prepare(folder, paths, **arguments)
    whole = contents(folder)
    write_vectors(vectors, ["was", "the"])
    with pytest.raises(ValueError, match="word vectors it was started with"):
        prepare(folder, paths, **arguments, resume=True)
    assert contents(folder) == whole
    write_vectors(vectors, ["food", "was"])
    prepare(folder, paths, **arguments, resume=True)
    assert contents(folder) == whole


def test_unseen_words(paths, prepared, tmp_path):
    vectors = tmp_path / "vectors.txt"
    write_vectors(vectors, ["food", "was", "unseen"])
    folder = tmp_path / "ids"
    prepare(
        folder, paths, vectors=vectors, training_overrides={"unseen_words": 3}
    )
    own = models.get_preset("lin2017_yelp").training
    texts = training.PreparedFolder(folder).texts(
        "lin2017_yelp", {**own, "unseen_words": 3}, {}, vectors
    )
    words = texts.preprocessor.get_vocabulary()
    table, found = texts.vectors
    assert words[-1] == "unseen"
    assert table[-1].tolist() == [2.0, 0.5, -1.0]
    assert found[-1]
    with pytest.raises(ValueError, match="other values of: unseen_words"):
        train(folder, tmp_path / "run", vectors=vectors)
    # A folder that was made before there was the value has none.
    manifest = prepared / "manifest.json"
    made = json.loads(manifest.read_text())
    del made["settings"]["texts"]["unseen_words"]
    older = tmp_path / "older"
    shutil.copytree(prepared, older)
    (older / "manifest.json").write_text(json.dumps(made))
    training.PreparedFolder(older).texts("lin2017_yelp", own, {})


@pytest.mark.parametrize("place", [0, 1])
def test_pairs_for_single_texts(paths, tmp_path, place):
    pairs = tmp_path / "pairs.jsonl"
    rows = [
        {"text": text, "other": text, "label": label}
        for text, label in reviews(24, 7)
    ]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpora = [Corpus(paths[0]), Corpus(paths[2])]
    corpora[place] = Corpus(pairs, text_pair="other")
    folder = tmp_path / "ids"
    with pytest.raises(ValueError, match="takes single texts. Received pairs"):
        training.prepare_shards(
            "lin2017_yelp", corpora[:1], corpora[1], folder, processes=1
        )
    assert not (folder / MANIFEST_FILE).exists()


def test_a_folder_of_other_ids(prepared, tmp_path):
    with pytest.raises(ValueError, match="other values of: max_tokens"):
        train(prepared, tmp_path / "run", values={"max_tokens": 5})
    with pytest.raises(ValueError, match="has no manifest.json"):
        training.PreparedFolder(tmp_path)


@pytest.mark.parametrize(
    "name", ["train/00000-0000/labels.npy", "preprocessor/vectors.npz"]
)
def test_a_changed_file(name, paths, tmp_path):
    vectors = tmp_path / "vectors.txt"
    write_vectors(vectors, ["food", "was"])
    prepare(tmp_path / "ids", paths, vectors=vectors)
    path = tmp_path / "ids" / name
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    with pytest.raises(ValueError, match=f"{path.name} is not the file"):
        train(tmp_path / "ids", tmp_path / "run", vectors=vectors)
