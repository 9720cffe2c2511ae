"""Models on the Hub, against a server on this machine."""

import importlib
import json
import pathlib
import shlex
import sys

import numpy as np
import pytest

from keras_selfattn import cli
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import zoo
from keras_selfattn.cli import models as models_of_commands
from keras_selfattn.training.starting import Start
from keras_selfattn.zoo import hub
from tests.tiny_classifier import tiny_classifier
from tests.zoo import hub_server

NAME = "hf://anna/reviews"
TEXTS = ["Good food.", "Bad."]


@pytest.fixture(scope="module")
def server():
    # It reads its settings when it is imported.
    def forget():
        for name in list(sys.modules):
            if name.partition(".")[0] == "huggingface_hub":
                del sys.modules[name]

    with hub_server.running() as running, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", running.url)
        patch.setenv("HF_TOKEN", "hf_anna")
        patch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        patch.setenv("HF_HUB_DISABLE_XET", "1")
        patch.setenv("NO_PROXY", "127.0.0.1")
        forget()
        yield running
        forget()


@pytest.fixture
def empty(server, tmp_path, monkeypatch):
    """The server without any model, and nothing downloaded before."""
    server.commits.clear()
    server.private.clear()
    server.requests.clear()
    server.cut.clear()
    constants = importlib.import_module("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    download = importlib.import_module("huggingface_hub.file_download")
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)
    return server


@pytest.fixture(scope="module")
def model():
    return tiny_classifier()


@pytest.fixture
def pushed(empty, model):
    """The server with one model, and the name of its commit."""
    return empty, zoo.push_to_hub(model, NAME)


def test_a_pushed_model_answers_as_the_one_it_was(pushed, model):
    _, name = pushed
    assert name.startswith(f"{NAME}@")
    for each in (NAME, name):
        loaded = models.from_preset(each)
        assert loaded.labels == model.labels
        np.testing.assert_array_equal(
            loaded.predict(TEXTS, verbose=0), model.predict(TEXTS, verbose=0)
        )


def test_the_hub_reads_the_head_of_the_card(pushed):
    server, _ = pushed
    (files,) = server.commits["anna/reviews"]
    head, _, text = (
        files["README.md"].decode().partition("---\n")[2].partition("---\n")
    )
    values = {
        line.partition(": ")[0]: json.loads(line.partition(": ")[2])
        for line in head.splitlines()
    }
    assert values == {
        "library_name": "keras_selfattn",
        "pipeline_tag": "text-classification",
        "tags": ["keras", "keras_selfattn", "SentenceClassifier"],
    }
    assert text.strip()
    assert {"config.json", "vocabulary.txt", "checksums.json"} <= set(files)


def test_a_folder_goes_with_its_card(empty, model, tmp_path):
    model.save_to_preset(tmp_path / "model")
    (tmp_path / "model" / "README.md").write_text("# Ours\n")
    assert cli.main(["push", str(tmp_path / "model"), NAME]) == 0
    (files,) = empty.commits["anna/reviews"]
    assert files["README.md"].decode().endswith("---\n\n# Ours\n")
    # The card has changed since the sums were written.
    models.from_preset(NAME)
    assert (tmp_path / "model" / "README.md").read_text() == "# Ours\n"


def test_a_second_upload_leaves_nothing_of_the_first(pushed, model):
    server, name = pushed
    files = server.commits["anna/reviews"][-1]
    sums = json.loads(files["checksums.json"])
    sums["sha256"]["old[1].txt"] = "0"
    ours = {"old1.txt": b"", "data/figures.csv": b"", ".gitattributes": b""}
    theirs = {"old[1].txt": b"", "checksums.json": json.dumps(sums).encode()}
    server.commit("anna/reviews", {**files, **ours, **theirs})
    changed = tiny_classifier(labels=("no", "yes"))
    zoo.push_to_hub(changed, NAME)
    files = server.commits["anna/reviews"][-1]
    assert "old[1].txt" not in files
    # What no push brought stays.
    assert ours.items() <= files.items()
    assert models.from_preset(NAME).labels == ["no", "yes"]
    # A revision stays what it was.
    assert models.from_preset(name).labels == model.labels


