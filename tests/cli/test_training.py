import collections
import csv
import gzip
import io
import json
import os
import sys

import keras
import numpy as np
import pytest

from keras_selfattn import zoo
from keras_selfattn.cli import main
from keras_selfattn.cli import training
from keras_selfattn.cli.parser import make_parser
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.models import from_preset
from keras_selfattn.training.settings import SETTINGS_FILE
from keras_selfattn.training.word_vectors import load_vectors
from keras_selfattn.tuning.searching import SEARCH_FILE
from tests.cli.commands import SMALL
from tests.cli.commands import SMALL_PAIRS
from tests.cli.commands import fails
from tests.cli.commands import train_arguments
from tests.cli.commands import write_titles


def test_train_reports_the_best_epoch(data, tmp_path, capsys):
    assert main(train_arguments(data, tmp_path / "run")) == 0
    shown = capsys.readouterr().out
    assert "Best dev accuracy" in shown
    rows = (data / "train.jsonl").read_text().splitlines()
    counts = collections.Counter(int(json.loads(row)["stars"]) for row in rows)
    counted = [f"{label} ({counts[label]})" for label in sorted(counts)]
    assert f"Classes: {', '.join(counted)}\n" in shown
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["model"]["units"] == 6


def test_long_classes_keep_their_counts(tmp_path, capsys):
    long = "arts, entertainment, music and everything else of that kind"
    rows = [("good food", long), ("bad food", "other")] * 2
    lines = [json.dumps({"text": t, "label": label}) for t, label in rows]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    data = [tmp_path / "rows.jsonl", f"--dev={tmp_path / 'rows.jsonl'}"]
    arguments = ["train", *data, f"--output={tmp_path / 'run'}", *SMALL]
    assert main([*map(str, arguments)]) == 0
    shown = capsys.readouterr().out
    assert f"Classes: {long[:40]}... (2), other (2)\n" in shown


@pytest.mark.parametrize(
    ("limit", "prepared"), [(3, False), (3, True), (6, False)]
)
def test_texts_that_may_be_cut_are_counted(tmp_path, capsys, limit, prepared):
    texts = ["good food", "a b c", "good food is good"]
    lines = [
        json.dumps({"text": text, "label": label})
        for text in texts
        for label in ("x", "y")
    ]
    rows = tmp_path / "rows.jsonl"
    rows.write_text("\n".join(lines))
    arguments = [str(rows), f"--dev={rows}"]
    small = [*SMALL, f"--set=max_tokens={limit}"]
    if prepared:
        ids = str(tmp_path / "ids")
        assert main(["prepare", *arguments, f"--output={ids}", *small]) == 0
        arguments = [ids]
    run = f"--output={tmp_path / 'run'}"
    capsys.readouterr()
    assert main(["train", *arguments, run, *small]) == 0
    shown = capsys.readouterr().out
    told = (
        "Up to 3 words of a text are read (max_tokens), and 4 of 6 training "
        "texts have as many, or more\n"
    )
    assert (told in shown) == ("max_tokens" in shown) == (limit == 3)


def test_a_token_before_the_words_is_none_of_them(tmp_path, capsys):
    rows = [("a", "a b", "x"), ("a", "b", "y"), ("a b c", "b", "x")]
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,label\n" + "".join(",".join(r) + "\n" for r in rows))
    arguments = ["--text=a", "--text-pair=b", "--recipe=own_pairs"]
    run = f"--output={tmp_path / 'run'}"
    few = ["--set=max_tokens=3", "--set=epochs=1", *SMALL_PAIRS]
    assert (
        main(["train", str(path), f"--dev={path}", *arguments, run, *few]) == 0
    )
    assert (
        "Up to 2 words of a text are read (max_tokens), and 2 of 3 training "
        "texts have as many, or more\n"
    ) in capsys.readouterr().out


