import json
import shutil
import sys

import numpy as np
import pytest
from keras.ops import convert_to_numpy as array

from keras_selfattn import models
from keras_selfattn import reproduction
from keras_selfattn import training
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs
from keras_selfattn.files import UNFINISHED
from keras_selfattn.locks import LOCK_FILE
from keras_selfattn.reproduction import get_table
from keras_selfattn.reproduction import reproduce
from keras_selfattn.reproduction import running
from keras_selfattn.training import epochs

PAIRS = [
    ((p.premise, p.hypothesis), p.label) for p in generate_pairs(72, seed=0)
]
REVIEWS = [(r.text, r.label) for r in generate_reviews(64, seed=0)]
DECOMPOSABLE = {
    "embedding_dim": 6,
    "projection_dim": 5,
    "attend_units": [4],
    "compare_units": [3],
    "aggregate_units": [7],
}
CONVOLUTION = {
    "encoder": "cnn",
    "embedding_dim": 6,
    "units": 5,
    "attention_dim": 4,
    "hidden_units": 7,
}
ONE_STEP = {"epochs": 1, "batch_size": 48}


def classes(folder, **changes):
    """Parikh et al.'s table by gold class, made small."""
    arguments = {
        "seeds": 2,
        "model_overrides": DECOMPOSABLE,
        "training_overrides": {**ONE_STEP, "epochs": 2},
        **changes,
    }
    return reproduce(
        "parikh2016",
        "table 2",
        "snli",
        PAIRS[:48],
        PAIRS[48:],
        folder=folder,
        verbose=0,
        **arguments,
    )


