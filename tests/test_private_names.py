"""What is relied on of names that are not public, and that no others are."""

import ast
import collections
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_selfattn
from keras_selfattn import optimizers
from keras_selfattn import private_names
from tests.backend import tensorflow_only

ROOT = pathlib.Path(keras_selfattn.__file__).parent
# Public in spite of their underscore.
PUBLIC = {"_replace", "_exit"}


def foreign_names(trees):
    """Underscored names that files use and the package does not define."""
    defined = collections.Counter()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                defined[node.name] += 1
            elif isinstance(node, ast.Attribute | ast.Name):
                if isinstance(node.ctx, ast.Store):
                    defined[getattr(node, "attr", None) or node.id] += 1
            elif isinstance(node, ast.Constant):
                # Of `vars(model)["_name"] = ...`.
                defined[node.value] += isinstance(node.value, str)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or node.attr in PUBLIC:
                continue
            name = node.attr
            if not name.startswith("_") or (
                name.endswith("__") and name != "__internal__"
            ):
                continue
            call = node.value
            of_super = (
                isinstance(call, ast.Call)
                and getattr(call.func, "id", "") == "super"
            )
            # A method that calls the one it takes the place of is one.
            if defined[name] < 1 + of_super:
                yield f"{path}: {name}"


def test_they_stand_in_one_file():
    trees = {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in ROOT.rglob("*.py")
    }
    found = {name.split(":")[0] for name in foreign_names(trees)}
    assert found == {"private_names.py"}


def test_a_foreign_name_is_found():
    code = {
        "a": "class A:\n def _f(self):\n  return super()._f()",
        "b": "import tensorflow as tf\ntf.__internal__.x()\nvars(m)['_n'] = 1",
        "c": "model._n + model._layers",
    }
    trees = {name: ast.parse(text) for name, text in code.items()}
    found = set(foreign_names(trees))
    assert found == {"a: _f", "b: __internal__", "c: _layers"}


def test_clipping_is_asked_for_once_a_step():
    asked = []

    class Optimizer(private_names.Clipping, keras.optimizers.SGD):
        def clip(self, grads, clip):
            asked.append(grads)
            return [2 * each for each in clip(grads)]

    optimizer = Optimizer(learning_rate=1.0, clipvalue=3.0)
    variable = keras.Variable(np.zeros(2, "float32"))
    optimizer.build([variable])
    gradient = keras.ops.convert_to_tensor([1.0, 5.0])
    optimizer.apply([gradient], [variable])
    assert len(asked) == 1
    value = keras.ops.convert_to_numpy(variable)
    np.testing.assert_allclose(value, [-2.0, -6.0])


@tensorflow_only
@pytest.mark.parametrize(
    ("name", "arguments", "slots"),
    [
        ("sgd", {"momentum": 0.9}, ["momentums"]),
        ("adam", {"amsgrad": True}, ["momentums", "velocities"]),
        ("adam", {"amsgrad": True}, ["velocity_hats"]),
        ("adagrad", {}, ["accumulators"]),
    ],
)
def test_slots_are_those_of_the_variable(name, arguments, slots):
    optimizer = optimizers.get(name, **arguments)
    variables = [keras.Variable(np.zeros(n, "float32")) for n in (2, 3)]
    optimizer.build(variables)
    for each in slots:
        for variable in variables:
            slot = private_names.slot(optimizer, each, variable)
            assert slot.shape == variable.shape
            assert any(slot is v.value for v in optimizer.variables)


def test_a_clone_is_made_by_the_hook():
    asked = []

    class Model(private_names.Cloning, keras.Model):
        def run_for_clone(self, inputs, operation_fn):
            asked.append(operation_fn)
            graph = keras.Function(self.input, self.output)
            return private_names.run_graph(graph, inputs, operation_fn)

    inputs = keras.Input((2,))
    outputs = keras.layers.Dense(3)(inputs)
    model = Model(inputs, outputs)
    clone = keras.models.clone_model(model)
    assert len(asked) == 1
    assert clone.layers[-1] is not model.layers[-1]
    assert clone.output_shape == (None, 3)


def test_the_scope_that_collects_penalties():
    assert private_names.collecting_scope() is None
    with keras.StatelessScope():
        assert private_names.collecting_scope() is None
    with keras.StatelessScope(collect_losses=True) as scope:
        assert private_names.collecting_scope() is scope
        scope.add_loss(1.0)
        assert private_names.collecting_scope().losses == [1.0]


@tensorflow_only
def test_what_xla_compiles_is_told_apart():
    seen = []

    def traced(x):
        seen.append(private_names.xla_is_compiling())
        return x + 1

    assert not private_names.xla_is_compiling()
    tf.function(traced)(tf.constant(1))
    tf.function(traced, jit_compile=True)(tf.constant(1))
    # What a function for XLA calls is compiled with it.
    inner = tf.function(traced)
    tf.function(lambda x: inner(x), jit_compile=True)(tf.constant(1))
    assert seen == [False, True, True]
