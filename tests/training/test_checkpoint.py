import keras
import pytest

from tests.training.small import FIXED
from tests.training.small import SMALL
from tests.training.small import assert_same_run
from tests.training.small import reviews
from tests.training.small import train
from tests.training.small import write_vectors


@pytest.mark.parametrize(
    "is_fixed", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_a_run_of_16_bits_is_resumed(tmp_path, is_fixed):
    # Keras adds no penalty of 16 bits to a loss of 32.
    fewer = {"dtype": "bfloat16", "l2": 0.0}
    changes = {"model_overrides": {**SMALL, **fewer}}
    if is_fixed:
        words = {word for text, _ in reviews(96, 1) for word in text.split()}
        write_vectors(tmp_path / "vectors.txt", sorted(words))
        changes["vectors"] = tmp_path / "vectors.txt"
        changes["model_overrides"] = {**FIXED, **fewer}
    values = {"batch_size": 16, "global_clipnorm": None, "ema_momentum": 0.5}
    for folder, epochs in (("whole", [2]), ("stopped", [1, 2])):
        for last in epochs:
            keras.utils.set_random_seed(99)
            train(
                tmp_path / folder,
                training_overrides={**values, "epochs": last},
                resume=last > epochs[0],
                **changes,
            )
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")
