import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import optimizers
from tests.backends.process import OTHERS
from tests.backends.process import python
from tests.backends.process import skip_without

ROWS, WIDTH = 7, 3
# Word 1 occurs twice in a batch, word 3 in every one, word 5 in none.
BATCHES = [[1, 3, 1, 0], [3, 2, 3, 3], [4, 3, 1, 1], [3, 0, 3, 2]]
EVERY_WORD = [[0, 1, 2, 3, 4, 5, 6, 3], [6, 1, 6, 2, 3, 4, 5, 0]] * 2
VARIANTS = {
    "sgd": ("sgd", {}),
    "momentum": ("sgd", {"momentum": 0.9}),
    "nesterov": ("sgd", {"momentum": 0.9, "nesterov": True}),
    "adagrad": ("adagrad", {}),
    "adam": ("adam", {}),
    "amsgrad": ("adam", {"amsgrad": True, "beta_2": 0.5}),
}
KERAS = {
    "sgd": keras.optimizers.SGD,
    "adam": keras.optimizers.Adam,
    "adagrad": keras.optimizers.Adagrad,
}
# Where no other row than the touched ones would move anyway.
EXACT = ("sgd", "adagrad")

variants = pytest.mark.parametrize("variant", VARIANTS)


def make(variant, keras_own=False, **arguments):
    name, further = VARIANTS[variant]
    arguments = {"learning_rate": 0.125, **further, **arguments}
    return (KERAS[name] if keras_own else optimizers.OPTIMIZERS[name])(
        **arguments
    )


def new_table(dtype="float64"):
    values = np.random.default_rng(0).normal(size=(ROWS, WIDTH))
    return keras.Variable(values, dtype=dtype, name="table")


def gradients(batches):
    """One of `(n, WIDTH)` a batch, small and large."""
    rng = np.random.default_rng(1)
    return [
        rng.normal(size=(len(ids), WIDTH)) * 10.0 ** rng.integers(-2, 1)
        for ids in batches
    ]


def sparse(ids, values, dtype="float64"):
    return tf.IndexedSlices(
        tf.constant(values, dtype), tf.constant(ids), tf.constant((ROWS, WIDTH))
    )


def run(optimizer, batches, dense=False, dtype="float64"):
    """The table after a step on each batch."""
    table = new_table(dtype)
    optimizer.build([table])
    for ids, values in zip(batches, gradients(batches), strict=True):
        gradient = sparse(ids, values, dtype)
        if dense:
            gradient = tf.convert_to_tensor(gradient)
        optimizer.apply([gradient], [table])
    return table.numpy()


class Reference:
    """The published update rules, of the rows of a batch, in NumPy."""

    def __init__(self, variant):
        self.name, self.further = VARIANTS[variant]
        self.table = new_table().numpy()
        # Keras's initial accumulator of Adagrad.
        start = 0.1 if self.name == "adagrad" else 0.0
        self.first = np.full_like(self.table, start)
        self.second = np.zeros_like(self.table)
        self.largest = np.zeros_like(self.table)
        self.step = 0

    def apply(self, ids, values, rate=0.125):
        self.step += 1
        for row in sorted(set(ids)):
            gradient = values[np.array(ids) == row].sum(axis=0)
            self.table[row] += getattr(self, self.name)(row, gradient, rate)

    def sgd(self, row, gradient, rate):
        momentum = self.further.get("momentum", 0.0)
        self.first[row] = momentum * self.first[row] - rate * gradient
        if self.further.get("nesterov"):
            return momentum * self.first[row] - rate * gradient
        return self.first[row]

    def adagrad(self, row, gradient, rate):
        self.first[row] += gradient**2
        return -rate * gradient / np.sqrt(self.first[row] + 1e-7)

    def adam(self, row, gradient, rate):
        beta_1, beta_2 = 0.9, self.further.get("beta_2", 0.999)
        self.first[row] = beta_1 * self.first[row] + (1 - beta_1) * gradient
        self.second[row] = (
            beta_2 * self.second[row] + (1 - beta_2) * gradient**2
        )
        velocity = self.second[row]
        if self.further.get("amsgrad"):
            velocity = np.maximum(self.largest[row], velocity)
            self.largest[row] = velocity
        correction = np.sqrt(1 - beta_2**self.step) / (1 - beta_1**self.step)
        return -rate * correction * self.first[row] / (np.sqrt(velocity) + 1e-7)


