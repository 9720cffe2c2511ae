import csv
import json

import keras
import numpy as np
import pytest

from keras_selfattn import cli
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn.data.batches import EncodedDataset
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.training import fitting
from keras_selfattn.training.teaching import Teachers
from keras_selfattn.training.values import DEFAULTS
from tests.cli.commands import SMALL
from tests.tiny_classifier import tiny_classifier

ROWS = [
    (review.text, "good" if review.label > "3" else "bad")
    for review in generate_reviews(60, seed=3)
]
TINY = {
    "encoder": "cnn",
    "units": 4,
    "embedding_dim": 5,
    "attention_dim": 3,
    "num_heads": 2,
    "hidden_units": 6,
    "dropout": 0.0,
    "attention_penalty": 0.0,
    "l2": 0.0,
}


@pytest.fixture(scope="module")
def teachers(tmp_path_factory):
    """Two models of the same labels in different orders, and their paths."""
    folder, made = tmp_path_factory.mktemp("teachers"), []
    for units, labels in ((4, ["good", "bad"]), (6, ["bad", "good"])):
        model = tiny_classifier(
            vocabulary=("the", "was", "food", "."), labels=labels, units=units
        )
        # As sure as a trained one.
        for weight in model.layers[-1].trainable_weights:
            weight.assign(200.0 * weight)
        model.save_to_preset(folder / str(units))
        made.append((model, str(folder / str(units))))
    return made


def paths(teachers):
    return [path for _, path in teachers]


def train(folder, rows=ROWS, seed=0, **more):
    values = {"optimizer": "adam", "epochs": 2, "batch_size": 8, "min_count": 1}
    return training.train(
        "lin2017_yelp",
        rows[:40],
        ROWS[40:],
        folder,
        seed=seed,
        model_overrides={**TINY, **more.pop("model", {})},
        training_overrides={**values, **more.pop("values", {})},
        verbose=0,
        **more,
    )


def history(folder):
    with (folder / "history.csv").open() as file:
        return list(csv.DictReader(file))


def answers(model, texts):
    """The probabilities of bad and good, all texts at once."""
    order = [model.labels.index(label) for label in ("bad", "good")]
    found = model(model.preprocess(list(texts)))
    return keras.ops.convert_to_numpy(found).astype("float64")[:, order]


def test_targets_are_the_labels_beside_the_mean_of_the_answers(teachers):
    texts, labels = zip(*ROWS, strict=True)
    dataset = EncodedDataset.from_texts(ROWS, teachers[0][0].preprocessor)
    true = np.array([[label == "bad", label == "good"] for label in labels])
    mean = sum(answers(model, texts) for model, _ in teachers) / 2
    found = Teachers(paths(teachers)).targets(ROWS, dataset, 0.25)
    np.testing.assert_allclose(found, 0.25 * true + 0.75 * mean, atol=1e-6)
    assert np.abs(mean[:, 0] - 0.5).max() > 0.01


