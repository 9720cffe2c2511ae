"""Which model when: what is run, what is not run again, what is shown."""

import gzip
import json
import types

import pytest

from benchmarks.corpora import __main__ as corpora
from benchmarks.corpora import ours
from benchmarks.corpora import report
from benchmarks.corpora import running
from benchmarks.corpora import texts
from benchmarks.corpora.log import Log
from keras_selfattn import models
from keras_selfattn import tuning
from keras_selfattn import zoo
from keras_selfattn.data import generate_reviews
from keras_selfattn.data import load_word_vectors


@pytest.fixture
def runs(monkeypatch):
    """What was run, in place of running it."""
    done = []

    def run(system, corpus, rows, seed, settings, chosen=None):
        done.append((corpus, system, rows, seed, chosen))
        return {
            "accuracy": 0.5 + 0.1 * seed,
            "seconds": 2.0,
            "processor_seconds": 3.0,
            "milliseconds": 0.25,
            "megabytes": 1.5,
            "train_rows": rows or 900,
            "dev_rows": 10,
            "chosen": {"of seed": seed},
        }

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(texts, "read", lambda corpus: ([0] * 900, [0] * 10))
    return done


@pytest.fixture
def call(tmp_path):
    def call(*arguments):
        log = tmp_path / "log.jsonl"
        folders = ["--log", str(log), "--output", str(tmp_path)]
        corpora.main([*arguments, *folders])
        return log

    return call


def test_what_was_run_is_not_run_again(call, runs, capsys, tmp_path):
    only = ["--only", "trec", "snli", "kim_cnn", "svm", "decomposable"]
    call(*only)
    first = list(runs)
    # One seed of all before the next, none where it changes nothing, and
    # the values that the first seed has chosen.
    assert first == [
        ("trec", "kim_cnn", None, 0, None),
        ("snli", "kim_cnn", None, 0, None),
        ("trec", "svm", None, 0, None),
        ("snli", "svm", None, 0, None),
        ("snli", "decomposable", None, 0, None),
        *(
            run
            for seed in (1, 2)
            for run in (
                ("trec", "kim_cnn", None, seed, {"of seed": 0}),
                ("snli", "kim_cnn", None, seed, {"of seed": 0}),
                ("snli", "decomposable", None, seed, {"of seed": 0}),
            )
        ),
    ]
    said = capsys.readouterr().out
    assert "| dev accuracy % | mean | TREC | SNLI |" in said
    ours = "decomposable attention, n-grams"
    cell = "60.0 ± 10.0"
    assert f"| Keras, CNN of Kim | {cell} | {cell} | {cell} |" in said
    # Not of all of the corpora.
    assert f"| {ours} |  |  | {cell} |" in said
    assert "| model, MB | TREC | SNLI |" in said
    assert (tmp_path / "corpora.png").stat().st_size > 1000
    call(*only)
    call("--report")
    assert runs == first


def test_a_mean_of_corpora_has_the_spread_of_its_seeds():
    trec, mr = (
        [{"seed": n, "accuracy": a} for n, a in enumerate(accuracies)]
        for accuracies in ((0.1, 0.3), (0.5, 0.9))
    )
    assert report.mean_of([trec, mr]) == "45.0 ± 21.2"
    # The mean of 20.0 and 50.0.
    assert report.mean_of([trec, mr[:1]]) == "35.0"
    assert report.mean_of([trec, []]) == ""


def test_another_grid_is_another_outcome(call, runs, monkeypatch):
    only = ["--only", "trec", "svm"]
    call(*only)
    monkeypatch.setattr(
        running, "settings", lambda *arguments: {"grid": [{"C": 9}]}
    )
    log = call(*only)
    assert len(runs) == 2
    outcomes = Log(log).outcomes
    assert len(outcomes) == 2
    ((newer,),) = report.by_system(outcomes, None)["svm"].values()
    assert newer["settings"] == {"grid": [{"C": 9}]}


@pytest.mark.parametrize(
    "corpus, system",
    [
        ("imdb", "svm"),
        ("imdb", "nbsvm"),
        ("imdb", "kim_cnn"),
        ("age", "fasttext"),
        ("snli", "svm"),
    ],
)
def test_of_a_large_corpus_fewer_values_are_tried(corpus, system):
    all_rows = running.settings(system, corpus)["grid"]
    first_rows = running.settings(system, corpus, 100)["grid"]
    assert 1 < len(all_rows) < len(first_rows)
    assert [value for value in first_rows if value in all_rows] == all_rows


def test_learning_curves_leave_out_what_is_all(call, runs, capsys, tmp_path):
    call("--only", "mr", "svm", "--rows", "100", "300", "3000", "all")
    assert [rows for _, _, rows, _, _ in runs] == [100, 300, None]
    said = capsys.readouterr().out
    assert "| MR | 100 | 300 | 3,000 | all |" in said
    assert "| 50.0 | 50.0 |  | 50.0 |" in said
    assert "mr, 3000 rows, svm, seed 0: left out, as there are " in said
    assert (tmp_path / "learning_curves.png").stat().st_size > 1000