@variants
def test_rows_move_as_the_published_rule_says(variant):
    reference = Reference(variant)
    for ids, values in zip(BATCHES, gradients(BATCHES), strict=True):
        reference.apply(ids, values)
    optimizer = make(variant)
    # Moves of 0.1; Keras takes the powers of betas rounded to float32.
    np.testing.assert_allclose(
        run(optimizer, BATCHES), reference.table, rtol=0, atol=5e-6
    )
    slots = [v.numpy() for v in optimizer.variables if v.shape == (7, 3)]
    expected = [reference.first, reference.second, reference.largest]
    assert len(slots) == {"sgd": 0, "adam": 2, "amsgrad": 3}.get(variant, 1)
    for slot, value in zip(slots, expected, strict=False):
        np.testing.assert_allclose(slot, value, rtol=1e-7, atol=1e-12)


@variants
def test_a_repeated_word_moves_as_with_the_dense_gradient(variant):
    batches = BATCHES if variant in EXACT else EVERY_WORD
    np.testing.assert_allclose(
        run(make(variant), batches),
        run(make(variant, keras_own=True), batches, dense=True),
        rtol=1e-6,
    )


@variants
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_weights_move_as_with_keras(variant, dtype):
    np.testing.assert_allclose(
        run(make(variant), BATCHES, dense=True, dtype=dtype),
        run(make(variant, keras_own=True), BATCHES, dense=True, dtype=dtype),
        # Moves of 0.1; TensorFlow's op takes 1 - beta_2 in float32.
        rtol=0,
        atol={"float32": 5e-6, "float64": 1e-7}[dtype],
    )


def test_keras_s_own_adagrad_differs():
    # The day this fails, Keras adds the rows up itself.
    difference = run(make("adagrad", keras_own=True), BATCHES) - run(
        make("adagrad", keras_own=True), BATCHES, dense=True
    )
    assert np.abs(difference).max() > 0.01


@variants
def test_rows_not_in_the_batch_are_neither_read_nor_written(variant):
    optimizer, table = make(variant), new_table()
    optimizer.build([table])
    slots = [v for v in optimizer.variables if v.shape == (ROWS, WIDTH)]
    for slot in slots:
        # A dense step would carry it from the slot into the table.
        slot.assign(np.where(np.arange(ROWS)[:, None] == 5, np.nan, slot))
    before = table.numpy()
    for ids, values in zip(BATCHES, gradients(BATCHES), strict=True):
        optimizer.apply([sparse(ids, values)], [table])
    np.testing.assert_array_equal(table.numpy()[5], before[5])
    assert np.isfinite(table.numpy()).all()
    for slot in slots:
        finite = np.isfinite(slot.numpy()).all(axis=1)
        assert finite.tolist() == [row != 5 for row in range(ROWS)]


@variants
@pytest.mark.parametrize(
    "clipping",
    [{}, {"clipnorm": 0.1}, {"global_clipnorm": 0.1}, {"clipvalue": 0.1}],
    ids=str,
)
def test_no_tensor_of_the_table_s_size_is_made(variant, clipping):
    optimizer, table = make(variant, **clipping), new_table()
    optimizer.build([table])

    @tf.function
    def step(values, ids):
        gradient = tf.IndexedSlices(values, ids, (ROWS, WIDTH))
        optimizer.apply([gradient], [table])

    graph = step.get_concrete_function(
        tf.TensorSpec((4, WIDTH), "float64"), tf.TensorSpec(4, "int32")
    ).graph
    large = [
        operation.type
        for operation in graph.get_operations()
        for output in operation.outputs
        if output.shape.rank and output.shape[0] == ROWS
    ]
    assert large == []


@pytest.mark.parametrize(
    "variant, arguments, adds_up",
    [
        ("sgd", {}, False),
        ("sgd", {"loss_scale_factor": 4.0}, False),
        ("sgd", {"clipnorm": 0.1}, True),
        ("sgd", {"global_clipnorm": 0.1}, True),
        ("sgd", {"clipvalue": 0.1}, True),
        ("momentum", {}, True),
        ("adagrad", {}, True),
        ("adam", {}, True),
    ],
)
def test_repeated_rows_are_added_up_where_that_changes_a_step(
    variant, arguments, adds_up
):
    optimizer, table = make(variant, **arguments), new_table()
    optimizer.build([table])
    step = tf.function(lambda gradient: optimizer.apply([gradient], [table]))
    graph = step.get_concrete_function(
        sparse([1, 1], np.ones((2, WIDTH)))
    ).graph
    types = {operation.type for operation in graph.get_operations()}
    assert ("Unique" in types) == adds_up


