import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn import models
from keras_selfattn import training
from tests.models import paper_values
from tests.tiny_classifier import tiny_classifier
from tests.training.small import train_pairs

NAN = float("nan")


@pytest.mark.parametrize(
    "argument, message",
    [
        ({"nonsense": 1}, "no argument 'nonsense'"),
        ({"units": -3}, "units=-3"),
        ({"dropout": 50}, "dropout=50"),
        ({"dropout": NAN}, "dropout=nan"),
        ({"pooling": "max", "num_heads": 3}, "`num_heads` changes nothing"),
    ],
)
def test_a_wrong_model_argument_is_told_before_the_texts_are_read(
    tmp_path, argument, message
):
    class Texts:
        def __iter__(self):
            raise AssertionError("read")

    with pytest.raises(ValueError, match=message):
        training.train(
            "lin2017_yelp",
            Texts(),
            Texts(),
            tmp_path / "x",
            model_overrides=argument,
        )
    assert not (tmp_path / "x").exists()


def test_an_argument_of_the_wrong_type(tmp_path):
    with pytest.raises(ValueError, match="a finite number.*stddev='x'"):
        train_pairs(tmp_path / "x", initializer_stddev="x")
    assert not (tmp_path / "x").exists()


def test_a_loss_that_keras_scales_takes_no_factor():
    values = models.get_preset("lin2017_yelp").training
    given = {**values, "loss_scale_factor": 1024.0}
    with pytest.raises(ValueError, match="mixed_float16.*_factor=1024.0"):
        training.compile_model(tiny_classifier(dtype="mixed_float16"), given)
    for dtype in ("float32", "mixed_bfloat16", "float16"):
        model = tiny_classifier(dtype=dtype)
        training.compile_model(model, given)
        assert model.optimizer.loss_scale_factor == 1024.0


@pytest.mark.parametrize("normalize", [False, True])
def test_vectors_that_are_drawn_are_scaled_as_those_that_are_given(normalize):
    values = models.get_preset("parikh2016_snli").training
    model = training.make_model(
        "parikh2016_snli",
        {**values, "normalize_vectors": normalize},
        vocabulary_size=11,
        num_classes=3,
        embedding_dim=7,
        projection_dim=5,
    )
    table = np.asarray(model.get_layer("word_vectors").embeddings)
    lengths = np.linalg.norm(table, axis=1)
    assert np.allclose(lengths, 1.0, atol=1e-6) == normalize


@pytest.mark.parametrize("trainable", [False, True])
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adagrad"])
def test_fixed_vectors_cost_no_state_and_no_gradient(trainable, optimizer):
    preset = models.get_preset("parikh2016_snli")
    model = models.from_preset(
        "parikh2016_snli",
        vocabulary_size=11,
        num_classes=3,
        embedding_dim=7,
        projection_dim=5,
        trainable_embeddings=trainable,
    )
    training.compile_model(
        model,
        {
            **{k: preset.training[k] for k in ("batch_size", "epochs")},
            "optimizer": optimizer,
            "learning_rate": 0.1,
            **({"momentum": 0.9} if optimizer == "sgd" else {}),
        },
    )
    table = model.get_layer("word_vectors").embeddings
    model.optimizer.build(model.trainable_variables)
    shapes = [variable.shape for variable in model.optimizer.variables]
    assert (table.shape in shapes) == trainable
    if keras.backend.backend() != "tensorflow":
        return
    ids = np.array([[1, 2, 3], [4, 5, 0]], "int32")
    inputs = {"premise_token_ids": ids, "hypothesis_token_ids": ids}

    @tf.function
    def step():
        return model.train_step((inputs, np.array([0, 1])))

    graph = step.get_concrete_function().graph
    (captured,) = [
        inner for outer, inner in graph.captures if outer is table.value.handle
    ]
    readers = {op.type for op in captured.consumers()}
    assert (readers <= {"ResourceGather", "ReadVariableOp"}) != trainable
    # What neither an output nor an update needs is never run.
    needed = {*graph.control_outputs, *(out.op for out in graph.outputs)}
    ahead = list(needed)
    while ahead:
        op = ahead.pop()
        before = {*op.control_inputs, *(tensor.op for tensor in op.inputs)}
        ahead.extend(before - needed)
        needed |= before
    # A gradient of the vectors would be as wide as they are.
    gradients = [
        op.name
        for op in needed
        if "gradient" in op.name
        and any(out.shape.rank and out.shape[-1] == 7 for out in op.outputs)
    ]
    assert bool(gradients) == trainable


@pytest.mark.parametrize("name", paper_values.ROWS)
def test_the_values_of_a_paper_reach_the_optimizer(name):
    _, _, expected, _ = paper_values.ROWS[name]
    model = tiny_classifier()
    training.compile_model(model, models.get_preset(name).training)
    optimizer = model.optimizer
    assert type(optimizer).__name__.lower().endswith(expected["optimizer"])
    config = optimizer.get_config()
    np.testing.assert_allclose(
        config["learning_rate"], expected["learning_rate"], rtol=1e-6
    )
    accumulator = expected.get("initial_accumulator_value")
    if accumulator is not None:
        assert config["initial_accumulator_value"] == accumulator
    for argument in ("global_clipnorm", "clipnorm", "clipvalue"):
        assert config[argument] == expected.get(argument), argument
    assert config["weight_decay"] is None