@pytest.mark.parametrize("private", [True, False])
def test_a_repository_stays_as_private_as_it_is(empty, model, private):
    for asked in (not private, not private, None):
        zoo.push_to_hub(model, NAME, private=asked)
    kind = "public" if private else "private"
    message = f"{NAME} was not uploaded: it is {kind}.*private={private}"
    with pytest.raises(ValueError, match=message):
        zoo.push_to_hub(model, NAME, private=private)
    assert len(empty.commits["anna/reviews"]) == 3


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"train.csv": b"text"}, "holds files, and no checksums.json"),
        ({"README.md": b"# Ours"}, "holds files, and no checksums.json"),
        (
            {"train.csv": b"text", "checksums.json": b"[]"},
            "expected the checksums of files",
        ),
    ],
)
def test_a_repository_of_other_files_is_left_alone(
    empty, model, files, message
):
    empty.commit("anna/reviews", files)
    with pytest.raises(ValueError, match=message):
        zoo.push_to_hub(model, NAME)
    assert empty.commits["anna/reviews"] == [files]


def test_a_repository_that_the_hub_has_made_is_new(empty, model):
    empty.commit("anna/reviews", {".gitattributes": b""})
    zoo.push_to_hub(model, NAME)
    models.from_preset(NAME)


def test_only_files_of_the_model_are_pushed(empty, model, tmp_path):
    folder = tmp_path / "model"
    model.save_to_preset(folder)
    names = {path.name for path in folder.iterdir()}
    told = {"README.md", "LICENSE.txt", "ATTRIBUTION.md", "licenses/MIT.txt"}
    others = ("secrets.env", ".git/HEAD", "licenses.csv", "licenses/own/it")
    for name in (*told, *others):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("# Ours\n")
    left = r"stays where it is: \.git, licenses\.csv, secrets\.env"
    with pytest.warns(UserWarning, match=left):
        zoo.push_to_hub(folder, NAME)
    (files,) = empty.commits["anna/reviews"]
    assert set(files) == names | told
    models.from_preset(NAME)


def test_no_folder_of_this_machine_goes_along(empty, model, tmp_path):
    folder = tmp_path / "runs" / "anna's" / "model"
    model.save_to_preset(folder)
    paths = [tmp_path / name for name in ("a.vec", "b c.vec", "d.csv")]
    config = json.loads((folder / "config.json").read_text())
    record = {
        "vectors": [*map(str, paths[:2])],
        "teachers": {"snli_one": 7, str(folder.parent / "t"): 8},
        "from": str(folder),
    }
    (folder / "config.json").write_text(
        json.dumps({**config, "training": record})
    )
    command = ["train", str(paths[2]), f"--vectors={paths[1]}", "/"]
    command = shlex.join(command)
    (folder / "README.md").write_text(
        f"# Ours\n\nFrom {folder}, see a/b.\n\n## Command\n\n    {command}\n"
    )
    zoo.push_to_hub(folder, NAME, verify=False)
    (files,) = empty.commits["anna/reviews"]
    told = json.loads(files["config.json"])["training"]
    assert told == {
        "vectors": ["a.vec", "b c.vec"],
        "teachers": {"snli_one": 7, "t": 8},
        "from": "model",
    }
    card = files["README.md"].decode()
    assert "From model, see a/b." in card
    assert "train d.csv '--vectors=b c.vec'" in card
    assert models.from_preset(NAME).training_record == told
    zoo.push_to_hub(models.from_preset(folder, verify=False), NAME)
    loaded = models.from_preset(NAME)
    assert loaded.training_record == told


def test_a_model_of_another_library_is_not_pushed(empty, tmp_path):
    config = {"architectures": ["BertForMaskedLM"], "model_type": "bert"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="expected class_name, config, labels"):
        zoo.push_to_hub(tmp_path, NAME)
    assert empty.commits == {}