def test_the_table_is_read_without_a_copy_afterwards():
    optimizer, table = make("adam"), new_table()
    optimizer.apply([sparse([1], np.ones((1, WIDTH)))], [table])
    one, two = table.value.read_value(), table.value.read_value()
    assert np.shares_memory(memoryview(one), memoryview(two))


OPTIONS = {
    "clipnorm": {"clipnorm": 0.1},
    "global_clipnorm": {"global_clipnorm": 0.1},
    "clipvalue": {"clipvalue": 0.01},
    "weight_decay": {"weight_decay": 0.1},
    "ema": {"use_ema": True, "ema_momentum": 0.5},
    "ema_overwrite": {"use_ema": True, "ema_overwrite_frequency": 2},
    "accumulation": {"gradient_accumulation_steps": 2},
    "loss_scale_factor": {"loss_scale_factor": 4.0},
    "schedule": {
        "learning_rate": keras.optimizers.schedules.InverseTimeDecay(
            0.125, 1, 0.5
        )
    },
}


def ops_before(operation):
    """All ops that an op waits for."""
    found, waiting = set(), [operation]
    while waiting:
        op = waiting.pop()
        below = {each.op for each in op.inputs} | set(op.control_inputs)
        waiting += below - found
        found |= below
    return found


@variants
def test_no_weight_is_updated_before_all_gradients_are_there(variant):
    # TensorFlow copies one that something reads meanwhile.
    weights = [keras.Variable(np.ones(n), name=f"w{n}") for n in (2, 5)]
    optimizer = make(variant)
    optimizer.build(weights)

    def step(gradients):
        gradients = [tf.identity(each, "ready") for each in gradients]
        optimizer.apply(gradients, weights)

    specs = [tf.TensorSpec(n) for n in (2, 5)]
    graph = tf.function(step).get_concrete_function(specs).graph
    operations = graph.get_operations()
    gradients = {op for op in operations if op.name.startswith("ready")}
    updates = [
        op
        for op in operations
        if op.type.startswith(("ResourceApply", "Assign"))
    ]
    assert len(gradients) == len(weights) < len(updates)
    for update in updates:
        assert gradients <= ops_before(update)


@pytest.mark.parametrize("variant", ["momentum", "adagrad", "adam"])
@pytest.mark.parametrize("option", OPTIONS)
def test_options_of_keras_act_as_on_the_dense_gradient(variant, option):
    ids = EVERY_WORD
    if variant == "adagrad" and option != "accumulation":
        ids = BATCHES
    results = []
    for keras_own in (False, True):
        optimizer = make(variant, keras_own, **OPTIONS[option])
        # Of another weight too, for the global norm.
        table, bias = new_table(), keras.Variable([1.0, 2.0], dtype="float64")
        table.constraint = keras.constraints.MaxNorm(2.0, axis=1)
        optimizer.build([table, bias])
        step = tf.function(optimizer.apply)
        for words, values in zip(ids, gradients(ids), strict=True):
            gradient = sparse(words, values)
            if keras_own:
                gradient = tf.convert_to_tensor(gradient)
            step([gradient, tf.constant([0.5, -2.0], "float64")])
        if "use_ema" in OPTIONS[option]:
            optimizer.finalize_variable_values([table, bias])
        results.append(np.concatenate([table.numpy().ravel(), bias.numpy()]))
    np.testing.assert_allclose(*results, rtol=1e-6, atol=1e-7)


WORDS = np.array([[1, 1, 3], [3, 2, 1], [1, 3, 3], [2, 1, 3]])
LABELS = np.array([0, 1, 1, 0])


def small_model(
    optimizer, dtype=None, embedding=keras.layers.Embedding, **arguments
):
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((3,), dtype="int32"),
            embedding(ROWS, WIDTH, dtype=dtype, name="words"),
            keras.layers.GlobalAveragePooling1D(dtype=dtype),
            keras.layers.Dense(2, dtype=dtype, name="classes"),
        ],
        name="small",
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, **arguments)
    return model


def train(model, epochs=2, words=None):
    """The losses of epochs of two batches each, as `fit` gives them."""
    words = WORDS if words is None else words
    found = [
        model.train_on_batch(words[rows], LABELS[rows])
        for _ in range(epochs)
        for rows in (slice(0, 2), slice(2, 4))
    ]
    return np.reshape(found, (epochs, 2)).mean(axis=1)