def test_what_cannot_be_imported_is_left_out(call, runs, monkeypatch, capsys):
    def run(system, **values):
        raise ImportError("it needs X")

    monkeypatch.setattr(running, "run", run)
    log = call("--only", "trec", "cr", "svm")
    assert capsys.readouterr().out.count("svm is left out: it needs X") == 1
    assert not log.exists()


def test_what_ends_in_no_number_is_left_out(call, runs, monkeypatch, capsys):
    run = running.run

    def diverge_on_trec(corpus, **values):
        if corpus == "trec":
            raise FloatingPointError("No values of the grid end")
        return run(corpus=corpus, **values)

    monkeypatch.setattr(running, "run", diverge_on_trec)
    log = call("--only", "trec", "cr", "svm")
    said = capsys.readouterr().out
    assert "svm on trec is left out: No values of the grid end" in said
    assert [outcome["corpus"] for outcome in Log(log).outcomes] == ["cr"]


def test_dev_texts_that_are_training_texts_are_told_apart(
    call, monkeypatch, capsys
):
    rows = [(review.text, review.label) for review in generate_reviews(60, 0)]
    train, dev = rows[:40], rows[40:]
    # Known by heart, with labels that nobody could guess.
    known = [(text, "1") for text in ("xa xb", "xc xd", "xe xf")]
    read = {"trec": (train + known, dev + known), "cr": (train, dev)}
    monkeypatch.setattr(texts, "read", read.get)
    only = ["--only", "trec", "cr", "svm"]
    log = Log(call(*only))
    trec = log.find(corpus="trec")
    assert (trec["dev_rows"], trec["new_rows"]) == (23, 20)
    right = round(20 * trec["new_accuracy"])
    assert trec["accuracy"] == pytest.approx((right + 3) / 23)
    assert "new_accuracy" not in log.find(corpus="cr")
    said = capsys.readouterr().out
    assert "| without dev texts that are training texts | TREC | CR |" in said
    assert f"| {trec['new_accuracy']:.1%}".rstrip("%") + " |  |" in said


def test_a_line_that_was_cut_is_run_again(tmp_path):
    path = tmp_path / "runs" / "log.jsonl"
    log = Log(path)
    log.add({"corpus": "trec", "seed": 0, "rows": None, "accuracy": 0.5})
    with path.open("a") as file:
        file.write('{"corpus": "mr", "se')
    log = Log(path)
    assert log.find(corpus="trec", seed=0, rows=None)["accuracy"] == 0.5
    assert log.find(corpus="mr") is None
    log.add({"corpus": "mr", "seed": 0})
    assert Log(path).find(corpus="mr") == {"corpus": "mr", "seed": 0}


def test_a_search_comes_with_its_minutes():
    options = corpora.parse(["--only", "trec", "svm", "--tune", "0.5"])
    systems, names, rows = corpora.plan(options)
    assert (systems, names, rows) == (["svm", "tuned"], ["trec"], [None])
    keys = [key for key, _ in corpora.work(options)]
    assert keys[1]["settings"]["minutes"] == 0.5


@pytest.mark.parametrize(
    "sides, name", [(1, "own_texts_vectors"), (2, "own_pairs_vectors")]
)
def test_a_search_begins_where_train_does(monkeypatch, sides, name):
    given = {}

    def search(recipe, *texts, **options):
        given.update(options, recipe=recipe)
        return types.SimpleNamespace(
            training_record={
                "model": {"units": 7, "dropout": 0.5},
                "training": {"learning_rate": 0.01},
                "dev_accuracy": 0.5,
            }
        )

    monkeypatch.setattr(tuning, "search", search)
    settings = ours.search_settings(sides, 2)
    _, outcome = ours.search(settings, [], [], seed=3)
    recipe = zoo.get_recipe(name)
    assert given["recipe"] == zoo.Recipe(
        recipe.preset, recipe.model, recipe.training, search=recipe.search
    )
    assert given["vectors"] == ["reviews_structured"]
    assert (given["minutes"], given["seed"]) == (2, 3)
    # By the name of each that was searched.
    assert outcome["chosen"].keys() == recipe.search.keys()
    assert outcome["chosen"]["learning_rate"] == 0.01
    key = "units" if sides == 1 else "dropout"
    assert outcome["chosen"][key] == {"units": 7, "dropout": 0.5}[key]


def test_what_a_search_has_found_is_trained_from_other_seeds(monkeypatch):
    given = []

    def train(settings, train_rows, dev_rows, seed):
        given.append((settings, seed))
        raise KeyboardInterrupt

    monkeypatch.setattr(texts, "read", lambda corpus: ([0], [0]))
    monkeypatch.setattr(ours, "train", train)
    found = {"units": 7, "learning_rate": 0.5}
    settings = ours.search_settings(1, 2)
    with pytest.raises(KeyboardInterrupt):
        running.run(running.TUNED, "mr", None, 1, settings, found)
    ((given, seed),) = given
    assert seed == 1
    assert given["model"] == {**settings["model"], "units": 7}
    assert given["training"] == {**settings["training"], "learning_rate": 0.5}
    assert given["vectors"] == ["reviews_structured"]
    assert given["preset"] == settings["preset"]


