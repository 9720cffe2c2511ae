import csv
import inspect
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from keras.ops import convert_to_numpy as array
from rich.console import Console

from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import tuning
from keras_selfattn import zoo
from keras_selfattn.cli import main
from keras_selfattn.data.fingerprint import fingerprint
from keras_selfattn.tuning import results
from keras_selfattn.tuning import searching
from tests.cli.commands import write_titles
from tests.tuning.texts import TINY
from tests.tuning.texts import TINY_MODEL
from tests.tuning.texts import rows

TRAIN, DEV = rows(40), rows(12)
ARGUMENTS = {
    **TINY,
    "batch_size": 8,
    # The first one does not learn, and the last one is too wide to be built.
    "learning_rate": [1e-9, 0.05],
    "units": [5, 10**15],
}


def search(folder, **options):
    given = {
        "tuner": "grid",
        "epochs": 2,
        "arguments": ARGUMENTS,
        "papers_space": False,
        **options,
    }
    return tuning.search("lin2017_yelp", TRAIN, DEV, folder, **given)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searches") / "grid"
    return search(folder, trials=3), folder


def read_csv(folder):
    with open(folder / "trials.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_the_folder_is_that_of_a_run(found, tmp_path):
    model, folder = found
    record = model.training_record
    assert record["training"]["learning_rate"] == 0.05
    assert (record["train_rows"], record["dev_rows"]) == (40, 12)
    assert record["texts"] == {
        "train": fingerprint(TRAIN)["sha256"],
        "dev": fingerprint(DEV)["sha256"],
    }
    assert record["dev_accuracy"] > 0.9
    # The figure is that of the model in the folder.
    loaded = models.from_preset(folder)
    assert loaded.training_record == record
    assert evaluation.evaluate(loaded, DEV).accuracy == pytest.approx(
        record["dev_accuracy"]
    )
    settings = json.loads((folder / "settings.json").read_text())
    assert settings == {
        k: record[k] for k in ("preset", "seed", "vectors", "model", "training")
    }
    history = (folder / "history.csv").read_text().splitlines()
    names = history[0].split(",")
    assert names == ["epoch", "accuracy", "loss", "val_accuracy", "val_loss"]
    assert [line.split(",")[0] for line in history[1:]] == ["1", "2"]


@pytest.mark.slow
def test_a_trial_is_what_train_does_with_its_values(found, tmp_path):
    model, _ = found
    record = model.training_record
    own = models.get_preset("lin2017_yelp").model
    trained = training.train(
        "lin2017_yelp",
        TRAIN,
        DEV,
        tmp_path / "run",
        model_overrides={
            k: v for k, v in record["model"].items() if own.get(k) != v
        },
        training_overrides=record["training"],
        verbose=0,
    )
    assert trained.training_record["epoch"] == record["epoch"]
    assert trained.training_record["dev_accuracy"] == record["dev_accuracy"]
    for one, other in zip(
        trained.get_weights(), model.get_weights(), strict=True
    ):
        assert (one == other).all()


@pytest.mark.slow
def test_the_trials_as_csv_and_picture(found):
    model, folder = found
    first, second, third = read_csv(folder)
    assert list(first) == [
        *("trial", "status", "dev_accuracy", "epoch", "epochs", "seconds"),
        *("learning_rate", "units", "reason"),
    ]
    # The last hyperparameter varies first, and so a failure comes second.
    assert (first["learning_rate"], first["units"]) == ("1e-09", "5")
    assert (second["status"], second["dev_accuracy"]) == ("failed", "")
    assert second["units"] == str(10**15)
    assert second["reason"]
    assert third["status"] == "completed"
    assert float(third["dev_accuracy"]) == model.training_record["dev_accuracy"]
    assert third["epochs"] == "2"
    assert (folder / "trials.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_tensorboard_has_a_row_for_each_trial(found):
    import tensorflow as tf
    from tensorboard.plugins.hparams import plugin_data_pb2

    _, folder = found
    rates = []
    for trial in ("trial_0", "trial_2"):
        (file,) = (folder / "tensorboard" / trial / "hyperparameters").iterdir()
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            for value in event.summary.value:
                if value.tag == "_hparams_/session_start_info":
                    data = plugin_data_pb2.HParamsPluginData.FromString(
                        value.metadata.plugin_data.content
                    )
                    hparams = data.session_start_info.hparams
                    rates.append(hparams["learning_rate"].number_value)
    assert rates == pytest.approx([1e-9, 0.05])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, part in (("train", TRAIN), ("dev", DEV)):
        (folder / f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"text": text, "label": label}) + "\n"
                for text, label in part
            )
        )
    return folder