@functools.cache
def trained_weights(variant):
    model = small_model(make(variant))
    train(model)
    return model.get_weights()


class DenseGradients(keras.layers.Embedding):
    """Reads its table by a product, whose gradient is dense."""

    def call(self, inputs):
        return keras.ops.one_hot(inputs, self.input_dim) @ self.embeddings


# Words 2 and 4 are in one of the two batches each.
SOME_WORDS = np.array([[1, 1, 3], [3, 2, 1], [1, 4, 3], [4, 4, 3]])


def losses(optimizer, embedding, words):
    return train(small_model(optimizer, embedding=embedding), 9, words)


@pytest.mark.parametrize("variant", ["sgd", "adagrad"])
def test_a_training_with_sparse_gradients_is_that_with_dense_ones(variant):
    sparse, dense, of_keras = (
        losses(
            make(variant, keras_own, learning_rate=0.5), embedding, SOME_WORDS
        )
        for keras_own, embedding in (
            (False, keras.layers.Embedding),
            (False, DenseGradients),
            (True, DenseGradients),
        )
    )
    assert sparse[0] - sparse[-1] > 0.005
    np.testing.assert_allclose(sparse, dense, rtol=1e-6)
    np.testing.assert_allclose(sparse, of_keras, rtol=1e-6)


def test_adam_differs_from_dense_gradients_by_the_words_not_in_a_batch():
    for words, differs in ((WORDS, False), (SOME_WORDS, True)):
        sparse, dense = (
            losses(make("adam"), embedding, words)
            for embedding in (keras.layers.Embedding, DenseGradients)
        )
        # Both learn it.
        assert min(sparse[0] - sparse[-1], dense[0] - dense[-1]) > 0.03
        assert (abs(sparse - dense).max() > 1e-3) == differs


@variants
def test_steps_compiled_by_xla_are_the_same(variant):
    optimizer, table = make(variant), new_table()
    optimizer.build([table])

    @tf.function(jit_compile=True)
    def step(values, ids):
        gradient = tf.IndexedSlices(values, ids, (ROWS, WIDTH))
        optimizer.apply([gradient], [table])

    for ids, values in zip(BATCHES, gradients(BATCHES), strict=True):
        step(tf.constant(values), tf.constant(ids))
    np.testing.assert_allclose(
        table.numpy(), run(make(variant), BATCHES), rtol=1e-6
    )


def test_a_training_compiled_by_xla_is_the_same():
    compiled = small_model(make("adam"), jit_compile=True)
    train(compiled)
    expected = trained_weights("adam")
    for ours, other in zip(compiled.get_weights(), expected, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("variant", ["momentum", "adagrad", "adam"])
def test_mixed_precision_with_a_loss_scale(variant):
    optimizer = keras.optimizers.LossScaleOptimizer(make(variant))
    model = small_model(optimizer, dtype="mixed_float16")
    before = model.get_weights()
    train(model)
    for start, half, single in zip(
        before, model.get_weights(), trained_weights(variant), strict=True
    ):
        assert np.abs(single - start).max() > 1e-3
        np.testing.assert_allclose(half, single, atol=5e-2)


@variants
@pytest.mark.parametrize("ours_first", [True, False])
def test_saved_states_go_to_and_from_keras(variant, ours_first, tmp_path):
    first = small_model(make(variant, not ours_first, name="same"))
    second = small_model(make(variant, ours_first, name="same"))
    rng = np.random.default_rng(0)
    for _ in range(2):
        first.optimizer.apply(
            [
                tf.constant(rng.normal(size=weight.shape), "float32")
                for weight in first.trainable_variables
            ],
            first.trainable_variables,
        )
    first.save_weights(tmp_path / "state.weights.h5")
    second.optimizer.build(second.trainable_variables)
    second.load_weights(tmp_path / "state.weights.h5")
    one, two = first.optimizer.variables, second.optimizer.variables
    assert [v.path for v in one] == [v.path for v in two]
    for here, there in zip(one, two, strict=True):
        np.testing.assert_array_equal(here.numpy(), there.numpy())


@pytest.mark.parametrize("name", sorted(optimizers.OPTIMIZERS))
def test_config_is_that_of_keras(name):
    arguments = {"learning_rate": 0.25, "global_clipnorm": 2.0, "name": "x"}
    ours = optimizers.get(name, **arguments)
    assert ours.get_config() == KERAS[name](**arguments).get_config()
    copy = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(ours)
    )
    assert type(copy) is type(ours)


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="'sgd', 'adam', 'adagrad'.*'lion'"):
        optimizers.get("lion")