def test_no_folder_of_corpora(monkeypatch):
    monkeypatch.delenv("KERAS_SELFATTN_DATA", raising=False)
    with pytest.raises(SystemExit, match="KERAS_SELFATTN_DATA"):
        texts.data_path("tasks")


def test_a_corpus_of_two_files(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_SELFATTN_DATA", str(tmp_path))
    texts.read.cache_clear()
    (tmp_path / "snli").mkdir()
    for name in ("train_part", "train_part2", "dev"):
        row = {"sentence1": name, "sentence2": "b", "gold_label": "neutral"}
        with gzip.open(tmp_path / f"snli/snli_1.0_{name}.jsonl.gz", "wt") as f:
            f.write(json.dumps(row) + "\n")
    train, dev = texts.read("snli_both")
    assert {text[0] for text, _ in train} == {"train_part", "train_part2"}
    assert [text[0] for text, _ in dev] == ["dev"]
    texts.read.cache_clear()


def test_any_first_rows_are_a_part_of_more(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_SELFATTN_DATA", str(tmp_path))
    texts.read.cache_clear()
    for name in ("imdb/imdb_train", "snli/snli_1.0_dev"):
        (tmp_path / name).parent.mkdir()
        rows = [
            {"text": f"{i}", "sentence1": f"{i}", "sentence2": "b"}
            | {"label": "pos", "gold_label": "-" if i == 3 else "neutral"}
            for i in range(6000 if "imdb" in name else 9)
        ]
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    train, dev = texts.read("imdb")
    assert (len(train), len(dev)) == (1000, 5000)
    assert not {text for text, _ in train} & {text for text, _ in dev}
    assert [text for text, _ in train] != sorted(text for text, _ in train)
    source = texts.CORPORA["snli"]
    assert len(texts._read(source, source.dev)) == 8
    texts.read.cache_clear()


@pytest.mark.parametrize("name", ours.OURS)
def test_settings_of_ours_are_those_of_a_model(name):
    values = ours.settings(name, "mr")
    sizes = {"vocabulary_size": 9, "num_classes": 2}
    if values["model"].get("character_vocabulary_size"):
        sizes["character_vocabulary_size"] = 9
    small = {"embedding_dim": 3, "units": 2, "hidden_units": 2}
    known = {n: v for n, v in small.items() if n in values["model"]}
    model = models.from_preset(
        values["preset"], **{**values["model"], **sizes, **known}
    )
    if ours.sides_of(name) == 1:
        config = model.get_config()
        assert config["pooling"] == values["model"].get("pooling", "structured")
        assert bool(values["vectors"]) == name.endswith("_vectors")
        has_ngrams = config["ngram_buckets"] is not None
        assert has_ngrams == name.startswith("wide")


def test_no_model_starts_with_what_it_is_asked_to_learn():
    assert [
        (name, corpus)
        for name in ours.STARTS
        for corpus in ("snli", "snli_both", "multinli", "mr")
        if running.can(name, corpus)
    ] == [
        ("from_snli", "multinli"),
        ("from_reviews", "mr"),
    ]


@pytest.mark.parametrize("name", ours.STARTS)
def test_a_run_starts_from_a_model_that_ships(name):
    settings = ours.settings(name, "mr")
    one, other = "A dog runs.", "It is red."
    texts = [one, other] if ours.sides_of(name) == 1 else [(one, other)] * 2
    labels = ["a", "b"]
    train = list(zip(texts, labels, strict=True)) * 2
    settings["training"] = {"epochs": 1}
    model, outcome = ours.train(settings, train, train, 0)
    assert model.labels == labels
    assert outcome["accuracy"] in (0.0, 0.5, 1.0)
    assert model.training_record["from"] == settings["start"]


def test_vectors_of_more_texts_are_learned_once(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_SELFATTN_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "imdb").mkdir()
    rows = [{"text": r.text} for r in generate_reviews(300, seed=0)]
    with gzip.open(tmp_path / texts.CORPORA["imdb"].train, "wt") as file:
        for row in rows + [{"text": "unheard-of"}] * 5:
            file.write(json.dumps(row) + "\n")
    training = [(row["text"], None) for row in rows]
    monkeypatch.setattr(ours, "read", lambda name: (training, []))
    for source in (ours.REVIEWS, ours.TRAINING_REVIEWS):
        path = ours._source(source)
        _, found = load_word_vectors(path, ["the", "unheard-of"])
        assert found.tolist() == [True, source == ours.REVIEWS]
        written = path.stat().st_mtime_ns
        assert ours._source(source).stat().st_mtime_ns == written
    assert ours._source("tasks/trec") == tmp_path / "tasks/trec"
    assert ours._source(ours.MODEL) == ours.MODEL


@pytest.mark.parametrize(
    "name",
    ["wide_alone_learned_vectors", "wide_alone_installed_learned_vectors"],
)
def test_vectors_are_not_of_what_is_to_be_answered(name):
    sources = [
        running.settings(name, corpus)["vectors"][-1]
        for corpus in ("mr", "imdb")
    ]
    assert sources == [ours.REVIEWS, ours.TRAINING_REVIEWS]