def arguments(data, output, *more):
    return [
        "tune",
        str(data / "train.jsonl"),
        f"--dev={data / 'dev.jsonl'}",
        f"--output={output}",
        "--only",
        "--epochs=1",
        "--optimizer=adam",
        "--max-bad-rate=1",
        *(f"--set={name}={json.dumps(v)}" for name, v in TINY_MODEL.items()),
        *more,
    ]


@pytest.mark.slow
def test_the_command_and_going_on_with_it(data, tmp_path, capsys):
    given = arguments(
        data,
        tmp_path / "search",
        "--search=learning_rate=[0.06,0.01,0.02]",
        "--tuner=grid",
    )
    assert main([*given, "--trials=1"]) == 0
    shown = capsys.readouterr().out
    assert "trial 1 of 1: the starting values" in shown
    assert "trial 1 of 1, epoch 1: dev accuracy " in shown
    assert f"the model is in {tmp_path / 'search'}" in shown
    assert main([*given, "--trials=2"]) == 2
    assert "must be new" in capsys.readouterr().err
    assert main([*given, "--trials=2", "--resume"]) == 0
    shown = capsys.readouterr().out
    assert "trial 1 of" not in shown
    assert "trial 2 of 2: learning_rate=0.01" in shown
    assert [r["learning_rate"] for r in read_csv(tmp_path / "search")] == [
        "0.06",
        "0.01",
    ]
    assert list((tmp_path / "search").rglob("README.md"))
    dev = str(data / "dev.jsonl")
    assert main(["evaluate", str(tmp_path / "search"), dev]) == 0
    assert main(["explain", str(tmp_path / "search"), "good food"]) == 0
    # Other settings are another search.
    assert main([*given, "--resume", "--seed=3"]) == 2
    assert "other values of: seed" in capsys.readouterr().err


@pytest.mark.slow
def test_a_search_without_a_preset_begins_where_training_would(
    data, tmp_path, capsys
):
    sides = tmp_path / "pairs"
    sides.mkdir()
    write_titles(data, sides, "It")
    for folder, columns, name in (
        (data, [], "own_texts_vectors"),
        (sides, ["--text-pair=title"], "own_pairs_vectors"),
    ):
        output = tmp_path / name
        given = [
            "tune",
            str(folder / "train.jsonl"),
            f"--dev={folder / 'dev.jsonl'}",
            f"--output={output}",
            "--epochs=1",
            "--max-bad-rate=1",
            *columns,
        ]
        assert main([*given, "--trials=1"]) == 0
        recipe = zoo.get_recipe(name)
        settings = json.loads((output / "settings.json").read_text())
        assert settings["preset"] == recipe.preset
        for key in recipe.model.keys() - {"character_vocabulary_size"}:
            assert settings["model"][key] == recipe.model[key]
        expected = {**recipe.training, "epochs": 1}
        assert expected.items() <= settings["training"].items()
        (row,) = read_csv(output)
        assert recipe.search.keys() <= row.keys()
        assert "word vectors: those of reviews_structured" in (
            capsys.readouterr().err
        )
        # As `train` has it.
        trained = tmp_path / f"{name}_run"
        train = ["train", *given[1:3], f"--output={trained}", *given[4:]]
        assert main(train) == 0
        assert (trained / "history.csv").read_text() == (
            output / "history.csv"
        ).read_text()
        # It goes on, but not with other values.
        assert main([*given, "--trials=2", "--resume"]) == 0
        assert len(read_csv(output)) == 2
        without = name.removesuffix("_vectors")
        assert main([*given, f"--recipe={without}", "--resume"]) == 2
        assert "other values of: vectors, recipe" in capsys.readouterr().err


@pytest.mark.slow
def test_a_width_that_is_searched_takes_no_installed_vectors(data, tmp_path):
    given = [
        "tune",
        str(data / "train.jsonl"),
        f"--dev={data / 'dev.jsonl'}",
        f"--output={tmp_path / 'search'}",
        *("--epochs=1", "--max-bad-rate=1", "--trials=2", "--tuner=grid"),
        *("--only", "--search=embedding_dim=[3,5]"),
    ]
    assert main(given) == 0
    rows = read_csv(tmp_path / "search")
    assert [row["embedding_dim"] for row in rows] == ["3", "5"]
    settings = json.loads((tmp_path / "search/settings.json").read_text())
    assert settings["vectors"] is None


