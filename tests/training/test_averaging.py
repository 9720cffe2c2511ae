import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy as array

from keras_selfattn.training.averaging import set_reach
from keras_selfattn.training.building import compile_model
from tests.tiny_classifier import tiny_classifier
from tests.training.small import SMALL
from tests.training.small import assert_same_run
from tests.training.small import final_weights
from tests.training.small import reviews
from tests.training.small import train

AVERAGED = {"epochs": 3, "batch_size": 16, "ema_momentum": 0.5}


@pytest.fixture(scope="module")
def averaged_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "averaged"
    return folder, train(folder, training_overrides=AVERAGED)


def test_averaging_changes_what_is_kept_and_not_how_it_learns(
    run, averaged_run
):
    plain, averaged = final_weights(run[0]), final_weights(averaged_run[0])
    # The averages come behind all that a plain run has.
    assert len(averaged) > len(plain)
    kernels = [i for i, array in enumerate(plain) if array.ndim > 1]
    for i in kernels:
        np.testing.assert_array_equal(plain[i], averaged[i])
    losses = [
        np.genfromtxt(folder / "history.csv", delimiter=",", names=True)
        for folder in (run[0], averaged_run[0])
    ]
    np.testing.assert_array_equal(losses[0]["loss"], losses[1]["loss"])
    assert (losses[0]["val_loss"] != losses[1]["val_loss"]).all()


def test_callbacks_see_the_averages_that_the_figures_are_of(tmp_path):
    texts, labels = zip(*reviews(40, 2), strict=True)
    seen = []

    class Look(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            model = self.model
            ids = model.preprocess(texts)
            gold = [model.labels.index(label) for label in labels]
            loss = -np.log(array(model(ids))[np.arange(40), gold]).mean()
            loss += sum(float(array(each)) for each in model.losses)
            seen.append((loss, logs["val_loss"]))

    train(
        tmp_path / "run",
        model_overrides={**SMALL, "attention_penalty": 0.0},
        training_overrides=AVERAGED,
        callbacks=[Look()],
    )
    assert len(seen) == AVERAGED["epochs"]
    np.testing.assert_allclose(*zip(*seen, strict=True), rtol=1e-4)


def test_weights_that_a_callback_sets_are_trained_on(tmp_path):
    begun = []

    class Change(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            begun.append(self.model.trainable_variables[0].numpy())
            begun.append(self.model.trainable_variables[-1].numpy())

        def on_epoch_end(self, epoch, logs=None):
            variable = self.model.trainable_variables[-1]
            variable.assign(np.full(variable.shape, 0.25))
            self.average = self.model.trainable_variables[0].numpy()

    change = Change()
    train(
        tmp_path / "run",
        training_overrides={**AVERAGED, "epochs": 2},
        callbacks=[change],
    )
    np.testing.assert_array_equal(begun[3], 0.25)
    # The others are those before their averages were shown.
    assert not np.array_equal(begun[2], begun[0])
    assert not np.array_equal(begun[2], change.average)


def test_the_kept_model_has_the_averages_that_dev_chose(averaged_run):
    folder, model = averaged_run
    texts, labels = zip(*reviews(40, 2), strict=True)
    probabilities = array(model(model.preprocess(texts)))
    gold = [model.labels.index(label) for label in labels]
    loss = -np.log(probabilities[np.arange(40), gold]).mean()
    penalties = sum(float(array(loss)) for loss in model.losses)
    history = np.genfromtxt(folder / "history.csv", delimiter=",", names=True)
    epoch = model.training_record["epoch"] - 1
    accuracy = np.mean(probabilities.argmax(axis=-1) == gold)
    assert accuracy == pytest.approx(history["val_accuracy"][epoch])
    assert loss + penalties == pytest.approx(
        history["val_loss"][epoch], rel=0.02
    )


def test_the_average_is_the_equation(tmp_path):
    """One epoch of two steps: half the first weights, half the second."""
    steps = []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            steps.append(self.model.get_weights())

    model = train(
        tmp_path / "run",
        training_overrides={
            "epochs": 1,
            "batch_size": 48,
            "ema_momentum": 0.5,
            "steps_per_execution": 1,
        },
        callbacks=[Watch()],
    )
    assert len(steps) == 2
    for first, second, kept in zip(*steps, model.get_weights(), strict=True):
        np.testing.assert_allclose(kept, (first + second) / 2, atol=1e-7)


@pytest.mark.slow
def test_an_average_over_an_epoch(averaged_run, tmp_path):
    # 96 texts are six steps.
    given = {"epochs": 3, "batch_size": 16}
    train(tmp_path / "epochs", training_overrides={**given, "ema_epochs": 2})
    momentum = {**given, "ema_momentum": 11 / 12}
    train(tmp_path / "momentum", training_overrides=momentum)
    assert_same_run(tmp_path / "epochs", tmp_path / "momentum")
    kept = [
        final_weights(folder)
        for folder in (tmp_path / "epochs", averaged_run[0])
    ]
    assert any(not np.array_equal(*each) for each in zip(*kept, strict=True))


def test_an_average_over_an_epoch_in_half_precision():
    model = tiny_classifier(dtype="mixed_float16")
    values = {"optimizer": "adam", "learning_rate": 0.1, "batch_size": 8}
    compile_model(model, {**values, "ema_epochs": 3})
    set_reach(model, {**values, "ema_epochs": 3}, rows=30)
    optimizer = model.optimizer.inner_optimizer
    assert optimizer.use_ema and optimizer.ema_momentum == 11 / 12


def test_a_resumed_averaged_run(averaged_run, tmp_path):
    folder = tmp_path / "resumed"
    train(folder, training_overrides={**AVERAGED, "epochs": 1})
    keras.utils.set_random_seed(99)
    model = train(folder, training_overrides=AVERAGED, resume=True)
    assert_same_run(averaged_run[0], folder)
    for kept, resumed in zip(
        averaged_run[1].get_weights(), model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(kept, resumed)