def test_settings_of_its_own_without_a_preset(data, run, tmp_path):
    settings = json.loads((run / "settings.json").read_text())
    recipe = zoo.get_recipe("own_texts")
    assert settings["preset"] == recipe.preset
    for name in ("attention_penalty", "encoder_dropout", "character_cnn"):
        assert settings["model"][name] == recipe.model[name]
    assert settings["training"]["patience"] == recipe.training["patience"]
    # What is asked for comes first.
    assert settings["training"]["epochs"] == 1

    write_titles(data, tmp_path, "It")
    arguments = [
        argument
        for argument in train_arguments(tmp_path, tmp_path / "run")
        if not argument.startswith("--set")
    ]
    assert main([*arguments, "--text-pair=title", *SMALL_PAIRS]) == 0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    recipe = zoo.get_recipe("own_pairs_vectors")
    assert settings["preset"] == recipe.preset == "parikh2016_snli"
    assert settings["model"]["trainable_embeddings"] is False


@pytest.mark.slow
def test_settings_of_its_own_with_word_vectors(data, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 0.1 0.2 0.3\nfood 0.4 0.5 0.6\n")
    given = [f"--vectors={path}", "--set=embedding_dim=3"]
    output = tmp_path / "run"
    assert main(train_arguments(data, output, *given)) == 0
    settings = json.loads((output / "settings.json").read_text())
    recipe = zoo.get_recipe("own_texts_vectors")
    assert settings["preset"] == recipe.preset
    for name in ("ambiguity_penalty", "trainable_embeddings"):
        assert settings["model"][name] == recipe.model[name]
    assert settings["training"]["induce_vectors"] is True
    # What follows from the texts is on the card as the model has it.
    config = from_preset(output).get_config()
    card = (output / "model" / "README.md").read_text()
    size = config["character_vocabulary_size"]
    assert size < recipe.model["character_vocabulary_size"]
    assert f"| character_vocabulary_size | `{size}` | not set |" in card
    assert "| embedding_dim | `3` | `100` |" in card

    # Prepared with them, and then trained.
    columns = ["--text=review", "--label=stars", *given]
    files = [str(data / "train.jsonl"), f"--dev={data / 'dev.jsonl'}"]
    folder = tmp_path / "prepared"
    assert main(["prepare", *files, f"--output={folder}", *columns]) == 0
    again = tmp_path / "again"
    small = [each for each in SMALL if "embedding_dim" not in each]
    arguments = ["train", str(folder), f"--output={again}", *small, *given]
    assert main(arguments) == 0
    settings = json.loads((again / "settings.json").read_text())
    assert settings["model"]["ambiguity_penalty"] == 1.0


@pytest.mark.parametrize(
    "named",
    [[], pytest.param(["--recipe=own_pairs"], marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("command", ["train", "tune"])
def test_word_vectors_for_pairs_have_their_own_width(
    data, tmp_path, command, named
):
    (tmp_path / "vectors.txt").write_text("the 0.1 0.2 0.3\nfood 0.4 0.5 0.6\n")
    pairs = tmp_path / "pairs.csv"
    with pairs.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["one", "other", "stars"])
        for n in range(6):
            label = ("low", "high")[n % 2]
            writer.writerow([f"the food {n}", f"it was {label}", label])
    arguments = [
        command,
        str(pairs),
        f"--dev={pairs}",
        *("--text=one", "--text-pair=other", "--label=stars"),
        *("--epochs=1", f"--output={tmp_path / 'run'}"),
        f"--vectors={tmp_path / 'vectors.txt'}",
        *SMALL_PAIRS,
        *named,
    ]
    if command == "tune":
        arguments.append("--trials=1")
    assert main(arguments) == 0
    model = from_preset(tmp_path / "run")
    assert model.get_layer("word_vectors").embeddings.shape[1] == 3


def test_csv_and_gz(data, tmp_path):
    path = tmp_path / "train.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["stars", "review"])
        for review in generate_reviews(32, seed=1):
            writer.writerow([review.label, review.text])
    arguments = train_arguments(data, tmp_path / "run")
    arguments[1] = str(path)
    assert main(arguments) == 0


def test_several_files(data, run, tmp_path, capsys):
    rows = [
        json.loads(line)
        for line in (data / "train.jsonl").read_text().splitlines()
    ]
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    lines = "".join(json.dumps(row) + "\n" for row in rows[:30])
    with gzip.open(tmp_path / "part-0.jsonl.gz", "wt") as file:
        file.write(lines + '{"review": "", "stars": 1.0}\n')
    parquet.write_table(
        pyarrow.Table.from_pylist(rows[30:]), tmp_path / "part-1.parquet"
    )
    given = train_arguments(data, tmp_path / "run", "--max-bad-rate=0.1")
    given[1:2] = [str(tmp_path / "part-*")]
    assert main(given) == 0
    said = capsys.readouterr().err
    assert "part-0.jsonl.gz: 31 rows, left out: 1 empty text" in said
    # As of one file that has all of them.
    weights = [
        from_preset(folder).get_weights() for folder in (tmp_path / "run", run)
    ]
    for one, other in zip(*weights, strict=True):
        np.testing.assert_array_equal(one, other)
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert f"| train | {len(rows)} |" in card
    given[1] = str(tmp_path / "nothing-*")
    given[3] = f"--output={tmp_path / 'other'}"
    fails(capsys, given, "There is no file that matches", "nothing-*")
    assert not (tmp_path / "other").exists()


def test_checkpoints_by_the_clock(data, tmp_path, capsys):
    output = tmp_path / "run"
    given = train_arguments(data, output, "--checkpoint-minutes")
    fails(capsys, [*given, "0"], "`checkpoint_minutes` must be a number above")
    assert not output.exists()


def test_a_missing_column(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--text=words")
    expected = ("words", "review", "stars", "train.jsonl:1", "--text names")
    fails(capsys, arguments, *expected)
    arguments = train_arguments(data, tmp_path / "run", "--label=sense")
    fails(capsys, arguments, "--label names another")
    path = tmp_path / "labeled.txt"
    path.write_text("review\tstars\ngood\t1\n")
    given = ["train", path, f"--dev={path}", f"--output={tmp_path / 'run'}"]
    fails(capsys, given, "gold_label", "--format names another")


def test_a_missing_file(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run")
    arguments[1] = str(tmp_path / "none.jsonl")
    fails(capsys, arguments, "none.jsonl")


def test_a_broken_gz(data, tmp_path, capsys):
    whole = gzip.compress((data / "train.jsonl").read_bytes())
    path = tmp_path / "train.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    arguments = train_arguments(data, tmp_path / "run")
    arguments[1] = str(path)
    fails(capsys, arguments, "train.jsonl.gz")


def test_an_output_that_exists(run, data, capsys):
    fails(capsys, train_arguments(data, run), "must be new", str(run))


@pytest.mark.skipif(os.name == "nt", reason="no /proc to be read-only")
def test_an_output_that_cannot_be_written(data, capsys):
    fails(capsys, train_arguments(data, "/proc/run"), "/proc/run")


@pytest.mark.slow
def test_vectors_of_two_files(data, tmp_path, capsys):
    paths = [tmp_path / name for name in ("one.txt", "two.txt")]
    paths[0].write_text("the 0.1 0.2 0.3\nfood 0.4 0.5 0.6\n")
    paths[1].write_text("food 1 2\nwas 2 1\n")
    given = [f"--vectors={path}" for path in paths]
    given.append("--set=embedding_dim=5")
    output = tmp_path / "run"
    assert main(train_arguments(data, output, *given)) == 0
    settings = json.loads((output / "settings.json").read_text())
    assert settings["vectors"] == list(map(str, paths))
    assert "Word vectors: `one.txt, two.txt`." in (
        output / "model" / "README.md"
    ).read_text(encoding="utf-8")
    model = from_preset(output)
    words = model.preprocessor.get_vocabulary()
    rows = [words.index(word) for word in ("food", "the", "was")]
    table = model.get_layer("word_vectors").get_weights()[0][rows]
    found, _ = load_vectors(paths, ["food", "the", "was"])
    np.testing.assert_array_equal(table, found)

    missing = [*given, f"--vectors={tmp_path}/three.txt"]
    arguments = train_arguments(data, tmp_path / "no", *missing)
    fails(capsys, arguments, "three.txt")
    assert not (tmp_path / "no").exists()


@pytest.mark.slow
def test_vectors_of_a_model(data, tmp_path, capsys):
    output = tmp_path / "run"
    given = ["--vectors=nli_decomposable", "--set=embedding_dim=200"]
    assert main(train_arguments(data, output, *given)) == 0
    settings = json.loads((output / "settings.json").read_text())
    assert settings["vectors"] == "nli_decomposable"
    assert "Word vectors: `nli_decomposable`." in (
        output / "model" / "README.md"
    ).read_text(encoding="utf-8")
    model = from_preset(output)
    row = model.preprocessor.get_vocabulary().index("food")
    found, _ = load_vectors("nli_decomposable", ["food"])
    table = model.get_layer("word_vectors").get_weights()[0]
    np.testing.assert_array_equal(table[[row]], found)

    arguments = train_arguments(data, tmp_path / "no", "--vectors=nli_decomp")
    fails(capsys, arguments, "nli_decomp")
    arguments = train_arguments(data, tmp_path / "no", "--vectors=hf://x")
    fails(capsys, arguments, "hf://x")
    assert not (tmp_path / "no").exists()


def test_bad_vectors(data, tmp_path, capsys):
    path = tmp_path / "vectors.txt"
    path.write_text("the 0.1 0.2 0.3\nfood 0.4 0.5\n")
    arguments = train_arguments(data, tmp_path / "run", f"--vectors={path}")
    fails(capsys, arguments, "vectors.txt:2")
    assert not (tmp_path / "run").exists()


def test_an_unknown_preset(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--preset=lin2018")
    fails(capsys, arguments, "lin2018", "lin2017_yelp")


def test_an_unknown_model_argument(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--set=heads=3")
    fails(capsys, arguments, "heads")
    assert not (tmp_path / "run").exists()


def test_a_size_that_follows_from_the_data(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--set=num_classes=3")
    fails(capsys, arguments, "'num_classes' follows from the data")


def train_on_part(path, output, *more):
    columns = ["--text=review", "--label=stars", *SMALL]
    return main(["train", str(path), f"--output={output}", *columns, *more])


def test_a_dev_fraction(data, tmp_path, capsys):
    output = tmp_path / "run"
    # An empty folder is a new one.
    output.mkdir()
    path = data / "train.jsonl"
    assert train_on_part(path, output, "--dev-fraction=0.25") == 0
    record = json.loads((output / "model" / "config.json").read_text())
    assert record["training"]["dev_rows"] == 12
    assert record["training"]["train_rows"] == 36
    assert "Best dev accuracy" in capsys.readouterr().out


def test_standard_input(data, tmp_path, monkeypatch):
    content = (data / "train.jsonl").read_bytes()
    stream = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stream)
    assert train_on_part("-", tmp_path / "run", "--dev-fraction=0.25") == 0


def test_a_run_that_does_not_start_leaves_an_empty_folder(
    data, tmp_path, capsys
):
    (tmp_path / "run").mkdir()
    path = tmp_path / "vectors.txt"
    path.write_text("the 0.1 0.2 0.3\nfood 0.4 0.5\n")
    arguments = train_arguments(data, tmp_path / "run", f"--vectors={path}")
    fails(capsys, arguments, "vectors.txt:2")
    assert list((tmp_path / "run").iterdir()) == []


def test_a_label_that_only_dev_has(data, tmp_path, capsys):
    rows = (data / "dev.jsonl").read_text().splitlines()
    dev = tmp_path / "dev.jsonl"
    row = json.dumps({"review": "good", "stars": "six"})
    dev.write_text("\n".join([*rows[:4], row, *rows[4:]]) + "\n")
    arguments = train_arguments(data, tmp_path / "run", f"--dev={dev}")
    fails(capsys, arguments, f"{dev}:5: expected one of", "'six'", "1 bad of")
    assert not (tmp_path / "run").exists()
    assert main([*arguments, "--max-bad-rate=0.1"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "21 rows, left out: 1 unknown label" in line
    assert f"{dev}:5: expected one of the labels" in line


def test_a_finished_run_drops_its_checkpoint(run, data, capsys):
    assert not (run / "checkpoint").exists()
    before = {
        path: path.read_bytes() for path in run.iterdir() if not path.is_dir()
    }
    assert main(train_arguments(data, run, "--resume")) == 0
    shown = capsys.readouterr().out
    assert "finished before" in shown
    assert "Best dev accuracy" in shown
    assert {path: path.read_bytes() for path in before} == before
    arguments = train_arguments(data, run, "--resume", "--epochs=2")
    fails(capsys, arguments, "is finished", "--keep-checkpoint")


@pytest.mark.parametrize("part", ["train", "dev"])
def test_a_finished_run_of_other_texts(run, data, tmp_path, capsys, part):
    for name in ("train", "dev"):
        rows = (data / f"{name}.jsonl").read_text()
        if name == part:
            rows = rows.replace(" the ", " a ", 1)
        (tmp_path / f"{name}.jsonl").write_text(rows)
    fails(capsys, train_arguments(tmp_path, run, "--resume"), "other texts")


@pytest.mark.slow
def test_a_kept_checkpoint_goes_on(data, tmp_path, capsys):
    arguments = train_arguments(data, tmp_path / "run", "--keep-checkpoint")
    assert main(arguments) == 0
    assert main([*arguments, "--resume", "--epochs=2"]) == 0
    history = (tmp_path / "run" / "history.csv").read_text().splitlines()
    assert len(history) == 3


def interrupted_in(epoch):
    """A `CallbackList` whose user gives up when an epoch begins."""

    class Interrupted(keras.callbacks.CallbackList):
        def on_epoch_begin(self, number, logs=None):
            if number == epoch:
                raise KeyboardInterrupt
            super().on_epoch_begin(number, logs)

    return Interrupted


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_run_in_a_folder_of_its_preset_s_name_goes_on(
    data, tmp_path, monkeypatch, epoch
):
    monkeypatch.chdir(tmp_path)
    more = ["--preset=lin2017_yelp", "--epochs=2"]
    arguments = train_arguments(data, "lin2017_yelp", *more)
    with monkeypatch.context() as patch:
        patch.setattr(keras.callbacks, "CallbackList", interrupted_in(epoch))
        assert main(arguments) == 130
    assert main([*arguments, "--resume"]) == 0


def test_a_card_that_is_missing_is_written_when_the_run_goes_on(
    data, tmp_path, monkeypatch, capsys
):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    dev = tmp_path / "dev.jsonl"
    row = json.dumps({"review": "good", "stars": "six"})
    dev.write_text((data / "dev.jsonl").read_text() + row + "\n")
    more = [f"--dev={dev}", "--max-bad-rate=0.1"]
    arguments = train_arguments(data, tmp_path / "run", *more)
    with monkeypatch.context() as patch:
        patch.setattr(training, "write_card", interrupt)
        assert main(arguments) == 130
    assert not (tmp_path / "run" / "checkpoint").exists()
    assert main([*arguments, "--resume"]) == 0
    said = capsys.readouterr()
    assert "finished before" not in said.out
    assert "21 rows, left out: 1 unknown label" in said.err
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "over 20 texts" in card


@pytest.mark.parametrize("part", ["train", "dev"])
def test_a_card_tells_of_no_texts_that_have_changed_meanwhile(
    data, tmp_path, monkeypatch, capsys, part
):
    for name in ("train", "dev"):
        rows = (data / f"{name}.jsonl").read_text()
        (tmp_path / f"{name}.jsonl").write_text(rows)

    class Edited(keras.callbacks.CallbackList):
        def on_epoch_begin(self, epoch, logs=None):
            path = tmp_path / f"{part}.jsonl"
            path.write_text(path.read_text().replace(" the ", " a ", 1))
            super().on_epoch_begin(epoch, logs)

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(keras.callbacks, "CallbackList", Edited)
        message = f"The {part} texts have changed"
        fails(capsys, train_arguments(tmp_path, run), message, str(run))
    assert (run / "model" / "model.weights.h5").exists()
    assert not (run / "model" / "README.md").exists()


@pytest.mark.parametrize("epoch", [0, 1])
def test_an_interrupted_run_tells_how_it_goes_on(
    data, tmp_path, monkeypatch, capsys, epoch
):
    arguments = train_arguments(data, tmp_path / "run", "--epochs=2")
    with monkeypatch.context() as patch:
        patch.setattr(keras.callbacks, "CallbackList", interrupted_in(epoch))
        assert main(arguments) == 130
    said = "interrupted; with --resume the run goes on"
    assert capsys.readouterr().err.splitlines()[-1].endswith(f": {said}")
    assert main([*arguments, "--resume"]) == 0
    history = (tmp_path / "run" / "history.csv").read_text().splitlines()
    assert len(history) == 3


@pytest.mark.parametrize(
    "command,file,kind",
    [
        ("train", SETTINGS_FILE, "run"),
        ("prepare", SETTINGS_FILE, "preparation"),
        ("tune", SEARCH_FILE, "search"),
    ],
)
def test_how_each_command_goes_on(tmp_path, command, file, kind):
    options = make_parser().parse_args(
        [command, "a.csv", "--dev=b.csv", f"--output={tmp_path}"]
    )
    assert training.how_to_resume(options) == ""
    (tmp_path / file).touch()
    expected = f"; with --resume the {kind} goes on"
    assert training.how_to_resume(options) == expected


def test_what_had_not_begun_does_not_go_on(data, tmp_path, monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    arguments = train_arguments(data, tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(training, "own_recipe", interrupt)
        assert main(arguments) == 130
    assert capsys.readouterr().err == "keras-selfattn: interrupted\n"
    fails(capsys, [*arguments, "--resume"], "There is no run to resume")


@pytest.mark.parametrize(
    "monitor,also", [("macro_f1", "macro F1 "), ("loss", "loss ")]
)
def test_what_tells_the_best_epoch_is_shown(
    data, tmp_path, monitor, also, capsys
):
    arguments = train_arguments(
        data,
        tmp_path / "run",
        f"--monitor={monitor}",
        "--patience=1",
        "--class-weight=balanced",
    )
    assert main(arguments) == 0
    assert f", {also}" in capsys.readouterr().out
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["training"]["monitor"] == monitor
    assert settings["training"]["patience"] == 1


def test_a_recipes_falling_rate_takes_the_epochs_asked_for(
    data, tmp_path, capsys
):
    write_titles(data, tmp_path, "A title.")
    arguments = [
        "train",
        str(tmp_path / "train.jsonl"),
        f"--dev={tmp_path / 'dev.jsonl'}",
        "--text=review",
        "--text-pair=title",
        "--label=stars",
        "--keep-checkpoint",
        "--recipe=snli_decomposable",
        "--set=embedding_dim=6",
        *SMALL_PAIRS,
        f"--output={tmp_path / 'run'}",
    ]
    assert main([*arguments, "--epochs=1"]) == 0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["training"]["decay_epochs"] == 1
    # Its rate has fallen: there is nothing to go on with.
    more = [*arguments, "--epochs=2", "--resume"]
    fails(capsys, more, "other values of: training (decay_epochs)")


@pytest.mark.parametrize("more", [[], ["--recipe=own_texts"]])
def test_another_optimizer_than_the_recipe_s_has_its_own_rate(
    data, tmp_path, more
):
    arguments = train_arguments(data, tmp_path / "run", *more)
    assert main([*arguments, "--optimizer=sgd"]) == 0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    # Neither the recipe's, nor that of its preset, whose optimizer it is.
    assert settings["training"]["learning_rate"] == 0.01
    assert settings["training"]["patience"] == 5


def test_nothing_is_searched_twice(data, tmp_path, capsys):
    _, *arguments = train_arguments(data, tmp_path / "run")
    twice = ["--search=dropout=[0.1]", "--search=dropout=[0.2]"]
    fails(capsys, ["tune", *arguments, *twice], "more than one of: dropout")


@pytest.mark.parametrize("command", ["train", "tune"])
@pytest.mark.parametrize(
    "option, message",
    [
        ("--seed=-1", "`--seed` must be from 0 to 4294967295. Received: -1"),
        ("--seed=4294967296", "`--seed` must be from 0"),
        ("--preset={run}", "`train --from` starts from a trained model"),
    ],
)
def test_what_is_wrong_is_said_by_its_option(
    run, data, tmp_path, capsys, command, option, message
):
    _, *arguments = train_arguments(data, tmp_path / "run")
    option = option.format(run=run)
    fails(capsys, [command, *arguments, option], message)


def test_dev_texts_that_are_ids_already_are_refused(data, tmp_path, capsys):
    ids = tmp_path / "ids"
    ids.mkdir()
    (ids / "manifest.json").write_text("{}")
    arguments = train_arguments(data, tmp_path / "run", f"--dev={ids}")
    fails(capsys, arguments, f"`--dev` takes texts. Received: {ids}, which")
    assert not (tmp_path / "run").exists()
