"""Law 3: configurations, weight names, weights and saved models survive."""

import inspect
import json

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn.layers.kernel_layer import KernelLayer
from tests.conformance.table import ROWS
from tests.conformance.table import ROWS_BY_LAYER
from tests.conformance.table import run


def test_weight_names_and_shapes(row):
    layer = row.make()
    prefix = f"{layer.name}/"
    received = {
        weight.path.removeprefix(prefix): tuple(weight.shape)
        for weight in layer.trainable_weights
    }
    assert list(received.items()) == list(row.weights.items())


# What no row has: kernels and biases of all layers take the same.
KERNEL_CONFIG = {
    "kernel_initializer": "he_uniform",
    "kernel_regularizer": keras.regularizers.L2(0.5),
    "kernel_constraint": keras.constraints.MaxNorm(1.5),
    "bias_initializer": "ones",
    "bias_regularizer": keras.regularizers.L1(0.25),
    "bias_constraint": "non_neg",
}
MODULES = {
    "initializer": keras.initializers,
    "regularizer": keras.regularizers,
    "constraint": keras.constraints,
    "activation": keras.activations,
}


def whole_config(row):
    """The constructor arguments of a row, and those of kernels and biases."""
    if issubclass(row.layer, KernelLayer):
        return {**KERNEL_CONFIG, **row.config}
    return row.config


def serialized(name, value):
    """An argument as it should be in a configuration read from JSON."""
    module = MODULES.get(name.split("_")[-1])
    if module is not None:
        value = module.serialize(module.get(value))
    return json.loads(json.dumps(value))


def test_config_survives_json(row):
    given = whole_config(row)
    layer = row.make(**given)
    text = json.dumps(keras.saving.serialize_keras_object(layer))
    name = f"keras_selfattn>{row.layer.__name__}"
    assert json.loads(text)["registered_name"] == name
    copy = keras.saving.deserialize_keras_object(json.loads(text))
    again = json.dumps(keras.saving.serialize_keras_object(copy))
    assert json.loads(again) == json.loads(text)
    for each in (layer, copy):
        config = json.loads(json.dumps(each.get_config()))
        if row.wraps is not None:
            config = config["layer"]["config"]
        for name, value in given.items():
            assert config[name] == serialized(name, value), name


def test_no_argument_of_a_row_is_at_its_default(row):
    for name, default in constructor(row.layer).items():
        if name in row.config:
            assert row.config[name] != default, name


@pytest.mark.parametrize("layer", ROWS_BY_LAYER)
def test_every_argument_of_a_constructor_is_in_a_row(layer):
    rows = [row for row in ROWS if row.layer is layer]
    named = set().union(*map(whole_config, rows))
    if rows[0].wraps is not None:
        named.add("layer")
    assert set(constructor(layer)) <= named


def test_an_activity_regularizer_is_kept(row):
    layer = row.create(activity_regularizer=keras.regularizers.L2(0.5))
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(layer)))
    copy = keras.saving.deserialize_keras_object(config)
    for each in (layer, copy):
        kept = each if row.wraps is None else each.layer
        assert kept.activity_regularizer.get_config() == {"l2": 0.5}


def constructor(layer):
    """The arguments of a constructor and its bases' here, with defaults."""
    return {
        name: parameter.default
        for kind in layer.__mro__
        if kind.__module__.startswith("keras_selfattn.")
        for name, parameter in inspect.signature(
            kind.__init__
        ).parameters.items()
        if name != "self" and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }


def functional(row, layer):
    """A model around a layer: the inputs, their masks, all it returns."""
    dtype = "int32" if row.ids else "float32"
    inputs = [
        keras.Input(
            (None, *shape[2:]) if row.takes_mask or row.ids else shape[1:],
            dtype=dtype,
        )
        for shape in row.input_shapes
    ]
    masks = [keras.Input((None,), dtype="bool") for _ in row.input_shapes]
    outputs = run(layer, inputs, masks, scores=True)
    return keras.Model(inputs + (masks if row.takes_mask else []), outputs)


def feed(row, inputs, masks):
    arrays = list(inputs) + (list(masks) if row.takes_mask else [])
    return [ops.convert_to_tensor(array) for array in arrays]


def other_batch(row):
    """Another number of rows, and of steps where they are free."""
    inputs, masks = row.batch(seed=7)
    if row.takes_mask or row.ids:
        inputs = [x[:, :-1] for x in inputs]
        masks = [m[:, :-1] for m in masks]
    return (
        [np.concatenate([x, x[:2]]) for x in inputs],
        [np.concatenate([m, m[:2]]) for m in masks],
    )


def assert_equal(received, expected):
    for x, y in zip(received, expected, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(x),
            ops.convert_to_numpy(y),
            rtol=1e-5,
            atol=1e-6,
        )


def test_keras_file_reloads(row, tmp_path):
    model = functional(row, row.make())
    path = tmp_path / "model.keras"
    model.save(path)
    copy = keras.saving.load_model(path)
    batch = feed(row, *other_batch(row))
    assert_equal(copy(batch), model(batch))


def test_weights_file_reloads(row, tmp_path):
    model = functional(row, row.make())
    path = tmp_path / "model.weights.h5"
    model.save_weights(path)
    copy = functional(row, row.create())
    copy.load_weights(path)
    batch = feed(row, *other_batch(row))
    assert_equal(copy(batch), model(batch))


@pytest.mark.usefixtures("tensorflow_only")
def test_saved_model_reloads(row, tmp_path):
    import tensorflow as tf

    model = functional(row, row.make())
    model.export(tmp_path / "model", verbose=False)
    copy = tf.saved_model.load(tmp_path / "model")
    batch = feed(row, *other_batch(row))
    assert_equal(copy.serve(batch), model(batch))


def test_every_exported_layer_has_a_row():
    from keras_selfattn import layers

    exported = {
        value
        for value in vars(layers).values()
        if isinstance(value, type) and issubclass(value, keras.layers.Layer)
    }
    assert exported == set(ROWS_BY_LAYER)