def test_the_ngrams_begin_from_the_labels_as_untaught_ones_do(
    teachers, tmp_path
):
    more = {
        "model": {"ngram_buckets": 64},
        "values": {"optimizer": "sgd", "learning_rate": 1e-12, "epochs": 1},
    }
    taught = train(tmp_path / "taught", teachers=paths(teachers), **more)
    untaught = train(tmp_path / "untaught", **more)
    found, expected = (
        keras.ops.convert_to_numpy(model.get_layer("ngram_logits").table)
        for model in (taught, untaught)
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert expected.any()


def test_the_loss_is_the_cross_entropy_with_the_targets(teachers, tmp_path):
    # One step on all rows at once, which leaves the weights as they are.
    model = train(
        tmp_path / "run",
        values={"epochs": 1, "batch_size": 40, "learning_rate": 1e-12},
        teachers=paths(teachers),
    )
    texts, labels = zip(*ROWS[:40], strict=True)
    true = np.array([[label == "bad", label == "good"] for label in labels])
    mean = sum(answers(teacher, texts) for teacher, _ in teachers) / 2
    wanted = 0.3 * true + 0.7 * mean
    loss = -(wanted * np.log(answers(model, texts))).sum(-1).mean()
    # The dev loss is that of the labels alone.
    texts, labels = zip(*ROWS[40:], strict=True)
    found = answers(model, texts)
    right = found[range(20), [int(label == "good") for label in labels]]
    (row,) = history(tmp_path / "run")
    assert float(row["loss"]) == pytest.approx(loss, abs=1e-5)
    assert float(row["val_loss"]) == pytest.approx(
        -np.log(right).mean(), abs=1e-5
    )


def test_rows_weigh_by_their_label_and_not_by_what_teachers_say(
    teachers, tmp_path
):
    good = [row for row in ROWS if row[1] == "good"]
    bad = [row for row in ROWS if row[1] == "bad"]
    rows = [*good[:8], *bad[:16]]
    model = training.train(
        "lin2017_yelp",
        rows,
        ROWS[40:],
        tmp_path / "run",
        model_overrides=TINY,
        training_overrides={
            **{"optimizer": "adam", "epochs": 1, "min_count": 1},
            **{"batch_size": len(rows), "learning_rate": 1e-12},
            **{"class_weight": "balanced", "student_loss_weight": 0.01},
        },
        teachers=paths(teachers),
        verbose=0,
    )
    texts, labels = zip(*rows, strict=True)
    true = np.array([[label == "bad", label == "good"] for label in labels])
    mean = sum(answers(teacher, texts) for teacher, _ in teachers) / 2
    wanted = 0.01 * true + 0.99 * mean
    # Teachers that go by the labels would hide it.
    assert (wanted.argmax(axis=1) != true.argmax(axis=1)).any()
    losses = -(wanted * np.log(answers(model, texts))).sum(axis=-1)
    weights = np.where([label == "good" for label in labels], 24 / 16, 24 / 32)
    (row,) = history(tmp_path / "run")
    assert float(row["loss"]) == pytest.approx(
        (weights * losses).mean(), abs=1e-5
    )


def test_a_teacher_counts_once(teachers, tmp_path):
    path, _ = paths(teachers)
    with pytest.raises(ValueError, match="must be different models"):
        train(tmp_path / "run", teachers=[path, path])
    assert not (tmp_path / "run" / "model").exists()


def test_with_the_whole_weight_on_the_labels_a_run_is_untaught(
    teachers, tmp_path
):
    plain = train(tmp_path / "plain")
    taught = train(
        tmp_path / "taught",
        values={"student_loss_weight": 1},
        teachers=paths(teachers),
    )
    for one, other in zip(
        plain.get_weights(), taught.get_weights(), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.slow
def test_with_none_on_the_labels_they_do_not_count(teachers, tmp_path):
    # As many of either: the ids of the words do not depend on labels.
    turned = [
        (text, {"bad": "good", "good": "bad"}[label]) for text, label in ROWS
    ]
    values = {"student_loss_weight": 0, "monitor": "macro_f1"}
    one, other = (
        train(
            tmp_path / name, rows, values=values, teachers=paths(teachers)
        ).get_weights()
        for name, rows in (("one", ROWS), ("other", turned))
    )
    for own, others in zip(one, other, strict=True):
        np.testing.assert_array_equal(own, others)


def test_macro_f1_on_dev_is_that_of_an_evaluation(teachers, tmp_path):
    from keras_selfattn.evaluation import evaluate

    model = train(
        tmp_path / "run",
        values={"epochs": 1, "monitor": "macro_f1"},
        teachers=paths(teachers),
    )
    (row,) = history(tmp_path / "run")
    expected = evaluate(model, ROWS[40:]).macro_f1
    assert float(row["val_macro_f1"]) == pytest.approx(expected, abs=1e-5)


class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_stopped_run_goes_on_as_if_it_had_not(teachers, tmp_path):
    whole = train(tmp_path / "whole", teachers=paths(teachers))
    stopped = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        train(stopped, teachers=paths(teachers), callbacks=[Stop()])
    with pytest.raises(ValueError, match="other values of: teachers"):
        train(stopped, teachers=paths(teachers)[:1], resume=True)
    with pytest.raises(ValueError, match="other values of: teachers"):
        train(stopped, resume=True)
    resumed = train(stopped, teachers=paths(teachers), resume=True)
    for one, other in zip(
        whole.get_weights(), resumed.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("damaged", [False, True])
def test_a_run_that_goes_on_asks_no_teacher_again(
    damaged, teachers, tmp_path, monkeypatch
):
    asked = []

    def targets(self, *arguments):
        asked.append(arguments)
        return targets_of(self, *arguments)

    targets_of = Teachers.targets
    monkeypatch.setattr(Teachers, "targets", targets)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", teachers=paths(teachers), callbacks=[Stop()])
    (kept,) = (tmp_path / "run").rglob("targets.npy")
    if damaged:
        np.save(kept, np.load(kept) / 2)
    train(tmp_path / "run", teachers=paths(teachers), resume=True)
    assert len(asked) == 1 + damaged
    assert not kept.exists()


def test_the_command_says_what_a_model_has_learned_from(teachers, tmp_path):
    lines = [json.dumps({"text": t, "label": label}) for t, label in ROWS]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    arguments = [
        "train",
        str(tmp_path / "rows.jsonl"),
        "--dev-fraction=0.2",
        *(f"--teacher={path}" for path in paths(teachers)),
        "--set=student_loss_weight=0.5",
        *SMALL,
        f"--output={tmp_path / 'run'}",
    ]
    assert cli.main(arguments) == 0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert list(settings["teachers"]) == paths(teachers)
    assert settings["training"]["student_loss_weight"] == 0.5
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    named = ", ".join(f"`{path}`" for path in paths(teachers))
    assert f"It has learned the answers of {named} beside the labels." in card
    assert models.from_preset(tmp_path / "run").labels == ["bad", "good"]


def test_a_teacher_of_16_bits_is_told_from_others(tmp_path):
    numbers = []
    for dtype, seed in (("bfloat16", 1), ("bfloat16", 2), ("float32", 1)):
        teacher = tiny_classifier(labels=["bad", "good"], dtype=dtype)
        bias = teacher.layers[-1].bias
        bias.assign(np.full(bias.shape, seed, "float32"))
        teacher.save_to_preset(tmp_path / "teacher")
        settings = Teachers([tmp_path / "teacher"]).settings["teachers"]
        numbers += settings.values()
    assert len(set(numbers)) == 3


@pytest.mark.parametrize(
    "labels, message",
    [
        (["bad", "good", "so so"], "must know the labels.*so so"),
        (["bad", "fine"], "must know the labels.*fine"),
        (None, "A teacher must have its `labels`"),
    ],
)
def test_teachers_of_other_labels(labels, message, tmp_path):
    teacher = tiny_classifier(labels=labels or ["bad", "good"])
    teacher.labels = labels
    teacher.save_to_preset(tmp_path / "teacher")
    with pytest.raises(ValueError, match=message):
        train(tmp_path / "run", teachers=[tmp_path / "teacher"])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"teachers": ["snli_decomposable"]}, "must know the labels"),
        ({"teachers": "snli_decomposable"}, "must be a list of names"),
        ({"teachers": ["large"]}, "neither a preset nor a folder"),
        (
            {"values": {"student_loss_weight": 1.5}},
            "`student_loss_weight` must be a number from 0 to 1",
        ),
        (
            {"values": {"student_loss_weight": 0.5}},
            "`student_loss_weight` is for `teachers`",
        ),
    ],
)
def test_what_cannot_be(arguments, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(tmp_path / "run", **arguments)
    assert not (tmp_path / "run" / "model").exists()


def test_a_teacher_of_pairs_for_texts(tmp_path):
    names = ["entailment", "neutral", "contradiction"]
    rows = [(text, names[n % 3]) for n, (text, _) in enumerate(ROWS)]
    with pytest.raises(ValueError, match="must take texts, as these are"):
        training.train(
            "lin2017_yelp",
            rows,
            rows,
            tmp_path / "run",
            model_overrides=TINY,
            teachers=["snli_decomposable"],
            verbose=0,
        )


def test_prepared_texts_have_no_teachers(teachers, tmp_path):
    training.prepare_shards(
        "lin2017_yelp", [ROWS[:40]], ROWS[40:], tmp_path / "prepared"
    )
    with pytest.raises(ValueError, match="`teachers` answer texts"):
        training.train(
            "lin2017_yelp",
            training.PreparedFolder(tmp_path / "prepared"),
            None,
            tmp_path / "run",
            teachers=paths(teachers),
        )


def test_targets_of_prepared_texts_are_refused(tmp_path):
    training.prepare_shards(
        "lin2017_yelp", [ROWS[:40]], ROWS[40:], tmp_path / "prepared"
    )
    values = {**DEFAULTS, **models.get_preset("lin2017_yelp").training}
    texts = training.PreparedFolder(tmp_path / "prepared").texts(
        "lin2017_yelp", values, TINY
    )
    model = training.make_model(
        "lin2017_yelp", values, **{**TINY, **texts.arguments}
    )
    texts.hand_to(model, {"model": {}})
    run = training.Run(tmp_path / "run", {"training": {**values, "epochs": 1}})
    with pytest.raises(ValueError, match="`targets` are for one process"):
        training.fit(
            *(model, texts, run, values), verbose=0, targets=np.zeros((40, 2))
        )


def test_what_auto_shows():
    assert fitting.shown("auto") in (1, 2)
    assert fitting.shown(0) == 0
