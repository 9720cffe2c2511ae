"""The packed steps of `StackedBiLSTM` against the loops of Keras.

`implementation="keras"` keeps to Keras's own loops, which `tests/conformance`
holds to the equations.
"""

import keras
import numpy as np
import pytest
from keras import ops

from keras_selfattn import layers

if keras.backend.backend() != "tensorflow":
    pytest.skip("TensorFlow's own", allow_module_level=True)

import tensorflow as tf

from keras_selfattn.layers._tensorflow import packed_lstm
from tests.layers.padded_batches import FEATURES
from tests.layers.padded_batches import MASKS
from tests.layers.padded_batches import stacks
from tests.layers.padded_batches import words

if tf.config.list_logical_devices("GPU"):
    pytest.skip("for machines without a GPU", allow_module_level=True)

# Rows without steps, and no rows.
WITHOUT_ANY = [(0, 6), (3, 0)]


def differentiated(stack, training, traced=True):
    """A function that gives the states and all gradients for a batch."""
    variables = [weight.value for weight in stack.weights]
    width = 2 * stack.units[-1]

    def run(inputs, mask, factors):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            states = stack(inputs, mask=mask, training=training)
            states = tf.cast(states, "float32")
            total = tf.reduce_sum(states * factors)
        return [states, *tape.gradient(total, [inputs, *variables])]

    if traced:
        run = tf.function(
            run,
            input_signature=[
                tf.TensorSpec((None, None, FEATURES)),
                tf.TensorSpec((None, None), "bool"),
                tf.TensorSpec((None, None, width)),
            ],
        )

    def states_and_gradients(inputs, mask):
        shape = (*mask.shape, width)
        factors = np.random.default_rng(2).normal(size=shape)
        factors = factors.astype("float32")
        results = run(*map(tf.constant, (inputs, mask, factors)))
        return [np.asarray(result) for result in results]

    return states_and_gradients


@pytest.fixture
def calls(monkeypatch):
    """Notes the calls of the packed form, which goes on as it was."""
    noted = []
    function = packed_lstm.bidirectional_lstm

    def noting(*arguments):
        noted.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(packed_lstm, "bidirectional_lstm", noting)
    return noted


@pytest.fixture(scope="module")
def reference():
    """States and gradients of Keras's own loops, by the name of the mask."""
    _, stock = stacks()
    run = differentiated(stock, True)
    return {name: run(*words(mask)) for name, mask in MASKS.items()}


@pytest.mark.parametrize("traced", [True, False], ids=["traced", "eager"])
@pytest.mark.parametrize("training", [True, False])
def test_states_and_gradients_are_those_of_keras(
    reference, calls, training, traced
):
    stack, _ = stacks()
    run = differentiated(stack, training, traced)
    for name, mask in MASKS.items():
        inputs, mask = words(mask)
        received = run(inputs, mask)
        for x, y in zip(received, reference[name], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5, err_msg=name)
        assert not received[0][~mask].any()
        assert not received[1][~mask].any()
    assert len(calls) == len(stack.units) * (1 if traced else len(MASKS))
    for shape in WITHOUT_ANY:
        states, *gradients = run(*words(np.ones(shape)))
        assert states.shape == (*shape, 4)
        assert not any(gradient.any() for gradient in gradients)


def test_bfloat16_is_near_float32(reference, calls):
    stack, _ = stacks(dtype="mixed_bfloat16")
    inputs, mask = words(MASKS["holes"])
    received = differentiated(stack, True, traced=False)(inputs, mask)
    assert calls[0][0].dtype == "bfloat16"
    assert stack(inputs, mask=mask).dtype == "bfloat16"
    for x, y in zip(received, reference["holes"], strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=0.02 * np.abs(y).max())


def test_the_gradient_of_a_bias_is_the_sum_over_many_rows():
    keras.utils.set_random_seed(0)
    inputs = tf.ones((600, 1, FEATURES))
    stack = layers.StackedBiLSTM(3, dtype="mixed_bfloat16")
    stack.build(inputs.shape)
    biases = [w.value for w in stack.weights if w.path.endswith("bias")]
    found = []
    for training in (True, False):
        with tf.GradientTape() as tape:
            states = stack(inputs, training=training)
            total = tf.reduce_sum(tf.cast(states, "float32"))
        found.append(np.concatenate(tape.gradient(total, biases)))
    np.testing.assert_allclose(found[1], found[0], rtol=0.02)


@pytest.mark.parametrize(
    "arguments", [{"dtype": "mixed_float16"}, {"dtype": "float64"}]
)
def test_other_types_take_the_loops_of_keras(calls, arguments):
    packed, stock = stacks(**arguments)
    inputs, mask = words(MASKS["holes"])
    np.testing.assert_array_equal(
        ops.convert_to_numpy(packed(inputs, mask=mask)),
        ops.convert_to_numpy(stock(inputs, mask=mask)),
    )
    assert not calls


