"""Weights of any content give finite ones, or one line that names the file."""

import io
import shutil

import h5py
import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies

from keras_selfattn import models
from keras_selfattn.models.packed_weights import PACKED_FILE
from keras_selfattn.models.packed_weights import save_packed
from keras_selfattn.models.weights import WEIGHTS_FILE
from keras_selfattn.models.weights import load_weights
from tests.hostile import damaged
from tests.hostile import tried
from tests.tiny_classifier import tiny_classifier

FILES = (WEIGHTS_FILE, PACKED_FILE)


@pytest.fixture(scope="module")
def model():
    return tiny_classifier()


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    model.save_weights(folder / WEIGHTS_FILE)
    save_packed(model, folder / PACKED_FILE)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {name: tmp_path_factory.mktemp("changed") for name in FILES}


def load(model, folder, name, content):
    """Whether a file of some content was taken."""
    (folder / name).write_bytes(content)
    try:
        load_weights(model, folder)
    except ValueError as error:
        assert str(folder / name) in str(error)
        assert "\n" not in str(error)
        return False
    for weight in model.weights:
        assert np.isfinite(keras.ops.convert_to_numpy(weight)).all()
    return True


@pytest.mark.parametrize("name", FILES)
@tried(30)
@given(data=strategies.data())
def test_any_bytes(model, whole, folders, name, data):
    content = data.draw(damaged((whole / name).read_bytes()))
    load(model, folders[name], name, content)


# What takes the place of a weight.
_OTHERS = strategies.sampled_from(
    [
        lambda array: array[..., :-1],
        lambda array: array[None],
        lambda array: array.T,
        lambda array: array.reshape(-1),
        lambda array: np.zeros(0, array.dtype),
        lambda array: np.float32(1),
        lambda array: array.astype("float64"),
        lambda array: array.astype("complex64"),
        lambda array: array.astype("bool"),
        lambda array: array.astype("S8"),
        lambda array: array.astype("float32") * np.float32("nan"),
        lambda array: array + np.float64("inf"),
        lambda array: array.astype("float64") + 1e300,
        lambda array: np.array([{"code": "run"}], dtype=object),
        lambda array: None,
    ]
)


@tried(30)
@given(data=strategies.data())
def test_any_packed_array(model, whole, folders, data):
    with np.load(whole / PACKED_FILE) as file:
        arrays = dict(file)
    name = data.draw(strategies.sampled_from(sorted(arrays)))
    before = arrays.pop(name)
    changed = data.draw(_OTHERS)(before)
    if changed is not None:
        arrays[name] = changed
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    if load(model, folders[PACKED_FILE], PACKED_FILE, memory.getvalue()):
        assert changed.shape == before.shape
        assert changed.dtype == before.dtype


@tried(30)
@given(data=strategies.data())
def test_any_dataset(model, whole, folders, data):
    memory = io.BytesIO((whole / WEIGHTS_FILE).read_bytes())
    with h5py.File(memory, "r+") as file:
        names = []
        file.visititems(
            lambda name, item: (
                names.append(name) if isinstance(item, h5py.Dataset) else None
            )
        )
        name = data.draw(strategies.sampled_from(names))
        before = file[name][()]
        changed = data.draw(_OTHERS)(before)
        del file[name]
        if changed is not None and changed.dtype.kind != "O":
            file[name] = changed
    if load(model, folders[WEIGHTS_FILE], WEIGHTS_FILE, memory.getvalue()):
        assert changed.shape == before.shape
        assert changed.dtype.kind in "bfiu"


@tried(10)
@given(data=strategies.data())
def test_any_bytes_with_checksums(model, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("saved") / "model"
    model.save_to_preset(folder)
    content = (folder / WEIGHTS_FILE).read_bytes()
    changed = data.draw(damaged(content))
    (folder / WEIGHTS_FILE).write_bytes(changed)
    if changed != content:
        with pytest.raises(ValueError, match=f"{WEIGHTS_FILE} is not the file"):
            models.from_preset(folder)
    shutil.rmtree(folder)


@tried(10)
@given(data=strategies.data())
def test_any_keras_file(model, tmp_path_factory, data):
    """Keras reads it; an error of any kind ends that, and no process."""
    folder = tmp_path_factory.mktemp("keras")
    model.save(folder / "model.keras")
    content = (folder / "model.keras").read_bytes()
    (folder / "model.keras").write_bytes(data.draw(damaged(content)))
    try:
        loaded = keras.models.load_model(folder / "model.keras")
    except Exception:
        return
    finally:
        shutil.rmtree(folder)
    assert loaded.count_params() == model.count_params()