OTHER_BACKENDS = """
import keras
import numpy as np
from keras_selfattn import optimizers

words = np.array([[1, 1, 3], [3, 2, 1], [1, 3, 3], [2, 1, 3]])
for name, options in (
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("Adagrad", {}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "beta_1": 0.8, "beta_2": 0.95}),
    ("Adam", {"epsilon": 0.01, "weight_decay": 0.1}),
    ("Adam", {"use_ema": True, "ema_overwrite_frequency": 2}),
    ("Adam", {"gradient_accumulation_steps": 2}),
):
    weights = []
    for module in (optimizers, keras.optimizers):
        keras.utils.set_random_seed(0)
        model = keras.Sequential(
            [keras.layers.Embedding(7, 3), keras.layers.Dense(1)]
        )
        model.build((None, 3))
        optimizer = getattr(module, name)(0.1, global_clipnorm=0.1, **options)
        model.compile(optimizer, "mse")
        model.fit(words, np.ones((4, 3, 1)), batch_size=2, epochs=4,
                  shuffle=False, verbose=0)
        weights.append([*model.get_weights(),
                        *map(keras.ops.convert_to_numpy, optimizer.variables)])
    for ours, other in zip(*weights, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-4, atol=1e-6,
                                   err_msg=f"{name} {options}")
"""

TWO_REPLICAS = """
import keras
import numpy as np
import tensorflow as tf
from keras_selfattn import optimizers

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2
)
# Both replicas use word 3, and one of them twice.
ids = np.array([[1, 3], [3, 3]])
small = 0.1
for name in ("SGD", "Adam", "Adagrad"):
    for clipping in (
        {}, {"clipnorm": small}, {"global_clipnorm": small},
        {"clipvalue": small}, {"use_ema": True},
    ):
        tables = []
        for devices in (["CPU:0", "CPU:1"], ["CPU:0"]):
            with tf.distribute.MirroredStrategy(devices).scope():
                keras.utils.set_random_seed(0)
                model = keras.Sequential([keras.layers.Embedding(5, 2)])
                optimizer = getattr(optimizers, name)(0.1, **clipping)
                model.compile(optimizer, "mse")
            model.fit(ids, np.ones((2, 2, 2)), batch_size=2, epochs=3,
                      verbose=0)
            tables.append(model.get_weights()[0])
        np.testing.assert_allclose(*tables, rtol=1e-4, err_msg=str(clipping))
"""

TWO_DEVICES = """
import contextlib
import keras
import numpy as np
import tensorflow as tf
from keras_selfattn import optimizers
from tests.tiny_classifier import tiny_classifier

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2
)
# Of the last batch, of one text, the second device has none.
texts = (["good food", "bad food", "good good", "bad bad"] * 4)[:13]
found = []
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
for scope in (strategy.scope(), contextlib.nullcontext()):
    keras.utils.set_random_seed(0)
    with scope:
        model = tiny_classifier(attention_penalty=0.5, dropout=0.0)
        model.compile(
            optimizers.Adagrad(0.1, global_clipnorm=0.01),
            "sparse_categorical_crossentropy",
        )
    labels = [model.labels[i % 2] for i in range(13)]
    # The last one may be the first of an epoch, as with this seed.
    keras.utils.set_random_seed(2)
    history = model.fit(texts, labels, batch_size=4, epochs=2, verbose=0)
    figures = model.evaluate(texts, labels, batch_size=4, verbose=0)
    answers = model.predict(texts, batch_size=4, verbose=0)
    found.append([*model.get_weights(), history.history["loss"], figures])
    found[-1] += [answers, model.predict_on_batch(texts)]
for one, other in zip(*found, strict=True):
    np.testing.assert_allclose(one, other, atol=1e-6)
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", OTHERS)
def test_other_backends_move_as_with_keras(backend):
    skip_without(backend)
    python(backend, "-c", OTHER_BACKENDS)


@pytest.mark.slow
def test_replicas_that_share_words_move_as_one():
    python("tensorflow", "-c", TWO_REPLICAS)


@pytest.mark.slow
def test_a_classifier_on_two_devices_is_that_of_one():
    python("tensorflow", "-c", TWO_DEVICES)