def test_a_gpu_takes_the_loops_of_keras(calls, monkeypatch):
    stack, _ = stacks()
    monkeypatch.setattr(
        tf.config, "list_logical_devices", lambda kind: [kind] * 2
    )
    # What the loops of Keras look for is another list.
    inputs, mask = words(MASKS["right"])
    assert stack(inputs, mask=mask).shape == (4, 6, 4)
    assert not calls


def test_xla_takes_the_loops_of_keras(calls):
    packed, stock = stacks([3])
    inputs, mask = words(MASKS["holes"])

    @tf.function(jit_compile=True)
    def compiled(inputs, mask):
        return packed(inputs, mask=mask, training=True)

    np.testing.assert_allclose(
        compiled(inputs, mask), stock(inputs, mask=mask), rtol=1e-5, atol=1e-6
    )
    assert not calls


def test_gradients_of_gradients():
    packed, stock = stacks()
    inputs, mask = words(MASKS["right"])
    kernel = packed.weights[0].value

    def second(stack, training):
        kernel = stack.weights[0].value
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                states = stack(inputs, mask=mask, training=training)
                total = tf.reduce_sum(states**2)
            slope = tf.reduce_sum(inner.gradient(total, kernel) ** 2)
        return outer.gradient(slope, kernel)

    np.testing.assert_allclose(
        second(packed, False), second(stock, False), rtol=1e-4, atol=1e-5
    )
    with pytest.raises(NotImplementedError, match="implementation='keras'"):
        second(packed, True)
    # A tape that could be asked twice is not yet a second order.
    with tf.GradientTape(persistent=True) as tape:
        total = tf.reduce_sum(packed(inputs, mask=mask, training=True))
    assert np.abs(tape.gradient(total, kernel)).max() > 0


def classifier(stack):
    inputs = keras.Input((None, FEATURES))
    mask = keras.Input((None,), dtype="bool")
    states = stack(inputs, mask=mask)
    outputs = keras.layers.Dense(1)(layers.MaskedMeanPooling()(states, mask))
    model = keras.Model([inputs, mask], outputs)
    width = 2 * stack.units[-1]
    model.layers[-1].set_weights([np.ones((width, 1)), np.zeros(1)])
    return model


def test_training_gives_the_weights_of_keras(calls):
    inputs, mask = words(MASKS["a row without steps"])
    labels = np.arange(4.0)[:, np.newaxis]
    trained = []
    for stack in stacks([3]):
        model = classifier(stack)
        model.compile(keras.optimizers.SGD(0.1), "mse")
        for _ in range(3):
            for rows in (slice(0, 3), slice(3, 4)):
                batch = [inputs[rows], mask[rows]]
                model.train_on_batch(batch, labels[rows])
        trained.append(model.get_weights())
    assert calls
    for x, y in zip(*trained, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_weights_files_interchange(tmp_path):
    packed, stock = map(classifier, stacks())
    inputs, mask = words(MASKS["left"])
    for source, target in ((packed, stock), (stock, packed)):
        for weight in source.weights:
            weight.assign(weight.value * 0.9)
        source.save_weights(tmp_path / "model.weights.h5")
        target.load_weights(tmp_path / "model.weights.h5")
        np.testing.assert_allclose(
            *(model([inputs, mask]) for model in (packed, stock)),
            rtol=1e-5,
            atol=1e-6,
        )


def test_saved_model_needs_no_python(calls, tmp_path):
    packed, stock = map(classifier, stacks([3]))
    packed.export(tmp_path / "model", verbose=False)
    assert calls
    copy = tf.saved_model.load(tmp_path / "model")
    for name in ("holes", "no step at all"):
        inputs, mask = words(MASKS[name])
        np.testing.assert_allclose(
            copy.serve([inputs, mask]),
            stock([inputs, mask]),
            rtol=1e-5,
            atol=1e-6,
        )
    graph = copy.signatures["serving_default"].graph.as_graph_def()
    operations = {
        node.op
        for owner in (graph.node, *(f.node_def for f in graph.library.function))
        for node in (owner if isinstance(owner, list) else list(owner))
    }
    assert not [name for name in operations if "PyFunc" in name]


def test_dropout_draws_for_each_kept_step():
    stack = layers.StackedBiLSTM(3, dropout=0.5, seed=1)
    inputs = np.ones((64, 5, FEATURES), dtype="float32")
    mask = np.arange(5) < np.arange(1, 65)[:, np.newaxis] % 5 + 1
    plain = ops.convert_to_numpy(stack(inputs, mask=mask))
    dropped = ops.convert_to_numpy(stack(inputs, mask=mask, training=True))
    again = ops.convert_to_numpy(stack(inputs, mask=mask, training=True))
    assert (dropped[mask] != plain[mask]).any(axis=1).mean() > 0.9
    assert (dropped[mask] != again[mask]).any(axis=1).mean() > 0.9
    assert not dropped[~mask].any()
