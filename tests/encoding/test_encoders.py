import numpy as np
import pytest

from keras_selfattn.encoding.encoders import Encoder
from keras_selfattn.encoding.encoders import ServedEncoder
from keras_selfattn.encoding.encoders import batches
from keras_selfattn.encoding.encoders import load_encoder
from keras_selfattn.encoding.views import VIEWS
from keras_selfattn.encoding.views import check_views
from keras_selfattn.serving import load_savedmodel
from tests.serving.families import exported
from tests.tiny_classifier import tiny_classifier

TEXTS = ["good food", "bad", "a much longer text about good food ."]
PAIRS = [("good food", "bad"), ("bad", "the food was good ."), ("a", "b c")]


class Family:
    """A model, and encoders of its folder and of its export."""

    def __init__(self, name, folder):
        self.model, self.served = exported(name)
        self.folder = folder
        self.model.save_to_preset(folder)
        self.give = VIEWS
        if name == "decomposable":
            self.give = tuple(name for name in VIEWS if name != "embedding")
        self.of_folder = load_encoder(folder, VIEWS)
        self.of_served = load_encoder(self.served.parent, self.give)
        self.texts = TEXTS if len(self.model.sides) == 1 else PAIRS


@pytest.fixture(
    scope="module",
    params=[
        "single",
        pytest.param("pair", marks=pytest.mark.slow),
        "decomposable",
    ],
)
def family(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    return Family(request.param, folder)


def equal(found, expected):
    assert list(found) == list(expected)
    for name, rows in expected.items():
        assert len(found[name]) == len(rows)
        for row, other in zip(found[name], rows, strict=True):
            if isinstance(row, (str, list)):
                assert row == other, name
            else:
                np.testing.assert_allclose(row, other, atol=1e-5, err_msg=name)


def test_a_model_and_its_export_give_the_same(family):
    columns = family.of_folder(family.texts)
    if "embedding" not in family.give:
        columns.pop("embedding")
    equal(family.of_served(family.texts), columns)


def test_what_a_model_gives_is_what_it_answers(family):
    columns = family.of_folder(family.texts)
    probabilities = family.model.predict(family.texts, verbose=0)
    np.testing.assert_allclose(
        columns["probabilities"], probabilities, atol=1e-6
    )
    best = [str(family.model.labels[i]) for i in probabilities.argmax(-1)]
    assert columns["label"].tolist() == best
    embeddings = family.model.encode(family.texts, verbose=0)
    names = [name for name in columns if name.endswith("embedding")]
    if not isinstance(embeddings, tuple):
        embeddings = (embeddings,)
    for name, rows in zip(names, embeddings, strict=True):
        np.testing.assert_allclose(columns[name], rows, atol=1e-6)


def test_attention_has_the_words_of_each_row_alone(family):
    columns = family.of_folder(family.texts)
    sides = [name for name in columns if name.endswith("tokens")]
    for row, text in enumerate(family.texts):
        alone = family.of_folder([text])
        for side in sides:
            assert columns[side][row] == alone[side][0]
        for name in columns:
            if not name.endswith("attention"):
                continue
            scores = columns[name][row]
            np.testing.assert_allclose(scores, alone[name][0], atol=1e-6)
            (own,) = (s for s in sides if name.startswith(s[: -len("tokens")]))
            assert len(columns[own][row]) in scores.shape
            if "intra" not in name:
                np.testing.assert_allclose(scores.sum(-1), 1, atol=1e-5)


def test_an_export_without_embedding(family):
    if family.give == VIEWS:
        return
    with pytest.raises(ValueError, match="`give` must be without embedding"):
        load_encoder(family.served, ["embedding"])


def test_an_export_of_an_earlier_version(family):
    served = load_savedmodel(family.served)
    del served._loaded.together
    encoder = ServedEncoder(served, family.give)
    equal(encoder(family.texts), family.of_served(family.texts))


def test_rows_without_text(family):
    fault = ValueError("no text")
    for encoder in (family.of_folder, family.of_served):
        columns = encoder([family.texts[0], fault, family.texts[1]])
        equal(
            {name: [rows[0], rows[2]] for name, rows in columns.items()},
            {n: [*rows] for n, rows in encoder(family.texts[:2]).items()},
        )
        assert columns.pop("label")[1] == ""
        for name, rows in columns.items():
            is_list = name.endswith(("tokens", "attention"))
            assert rows[1] is None if is_list else np.isnan(rows[1]).all()
        assert all(len(rows) == 2 for rows in encoder([fault] * 2).values())


def test_texts_of_the_other_kind(family):
    texts, expected = PAIRS, "single texts"
    if len(family.model.sides) == 2:
        texts, expected = TEXTS, "pairs of texts"
    for encoder in (family.of_folder, family.of_served):
        with pytest.raises(ValueError, match=expected):
            encoder(texts)


def test_one_pass_for_all(tmp_path, monkeypatch):
    model = tiny_classifier()
    model.save_to_preset(tmp_path / "model")
    encoder = load_encoder(tmp_path / "model", VIEWS)
    (layer,) = [
        layer for layer in encoder._model.layers if "self_att" in layer.name
    ]
    calls = []
    call = layer.call
    monkeypatch.setattr(
        layer, "call", lambda *a, **k: calls.append(a) or call(*a, **k)
    )
    # The graph calls the layers once, when it is made.
    columns = encoder(TEXTS)
    assert len(calls) == 1
    assert set(columns) == {
        *("label", "probabilities", "embedding", "tokens", "attention")
    }


def test_folders_without_what_is_needed(tmp_path):
    model = tiny_classifier()
    model.labels = None
    model.save_to_preset(tmp_path / "model")
    with pytest.raises(ValueError, match="must have its `labels`"):
        load_encoder(tmp_path / "model", ["label"])
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="folder of a SavedModel"):
        load_encoder(tmp_path / "none", ["label"])


def test_names_of_views():
    assert check_views(["label", "attention"]) == ("label", "attention")
    for give in ("label", [], ["scores"]):
        with pytest.raises(ValueError, match="`give` must be"):
            check_views(give)


def test_batches_hold_texts_of_similar_length_and_no_more_words_than_fit():
    rng = np.random.default_rng(0)
    texts = [" ".join("a" * n) for n in rng.integers(1, 900, 2000)]
    found = list(batches(texts))
    assert sorted(np.concatenate(found)) == list(range(2000))
    for rows in found:
        longest = max(min(len(texts[row].split()), 512) for row in rows)
        assert len(rows) <= 256
        assert len(rows) * longest <= 1 << 14
    assert [len(rows) for rows in batches(["a"] * 600)] == [256, 256, 88]
    shortest = [min(len(texts[rows[0]].split()), 512) for rows in found]
    assert shortest == sorted(shortest)


def test_batches_are_for_subclasses():
    with pytest.raises(NotImplementedError):
        Encoder(["label"], False, ["a"])(["a"])