def test_a_folder_that_was_changed_on_purpose(empty, model, tmp_path):
    folder = tmp_path / "model"
    model.save_to_preset(folder)
    words = (folder / "vocabulary.txt").read_text().replace("bad", "bat")
    (folder / "vocabulary.txt").write_text(words)
    assert cli.main(["push", str(folder), NAME]) == 2
    assert empty.commits == {}
    assert cli.main(["push", str(folder), NAME, "--no-verify"]) == 0
    loaded = models.from_preset(NAME)
    assert "bat" in loaded.preprocessor.get_vocabulary()


def test_the_card_may_be_edited_and_removed(pushed, monkeypatch):
    server, _ = pushed
    (files,) = server.commits["anna/reviews"]
    server.commit("anna/reviews", {**files, "README.md": b"# Edited\n"})
    models.from_preset(NAME)
    assert (hub.download(NAME) / "README.md").read_text() == "# Edited\n"
    del files["README.md"]
    revision = f"{NAME}@{server.commit('anna/reviews', files)}"
    models.from_preset(revision)
    server.requests.clear()
    models.from_preset(revision)
    assert server.requests == []


def test_a_revision_is_asked_for_once(pushed):
    server, name = pushed
    models.from_preset(name)
    server.requests.clear()
    models.from_preset(name)
    assert server.requests == []


def test_a_run_says_which_commit_it_started_from(pushed):
    _, name = pushed
    for given in (NAME, name):
        start = Start(given, None, None, (), verify=True)
        assert start.settings["from"] == name


def test_a_run_goes_on_from_the_commit_it_started_from(pushed, tmp_path):
    server, name = pushed
    more = {"preset": None, "start": NAME, "verbose": 0}
    more["training_overrides"] = {"epochs": 1}
    rows = [("Good food.", "yes"), ("Bad.", "no")] * 2
    folder = tmp_path / "run"
    training.train(train_texts=rows, dev_texts=rows, folder=folder, **more)
    server.commit("anna/reviews", server.commits["anna/reviews"][-1])
    more["training_overrides"] = {"epochs": 2}
    training.train(
        train_texts=rows, dev_texts=rows, folder=folder, resume=True, **more
    )
    assert len((folder / "history.csv").read_text().splitlines()) == 3
    assert json.loads((folder / "settings.json").read_text())["from"] == name


def test_all_files_are_of_one_commit(pushed):
    server, name = pushed
    server.requests.clear()
    models.from_preset(NAME)
    revisions = {path.split("/")[4] for _, path in server.requests}
    assert revisions == {"main", name.partition("@")[2]}
    assert all(
        path.endswith("checksums.json")
        for _, path in server.requests
        if "/main/" in path
    )


def test_only_named_files_come_down(pushed):
    server, _ = pushed
    server.commits["anna/reviews"][-1]["model.py"] = b"raise SystemExit"
    folder = hub.download(NAME)
    assert not (folder / "model.py").exists()
    assert not any("model.py" in path for _, path in server.requests)


def test_an_interrupted_download_goes_on(pushed, model):
    server, _ = pushed
    server.cut["model.weights.h5"] = [1000, 3000]
    loaded = models.from_preset(NAME)
    assert server.cut["model.weights.h5"] == []
    np.testing.assert_array_equal(
        loaded.predict(TEXTS, verbose=0), model.predict(TEXTS, verbose=0)
    )


def test_a_download_that_does_not_end_is_said(pushed):
    server, _ = pushed
    server.cut["model.weights.h5"] = [1000] + [0] * 20
    with pytest.raises(ValueError, match=r"weights\.h5 of hf://.* not down"):
        models.from_preset(NAME)
    server.cut.clear()
    # What came is not taken for the file.
    models.from_preset(NAME)


def test_a_changed_file_is_named(pushed):
    server, _ = pushed
    files = server.commits["anna/reviews"][-1]
    files["vocabulary.txt"] = files["vocabulary.txt"].replace(b"bad", b"bat")
    with pytest.raises(ValueError, match=r"vocabulary\.txt is not the file"):
        models.from_preset(NAME)