@pytest.mark.parametrize(
    "more, parts",
    [
        (["--search=heads=[2,3]"], ["'heads'", "num_heads"]),
        (["--search=max_tokens=[2,3]"], ["'max_tokens' is the same"]),
        (["--search=units=[2,3]"], ["Both set and to be searched: units"]),
        (["--search=epochs=[2,1]"], ["Both set and to be searched: epochs"]),
        (["--search=patience=[1,2]"], ["'patience' is the same in all"]),
        (["--search=vocabulary_size=[5,6]"], ["'vocabulary_size' follows"]),
        (["--search=seed=[1,2]"], ["'seed' is given to the search itself"]),
        (["--set=preset=x"], ["'preset' is given to the search itself"]),
        (["--set=vectors=abc"], ["'vectors' is given to the search itself"]),
        (["--set=self=1"], ["no such training value", "'self'"]),
        (["--set=ngram_buckets=-2"], ["-2"]),
        (["--search=learning_rate=[]"], ["at least one value"]),
        (["--set=ngram_buckets=wide"], ["'wide'"]),
        (["--trials=0"], ["trials=0"]),
        (["--time=0"], ["minutes=0"]),
        (["--time=nan"], ["minutes=nan"]),
        (["--epochs=0"], ["epochs=0"]),
        (["--preset=lin2018"], ["'lin2018'"]),
        (["--recipe=own"], ["'own'", "own_texts"]),
        (["--resume"], ["no search to resume"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(data, tmp_path, capsys, more, parts):
    given = arguments(data, tmp_path / "search", "--search=l2=[0.0,0.1]")
    assert main([*given, *more]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    for part in parts:
        assert part in lines[0]
    assert not (tmp_path / "search").exists()


OWN_NAMES = set(inspect.signature(tuning.SentenceHyperModel).parameters)


@pytest.mark.parametrize("value", [1, [1, 2]])
@pytest.mark.parametrize("name", sorted(OWN_NAMES - {"arguments", "patience"}))
def test_what_the_hypermodel_is_handed_is_no_argument_to_search(
    tmp_path, name, value
):
    with pytest.raises(ValueError) as raised:
        search(tmp_path / "search", arguments={**ARGUMENTS, name: value})
    message = str(raised.value)
    assert f"{name!r} " in message
    assert "neither be set nor searched" in message
    assert f"Received: {name}={value!r}" in message
    assert not (tmp_path / "search").exists()


def test_epochs_are_the_same_in_all_trials(data, tmp_path, capsys):
    given = arguments(data, tmp_path / "search", "--search=epochs=[2,1]")
    given.remove("--epochs=1")
    assert main(given) == 2
    assert "'epochs' is the same in all trials" in capsys.readouterr().err
    with pytest.raises(ValueError, match="'epochs' is the same in all trials"):
        search(tmp_path / "search", epochs=None, arguments={"epochs": [2, 1]})


def test_epochs_are_given_once(tmp_path):
    with pytest.raises(ValueError, match="`epochs` .*not both.*epochs=2.*3"):
        search(tmp_path / "search", arguments={**ARGUMENTS, "epochs": 3})


@pytest.mark.slow
def test_a_patience_that_is_given_and_epochs_hold_for_all_trials(tmp_path):
    model = search(
        tmp_path / "search",
        epochs=None,
        trials=2,
        arguments={
            **TINY,
            "learning_rate": [1e-9, 2e-9],
            "patience": 1,
            "epochs": 3,
        },
    )
    assert model.training_record["training"]["patience"] == 1
    settings = json.loads((tmp_path / "search/settings.json").read_text())
    assert settings["training"]["patience"] == 1
    assert settings["training"]["epochs"] == 3
    rows = read_csv(tmp_path / "search")
    assert [row["epochs"] for row in rows] == ["2", "2"]


@pytest.mark.slow
def test_a_patience_of_none_ends_no_trial(tmp_path):
    recipe = zoo.Recipe(
        "lin2017_yelp",
        model=TINY_MODEL,
        training={"optimizer": "adam", "patience": 1},
    )
    model = tuning.search(
        recipe,
        TRAIN,
        DEV,
        tmp_path / "search",
        trials=1,
        epochs=3,
        arguments={"learning_rate": [1e-9], "patience": None},
    )
    assert model.training_record["training"]["patience"] is None
    assert [row["epochs"] for row in read_csv(tmp_path / "search")] == ["3"]


@pytest.mark.parametrize(
    "limit", [{"minutes": float("nan")}, {"trials": 2.5}, {"trials": True}]
)
def test_a_limit_is_a_number_that_a_search_comes_to(tmp_path, limit):
    ((name, number),) = limit.items()
    with pytest.raises(ValueError, match=f"Received: {name}={number}"):
        search(tmp_path / "search", **limit)


@pytest.mark.parametrize("place", ["data", "dev"])
def test_texts_that_are_ids_already_are_refused(data, tmp_path, capsys, place):
    ids = tmp_path / "ids"
    ids.mkdir()
    (ids / "manifest.json").write_text("{}")
    given = ["tune", str(data / "train.jsonl"), f"--output={tmp_path / 'new'}"]
    if place == "data":
        given[1] = str(ids)
    else:
        given.append(f"--dev={ids}")
    assert main(given) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert f"`tune` takes texts. Received: {ids}" in line
    assert not (tmp_path / "new").exists()


def test_nothing_to_search(data, tmp_path, capsys):
    assert main(arguments(data, tmp_path / "search")) == 2
    assert "nothing to search" in capsys.readouterr().err
    assert not (tmp_path / "search").exists()


def test_values_to_search_are_a_list(data, tmp_path, capsys):
    with pytest.raises(SystemExit) as raised:
        main(arguments(data, tmp_path / "search", "--search=units=2"))
    assert raised.value.code == 2
    assert "NAME=[VALUE,...]" in capsys.readouterr().err


def test_without_keras_tuner(data, tmp_path):
    code = (
        "import sys; sys.modules['keras_tuner'] = None;"
        "from keras_selfattn.cli import main;"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments(data, tmp_path / "search")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == (
        "keras-selfattn: error: Tuning needs KerasTuner: "
        'pip install "keras_selfattn[tuning]" installs it'
    )
    assert not (tmp_path / "search").exists()


def test_no_trial_has_completed(tmp_path):
    with pytest.raises(ValueError, match="No trial has completed.*NaN"):
        search(
            tmp_path / "search",
            trials=1,
            arguments={**TINY, "learning_rate": [1e38]},
        )


def result(number, accuracy, seconds=61.0, reason="", **values):
    return results.Result(
        number=number,
        status="failed" if reason else "completed",
        accuracy=accuracy,
        epoch=None if accuracy is None else 2,
        epochs=3,
        seconds=seconds,
        values=values,
        reason=reason,
    )


def test_the_table():
    rows = [
        result(1, 0.5, units="[2, 3]", rate=0.1),
        result(2, None, reason="out of memory", units="[4, 5]", rate=0.1),
        result(3, 0.625, seconds=3725, units="[2, 3]", rate=0.2),
    ]
    console = Console(file=io.StringIO(), width=90)
    first = rows[0].values
    console.print(results.make_table(results.best_first(rows), first, "Trials"))
    lines = console.file.getvalue().splitlines()
    cells = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in lines
        if line.startswith("│")
    ]
    assert cells == [
        ["3", "62.50%", "2 of 3", "1:02:05", "rate=0.2"],
        ["1", "50.00%", "2 of 3", "1:01", "the starting values"],
        ["2", "failed", "3", "1:01", "out of memory: units=[4, 5]"],
    ]


@pytest.mark.slow
def test_vectors_are_induced_as_in_training(tmp_path):
    (tmp_path / "vectors.txt").write_text("good 1 2 2\nbad -3 0 0\n")
    model = search(
        tmp_path / "found",
        vectors=tmp_path / "vectors.txt",
        epochs=1,
        trials=1,
        arguments={
            **ARGUMENTS,
            "embedding_dim": 3,
            "units": [5],
            "induce_vectors": True,
            "trainable_embeddings": False,
        },
    )
    table = array(model.get_layer("word_vectors").embeddings)
    lengths = np.linalg.norm(table[2:], axis=1)
    assert len(lengths) > 2
    np.testing.assert_allclose(lengths, 3.0, rtol=1e-5)


@pytest.mark.parametrize(
    "module,tuner", [("matplotlib", "random"), ("sklearn", "bayesian")]
)
def test_a_missing_package_is_named_before_the_search(
    tmp_path, monkeypatch, module, tuner
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'"keras_selfattn\[tuning\]"'):
        tuning.search("lin2017_yelp", [], [], tmp_path / "run", tuner=tuner)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_shown_may_be_any_text():
    with searching._quiet():
        print("half a sign: \ud83d")
