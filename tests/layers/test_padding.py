import keras
import numpy as np
import pytest

from keras_selfattn import layers
from keras_selfattn import regularizers

pytestmark = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="a path of TensorFlow's"
)

# The middle of a sentence masked, a whole one, and one without any step.
MASK = np.array(
    [
        [True, False, True, True, False],
        [True, True, True, True, True],
        [False, False, False, False, False],
        [True, True, False, False, False],
    ]
)
KEPT = int(MASK.sum())


def words(steps, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, steps, 3)).astype("float32")


def make_structured():
    penalty = regularizers.Orthogonality(0.1)
    return layers.StructuredSelfAttention(
        6, 2, use_bias=True, attention_regularizer=penalty
    )


def make_generalized():
    penalty = regularizers.HeadDiversity(0.1, margin=2.0)
    return layers.GeneralizedPooling(6, 2, attention_regularizer=penalty)


# By name the layer, its inputs and mask, and the rows of all that it packs.
CASES = {
    "structured": (make_structured, words(5, 0), MASK, [KEPT]),
    "generalized": (make_generalized, words(5, 0), MASK, [KEPT]),
    "intra": (
        lambda: layers.IntraSentenceAttention(attention_units=(6,)),
        words(5, 0),
        MASK,
        [KEPT],
    ),
    "decomposable": (
        lambda: layers.DecomposableAttention((6, 7), (8,)),
        (words(5, 0), words(4, 1)),
        (MASK, MASK[:, :4]),
        # The words of both sentences, and their counterparts.
        2 * [KEPT, int(MASK[:, :4].sum())],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_skipping_masked_steps_changes_nothing(name, monkeypatch):
    import tensorflow as tf

    from keras_selfattn.layers._tensorflow import packed_steps

    make, inputs, mask, expected = CASES[name]
    inputs = tf.nest.map_structure(tf.constant, inputs)
    layer = make()
    layer(inputs, mask=mask)
    for weight in layer.weights:
        # Biases of zero would hide a step that got none.
        weight.assign(keras.random.normal(weight.shape, seed=len(weight.shape)))

    packed = []
    pack = packed_steps.KeptSteps.pack

    def noting(self, inputs):
        result = pack(self, inputs)
        packed.append(len(result))
        return result

    monkeypatch.setattr(packed_steps.KeptSteps, "pack", noting)

    def run():
        weights = [weight.value for weight in layer.trainable_weights]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = layer(
                inputs, mask=mask, training=True, return_attention_scores=True
            )
            outputs = tf.nest.flatten(outputs)
            loss = sum(layer.losses)
            for output in outputs:
                # Each entry has a factor of its own, so that none stands in
                # for another.
                factors = tf.range(tf.size(output), dtype="float32")
                loss += tf.reduce_sum(
                    output * tf.reshape(factors, output.shape)
                )
        sources = tf.nest.flatten(inputs) + weights
        return [*outputs, *tape.gradient(loss, sources)]

    skipping = run()
    assert packed == expected
    monkeypatch.setattr(packed_steps, "is_faster", lambda: False)
    for one, other in zip(skipping, run(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    assert packed == expected


def test_all_steps_are_computed_when_not_training(monkeypatch):
    from keras_selfattn.layers._tensorflow import packed_steps

    monkeypatch.setattr(packed_steps, "KeptSteps", None)
    make_structured()(words(5, 0), mask=MASK)
