import io

import numpy as np
import pytest

from keras_selfattn import models
from keras_selfattn.models.packed_weights import PACKED_FILE
from keras_selfattn.models.packed_weights import load_packed
from keras_selfattn.models.packed_weights import save_packed
from keras_selfattn.models.weights import WEIGHTS_FILE
from tests.tiny_classifier import tiny_classifier


@pytest.fixture(scope="module")
def model():
    return tiny_classifier()


def test_matrices_are_within_half_a_step_and_the_rest_within_float16(
    model, tmp_path
):
    save_packed(model, tmp_path / "weights.npz")
    copy = tiny_classifier()
    copy.set_weights([np.zeros_like(each) for each in copy.get_weights()])
    load_packed(copy, tmp_path / "weights.npz")
    words = model.get_layer("word_vectors").weights[0]
    for before, after in zip(model.weights, copy.weights, strict=True):
        exact, packed = before.numpy(), after.numpy()
        if exact.ndim > 1:
            # A word's numbers share their step, as those of a unit do.
            axis = -1 if before is words else -2
            step = np.abs(exact).max(axis=axis, keepdims=True) / 127
            assert (np.abs(exact - packed) <= 0.5001 * step).all()
        else:
            halves = exact.astype("float16").astype("float32")
            np.testing.assert_array_equal(packed, halves)


def test_packing_what_was_packed_changes_nothing(model, tmp_path):
    save_packed(model, tmp_path / "first.npz")
    copy = tiny_classifier()
    load_packed(copy, tmp_path / "first.npz")
    save_packed(copy, tmp_path / "second.npz")
    first, second = (
        (tmp_path / f"{name}.npz").read_bytes() for name in ("first", "second")
    )
    assert first == second


def test_a_folder_with_packed_weights_is_loaded(model, tmp_path):
    model.save_to_preset(tmp_path / "model")
    save_packed(model, tmp_path / "model" / PACKED_FILE)
    (tmp_path / "model" / WEIGHTS_FILE).unlink()
    loaded = models.from_preset(tmp_path / "model", verify=False)
    texts = ["Good food.", "Bad."]
    np.testing.assert_allclose(
        loaded.predict(texts, verbose=0),
        model.predict(texts, verbose=0),
        atol=1e-2,
    )


@pytest.mark.parametrize("damage", ["cut", "other", "pickle", "missing"])
def test_a_file_that_is_not_the_model_s_is_named(model, tmp_path, damage):
    path = tmp_path / "weights.npz"
    save_packed(model, path)
    with np.load(path) as file:
        arrays = dict(file)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    else:
        name = next(iter(arrays))
        if damage == "other":
            arrays[name] = arrays[name][:-1]
        elif damage == "missing":
            del arrays[name]
        else:
            arrays[name] = np.array([{"code": "run"}], dtype=object)
        memory = io.BytesIO()
        np.savez(memory, **arrays)
        path.write_bytes(memory.getvalue())
    with pytest.raises(ValueError, match=r"weights\.npz does not hold"):
        load_packed(tiny_classifier(), path)


def test_a_weight_past_half_precision_is_refused(tmp_path):
    model = tiny_classifier()
    bias = model.layers[-1].weights[-1]
    bias.assign(np.full(bias.shape, 1e5))
    with pytest.raises(ValueError, match="too large for half precision"):
        save_packed(model, tmp_path / "weights.npz")
    assert not (tmp_path / "weights.npz").exists()
