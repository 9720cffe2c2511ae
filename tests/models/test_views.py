"""The models that show what another one looked at."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.models.small import inputs_for
from tests.models.small import small_preset

VIEWS = {
    "lin2017_yelp": {"attention_scores"},
    "chen2018_snli": {"attention_scores"},
    "parikh2016_snli": {"alignment_scores"},
    "parikh2016_snli_intra": {"alignment_scores", "intra_sentence_scores"},
}


def arrays(tensors):
    return [ops.convert_to_numpy(each) for each in keras.tree.flatten(tensors)]


@pytest.mark.parametrize("preset, names", VIEWS.items())
def test_an_explanation_holds_the_answer_and_all_scores(preset, names):
    model = small_preset(preset)
    inputs = inputs_for(model)
    shown = model.explanation_model()(inputs)
    assert set(shown) == {"outputs", *names}
    (first, *_), answers = arrays(shown["outputs"]), arrays(model(inputs))
    np.testing.assert_allclose(first, answers[0], rtol=1e-5)
    (name,) = names - {"intra_sentence_scores"}
    # What the class says holds for the graph.
    assert model.has_heads == (name == "attention_scores")
    assert {f"{side}token_ids" for side in model.sides} <= set(inputs)
    assert len(model.sides) == len(shown[name]) or model.sides == ("",)
    for one, other in zip(
        arrays(shown[name]),
        arrays(model.attention_model()(inputs)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_words_of_a_sentence_look_at_each_other():
    model = small_preset("parikh2016_snli_intra")
    inputs = inputs_for(model)
    scores = model.explanation_model()(inputs)["intra_sentence_scores"]
    for side, found in zip(model.sides, arrays(scores), strict=True):
        kept = inputs[f"{side}token_ids"] != 0
        assert found.shape == (*kept.shape, kept.shape[1])
        assert ((found > 0) == kept[:, :, None] * kept[:, None]).all()
        np.testing.assert_allclose(found.sum(axis=-1), kept, rtol=1e-5)


@pytest.mark.parametrize(
    "preset, pooling",
    [
        ("lin2017_yelp", "structured_self_attention"),
        ("parikh2016_snli", "decomposable_attention"),
    ],
)
def test_the_layers_after_an_embedding_give_the_answer(preset, pooling):
    model = small_preset(preset)
    inputs = inputs_for(model)
    hidden = model.embedding_model()(inputs)
    after = model.layers[model.layers.index(model.get_layer(pooling)) + 1 :]
    for layer in after:
        hidden = layer(hidden)
    (received,), (expected,) = arrays(hidden), arrays(model(inputs))
    np.testing.assert_allclose(received, expected, rtol=1e-5)