class Watch:
    """What is trained, and which epochs of it.

    Args:
        monkeypatch: pytest's.
        interrupted_at: The epoch before which the user gives up, or `None`.
    """

    def __init__(self, monkeypatch, interrupted_at=None):
        self.runs = []
        self.epochs = []
        train = training.train
        begin = epochs.KeepRun.on_epoch_begin

        def counted(preset, *args, **kwargs):
            self.runs.append((preset, kwargs["seed"]))
            return train(preset, *args, **kwargs)

        def begun(callback, epoch, logs=None):
            if epoch == interrupted_at:
                raise KeyboardInterrupt
            self.epochs.append(epoch)
            begin(callback, epoch, logs)

        monkeypatch.setattr(training, "train", counted)
        monkeypatch.setattr(epochs.KeepRun, "on_epoch_begin", begun)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A table that was interrupted in its first run, and then finished."""
    folder = tmp_path_factory.mktemp("reproduction") / "table"
    with pytest.MonkeyPatch.context() as monkeypatch:
        watch = Watch(monkeypatch, interrupted_at=1)
        with pytest.raises(KeyboardInterrupt):
            classes(folder)
        assert watch.epochs == [0]
    # As when it is stopped before there is anything to keep.
    (folder / "runs" / "intra" / "seed-1").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        watch = Watch(monkeypatch)
        results = classes(folder)
    return folder, results, watch


@pytest.fixture
def copied(done, tmp_path):
    folder = tmp_path / "table"
    shutil.copytree(done[0], folder)
    return folder


def test_each_row_and_seed_is_a_run(done):
    folder, results, _ = done
    for key in ("vanilla", "intra"):
        for seed in (0, 1):
            run = folder / "runs" / key / f"seed-{seed}"
            settings = json.loads((run / "settings.json").read_text())
            assert settings["seed"] == seed
            assert settings["preset"].endswith("intra") == (key == "intra")
            assert settings["model"]["compare_units"] == [3]
            assert (run / "model").is_dir()
            assert not (run / "checkpoint").exists()
    assert results.failures == {}
    assert "decomposable attention" in (folder / "results.md").read_text()


def test_figures_are_those_of_the_saved_models(done):
    folder, results, _ = done
    row = get_table("parikh2016", "table 2").rows[2]
    model = models.from_preset(folder / "runs" / row.key / "seed-1")
    answers = array(model(model.preprocess([text for text, _ in PAIRS[48:]])))
    right = {label: [] for label in model.labels}
    for (_, label), answer in zip(PAIRS[48:], answers, strict=True):
        right[label].append(model.labels[answer.argmax()] == label)
    assert set(right) == {"neutral", "entailment", "contradiction"}
    # Beside the classes stands what the paper leaves out, the whole.
    right[None] = [each for found in right.values() for each in found]
    assert {column.label for column in results.table.columns} == set(right)
    for column in results.table.columns:
        measured = results.accuracies(row, column)[1]
        assert measured == pytest.approx(100 * np.mean(right[column.label]))


def test_an_interrupted_run_goes_on_and_the_others_follow(done):
    _, results, watch = done
    assert watch.runs == [
        ("parikh2016_snli", 0),
        ("parikh2016_snli_intra", 0),
        ("parikh2016_snli", 1),
        ("parikh2016_snli_intra", 1),
    ]
    assert watch.epochs == [1, 0, 1, 0, 1, 0, 1]
    assert len(results.runs["vanilla"][0]["dev_accuracies"]) == 2


def test_finished_runs_are_not_trained_again(done, monkeypatch):
    folder, results, _ = done
    watch = Watch(monkeypatch)
    again = classes(folder, rows=["intra"], seeds=1)
    assert watch.runs == []
    assert again.as_dict() == results.as_dict()


@pytest.mark.parametrize(
    "error", [MemoryError("too\nlarge"), RuntimeError("CUDA\nout of memory")]
)
def test_a_failing_row_leaves_the_others(copied, monkeypatch, capsys, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(training, "train", fail)
    shutil.rmtree(copied / "runs" / "intra" / "seed-0")
    results = classes(copied)
    said = f"{type(error).__name__}: {' '.join(str(error).split())}"
    assert results.failures == {("intra", 0): said}
    assert sorted(results.runs["vanilla"]) == [0, 1]
    assert list(results.runs["intra"]) == [1]
    assert f"failed: {said}" in capsys.readouterr().out
    assert said in (copied / "results.md").read_text()


def test_a_fault_of_the_program_is_no_failure_of_a_row(copied, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("a fault")

    monkeypatch.setattr(training, "train", fail)
    shutil.rmtree(copied / "runs" / "intra" / "seed-0")
    with pytest.raises(RuntimeError, match="a fault"):
        classes(copied)


def test_a_loss_that_is_not_finite_fails_the_row(tmp_path):
    results = classes(
        tmp_path / "table",
        rows=["vanilla"],
        seeds=1,
        training_overrides={
            "learning_rate": 1e38,
            "batch_size": 4,
            "epochs": 1,
        },
    )
    (message,) = results.failures.values()
    assert message.startswith("FloatingPointError: The loss is ")
    assert "of epoch 1" in message
    assert results.runs == {}
    run = tmp_path / "table" / "runs" / "vanilla" / "seed-0"
    assert not (run / "result.json").exists()


def test_figures_that_someone_has_changed(done, copied):
    _, results, _ = done
    folder, few = copied, {"rows": ["vanilla"], "seeds": 1}
    run = folder / "runs" / "vanilla" / "seed-0"
    for name in ("result.json", "history.csv"):
        content = (run / name).read_text()
        (run / name).write_text(content.replace("0", "1"))
        with pytest.raises(ValueError, match=f"{name} is not the file that"):
            classes(folder, **few)
        (run / name).write_text(content)
    for content in ("[]", "{"):
        (run / "result.json").write_text(content)
        with pytest.raises(ValueError, match="result.json"):
            classes(folder, **few, verify=False)
    (run / "result.json").write_text(json.dumps(results.runs["vanilla"][0]))
    classes(folder, **few, verify=False)


def test_sizes_and_test_texts(tmp_path):
    results = reproduce(
        "lin2017",
        "table 4",
        "yelp",
        REVIEWS[:40],
        REVIEWS[40:50],
        REVIEWS[50:],
        folder=tmp_path / "table",
        model_overrides={**CONVOLUTION, "num_heads": 2},
        training_overrides=ONE_STEP,
        verbose=0,
    )
    original, pruned = results.table.rows[:2]
    # Two heads of five features, to seven units; and five classes.
    hidden, softmax = 2 * 5 * 7 + 7, 7 * 5 + 5
    assert results.parameters(original, "hidden layer") == hidden
    assert results.parameters(original, "softmax") == softmax
    # 150 units a row and 10 a column.
    units = 2 * 150 + 5 * 10
    hidden = 2 * 5 * 150 + 5 * 2 * 10 + units
    assert results.parameters(pruned, "hidden layer") == hidden
    assert results.parameters(pruned, "softmax") == units * 5 + 5
    (yelp, *others) = results.table.columns
    assert results.measured_on["yelp"] == "test"
    assert len(results.right("yelp-pruned", yelp)[0]) == 14
    assert results.best_baseline(yelp) is pruned
    for column in others:
        assert results.measured_on[column.name] is None


def test_a_figure_has_a_picture_of_its_curves(tmp_path):
    results = reproduce(
        "lin2017",
        "figure 5",
        "snli",
        PAIRS[:48],
        PAIRS[48:],
        folder=tmp_path / "figure",
        rows=["r-5"],
        model_overrides={**CONVOLUTION, "interaction_units": 3},
        training_overrides=ONE_STEP,
        verbose=0,
    )
    assert len(results.runs["r-5"][0]["dev_accuracies"]) == 1
    picture = (tmp_path / "figure" / "figure.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    run = tmp_path / "figure" / "runs" / "r-5" / "seed-0"
    settings = json.loads((run / "settings.json").read_text())
    assert settings["model"]["num_heads"] == 5


def refuses(folder, message, **changes):
    with pytest.raises(ValueError, match=message):
        classes(folder, **changes)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("rows of parikh2016 table 2 on snli are vanilla", {"rows": ["lstm"]}),
        ("`seeds` must be an integer of 1", {"seeds": 0}),
        (
            "compares rows by intra_sentence",
            {"model_overrides": {"intra_sentence": True}},
        ),
        ("no argument 'heads'", {"model_overrides": {"heads": 3}}),
        ("'momentum'", {"training_overrides": {"momentum": 1}}),
        ("training texts.*'9'", {"test_texts": [(("a", "b"), "9")]}),
    ],
)
def test_a_bad_argument_is_refused_before_anything_is_written(
    tmp_path, message, changes
):
    refuses(tmp_path / "table", message, **changes)


def test_bad_vectors_leave_nothing_behind(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 0.1 0.2 0.3\nfood 0.4 0.5\n")
    refuses(tmp_path / "table", "vectors.txt:2", vectors=path)


def test_a_corpus_that_the_table_lacks(tmp_path):
    with pytest.raises(ValueError, match="is on yelp, age.*'snli'"):
        reproduce("lin2017", "table 1", "snli", [], [], folder=tmp_path / "x")


def test_a_table_by_class_needs_the_classes(tmp_path):
    pairs = [(text, label[0]) for text, label in PAIRS]
    with pytest.raises(ValueError, match="'neutral'.*c, e, n"):
        reproduce(
            "parikh2016",
            "table 2",
            "snli",
            pairs,
            pairs,
            folder=tmp_path / "x",
            model_overrides=DECOMPOSABLE,
        )


def test_a_folder_of_other_settings_or_data(done):
    with pytest.raises(ValueError, match="other values of: training"):
        classes(done[0], training_overrides={**ONE_STEP, "epochs": 3})
    with pytest.raises(ValueError, match="other values of: data"):
        classes(done[0], test_texts=PAIRS[:5])


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds something else"):
        classes(tmp_path)
    # Figures without the settings that they were made with.
    other = tmp_path / "other"
    place = other / running.RUNS_FOLDER / "intra" / "seed-0"
    place.mkdir(parents=True)
    (place / running.RESULT_FILE).touch()
    with pytest.raises(ValueError, match="holds something else"):
        classes(other)


def test_a_folder_of_one_that_was_killed_as_it_began(tmp_path):
    place = tmp_path / running.RUNS_FOLDER / "intra" / "seed-0"
    (place / training.DATA_FOLDER).mkdir(parents=True)
    (place / LOCK_FILE).touch()
    (tmp_path / LOCK_FILE).touch()
    (tmp_path / f".{running.SETTINGS_FILE}.0a1b2c3d{UNFINISHED}").touch()
    results = classes(tmp_path, rows=["intra"], seeds=1)
    assert [*results.runs["intra"]] == [0] and not results.failures


def test_a_figure_without_matplotlib(tmp_path, monkeypatch):
    name = "keras_selfattn.reproduction.curves"
    # Looking for the attribute imports the module.
    monkeypatch.delattr(reproduction, "curves", raising=False)
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"keras_selfattn\[reproduction\]"):
        reproduce("lin2017", "figure 5", "snli", [], [], folder=tmp_path / "x")
