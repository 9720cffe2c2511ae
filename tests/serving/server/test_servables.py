"""SavedModels and runs, as a server loads them."""

import os

import numpy as np
import pytest

from keras_selfattn.serving.server import leaving_out
from keras_selfattn.serving.server import servables
from keras_selfattn.serving.server.batching import Batcher
from keras_selfattn.serving.server.explaining import explanation
from keras_selfattn.serving.server.explaining import scores_signature
from keras_selfattn.visualization import explain
from tests.serving.families import FAMILIES
from tests.serving.families import exported
from tests.serving.families import rows_of
from tests.serving.families import small_classifier


@pytest.fixture(params=["single", "decomposable"])
def run(request, tmp_path):
    """A model of a family, and the folder that it was saved to."""
    name, overrides = FAMILIES[request.param]
    model = small_classifier(name, **overrides)
    model.save_to_preset(tmp_path / "reviews")
    return model, tmp_path / "reviews"


def check(model, servable):
    """The server's explanations are those of the model itself."""
    assert servable.labels == model.labels
    servable.warm_up()
    batcher = Batcher(servable)
    rows = [row for row in rows_of(model) if _is_utf8(row)]
    texts = [_decoded(row) for row in rows]
    # Without the dash its neighbors would be one word.
    dash = "The food—good."
    texts.append((dash, "bad") if servable.is_pair else dash)
    explanations = explain(model, texts, effects=leaving_out.METHOD)
    for text, expected in zip(texts, explanations, strict=True):
        texts_of_row = list(text) if servable.is_pair else [text]
        columns = [[each.encode()] for each in texts_of_row]
        answer, scores = (
            batcher.submit(signature, columns).result(60)
            for signature in ("serving_default", scores_signature(servable))
        )
        seen = explanation(servable, texts_of_row, answer, scores)
        has_words = any(each.strip() for each in texts_of_row)
        if has_words:
            without = leaving_out.without_each_word(seen)
            answers = batcher.submit("serving_default", without).result(60)
            leaving_out.set_effects(seen, answers["probabilities"])
        assert type(seen) is type(expected)
        np.testing.assert_allclose(
            seen.probabilities, expected.probabilities, atol=1e-6
        )
        for name, side in expected.sides().items():
            assert seen.sides()[name].tokens == side.tokens
            np.testing.assert_allclose(
                seen.sides()[name].scores, side.scores, atol=1e-6
            )
            if has_words:
                np.testing.assert_allclose(
                    seen.sides()[name].effects[leaving_out.METHOD],
                    side.effects[leaving_out.METHOD],
                    atol=1e-6,
                )
            if side.intra_scores is not None:
                np.testing.assert_allclose(
                    seen.sides()[name].intra_scores,
                    side.intra_scores,
                    atol=1e-6,
                )


def test_a_run(run):
    model, folder = run
    servable = servables.load(folder)
    assert (servable.name, servable.version) == ("reviews", 1)
    check(model, servable)


@pytest.mark.slow
def test_a_siamese_run(tmp_path):
    name, overrides = FAMILIES["pair"]
    model = small_classifier(name, **overrides)
    model.save_to_preset(tmp_path / "pairs")
    check(model, servables.load(tmp_path / "pairs"))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_model(family):
    model, folder = exported(family)
    for path in (folder, folder.parent):
        servable = servables.load(path)
        assert (servable.name, servable.version) == (folder.parent.name, 7)
    check(model, servable)


def test_the_name_of_the_folder_that_one_stands_in(run, monkeypatch):
    _, folder = run
    monkeypatch.chdir(folder)
    assert servables.load(os.curdir).name == "reviews"


def _is_utf8(row):
    sides = row if isinstance(row, tuple) else (row,)
    return all(_decoded(side).encode() == side for side in sides)


def _decoded(row):
    if isinstance(row, tuple):
        return tuple(map(_decoded, row))
    return row.decode("utf-8", "replace")