def test_a_missing_file_is_named(pushed):
    server, _ = pushed
    del server.commits["anna/reviews"][-1]["config.json"]
    with pytest.raises(ValueError, match=r"has no file config\.json"):
        models.from_preset(NAME)


def test_no_file_outside_is_asked_for(pushed):
    server, _ = pushed
    files = server.commits["anna/reviews"][-1]
    files["checksums.json"] = b'{"sha256": {"../../token": "0"}}'
    with pytest.raises(ValueError, match="not in the folder"):
        models.from_preset(NAME)
    assert not any("token" in path for _, path in server.requests)


@pytest.mark.parametrize(
    "name, message",
    [
        ("hf://anna/other", "There is no model hf://anna/other"),
        (f"{NAME}@v2", "has no revision 'v2'"),
        ("hf://reviews", "must be hf://user/name"),
        ("hf://anna/reviews/x", "must be hf://user/name"),
    ],
)
def test_what_is_not_there_is_one_line(pushed, capsys, name, message):
    assert cli.main(["predict", name, "Good."]) == 2
    assert message in capsys.readouterr().err
    assert len(capsys.readouterr().err.splitlines()) <= 1


def test_a_server_out_of_reach_is_said(pushed, tmp_path, monkeypatch):
    constants = sys.modules["huggingface_hub.constants"]
    template = "http://127.0.0.1:1/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    with pytest.raises(ValueError, match="can't be downloaded"):
        models.from_preset(NAME)


def test_what_was_downloaded_needs_no_server(pushed, monkeypatch):
    models.from_preset(NAME)
    constants = sys.modules["huggingface_hub.constants"]
    template = "http://127.0.0.1:1/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    models.from_preset(NAME)


def test_a_model_of_the_hub_is_exported_and_predicts(pushed, tmp_path, capsys):
    assert cli.main(["predict", NAME, "Good food."]) == 0
    assert "gütig" in json.loads(capsys.readouterr().out)["probabilities"]
    assert cli.main(["export", NAME, str(tmp_path / "served")]) == 0
    extra = pathlib.Path(tmp_path, "served", "1", "assets.extra")
    card = (extra / "model_card.md").read_text(encoding="utf-8")
    assert "library_name" in card


def test_the_card_of_an_export_is_of_the_commit_of_its_weights(
    pushed, tmp_path, monkeypatch
):
    server, _ = pushed
    (files,) = server.commits["anna/reviews"]
    load = models_of_commands.load

    def load_then_another_pushes(options):
        loaded = load(options)
        edited = {**files, "README.md": b"# Another\n"}
        server.commit("anna/reviews", edited)
        return loaded

    monkeypatch.setattr(models_of_commands, "load", load_then_another_pushes)
    assert cli.main(["export", NAME, str(tmp_path / "served")]) == 0
    extra = pathlib.Path(tmp_path, "served", "1", "assets.extra")
    card = (extra / "model_card.md").read_text(encoding="utf-8")
    assert "library_name" in card


def test_without_its_package_it_says_what_installs_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for arguments in (["predict", NAME, "Good."], ["push", NAME, NAME]):
        assert cli.main(arguments) == 2
        assert 'pip install "keras_selfattn[hub]"' in capsys.readouterr().err


def test_what_cannot_be_pushed(empty, model, tmp_path):
    with pytest.raises(ValueError, match="with a revision"):
        zoo.push_to_hub(model, f"{NAME}@v2")
    with pytest.raises(ValueError, match="no trained model at"):
        zoo.push_to_hub(tmp_path / "none", NAME)
    with pytest.raises(ValueError, match="has no files to verify"):
        zoo.push_to_hub(model, NAME, verify=False)
    model.save_to_preset(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.txt").write_text("other\n")
    with pytest.raises(ValueError, match=r"vocabulary\.txt is not the file"):
        zoo.push_to_hub(tmp_path / "model", NAME)
    assert empty.commits == {}
