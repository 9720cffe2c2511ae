"""Explanations of pairs and of features, with real models at small sizes."""

import io
import json

import keras
import numpy as np
import pytest
import rich.cells
from keras.ops import convert_to_numpy as array

from keras_selfattn import models
from keras_selfattn.cli import main
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.visualization import AlignmentExplanation
from keras_selfattn.visualization import PairExplanation
from keras_selfattn.visualization import Sentence
from keras_selfattn.visualization import explain
from tests.visualization.test_sentences import HOSTILE
from tests.visualization.test_sentences import balanced
from tests.visualization.test_sentences import explanation
from tests.visualization.test_sentences import page
from tests.visualization.test_sentences import terminal

LABELS = ["entailment", "neutral", "contradiction"]
TEXTS = [
    ("A man plays a guitar .", "Somebody plays ."),
    ("It rains", "A dog sleeps in the sun today ."),
    ("Dogs", "Cats"),
]
SMALL = {
    "num_classes": 3,
    "embedding_dim": 4,
}
HEADS = {
    "units": 5,
    "encoder": "cnn",
    "attention_dim": 3,
    "num_heads": 2,
    "hidden_units": 6,
}


def with_text(make, null=False, **arguments):
    keras.utils.set_random_seed(0)
    preprocessor = TextPreprocessor(
        ["A", "man", "plays", ".", "dog"],
        prepend_null=null,
        implementation="tensorflow",
    )
    model = make(
        vocabulary_size=preprocessor.vocabulary_size(), **SMALL, **arguments
    )
    model.preprocessor = preprocessor
    model.labels = LABELS
    return model


def siamese(**arguments):
    return with_text(models.SentencePairClassifier, **HEADS, **arguments)


def decomposable(**arguments):
    return with_text(
        models.DecomposableClassifier,
        null=True,
        projection_dim=5,
        attend_units=[6],
        compare_units=[7],
        aggregate_units=[8],
        # Large kernels tell the weights of the words apart.
        initializer_stddev=1.0,
        **arguments,
    )


def weights(rows, columns, seed=0):
    values = np.random.default_rng(seed).random((rows, columns)) ** 4
    return values / values.sum(axis=1, keepdims=True)


def pair(premise="a b c d", hypothesis="e f", **arguments):
    p, h = premise.split(), hypothesis.split()
    arguments.setdefault("labels", LABELS)
    return PairExplanation(
        Sentence(premise, p, weights(3, len(p))),
        Sentence(hypothesis, h, weights(3, len(h), 1)),
        probabilities=[0.1, 0.2, 0.7],
        **arguments,
    )


def alignment(premise="a b c d", hypothesis="e f", intra=True, **arguments):
    p, h = premise.split(), hypothesis.split()
    arguments.setdefault("labels", LABELS)
    within = [weights(len(x), len(x), 2) if intra else None for x in (p, h)]
    return AlignmentExplanation(
        Sentence(premise, p, weights(len(h), len(p)), intra_scores=within[0]),
        Sentence(
            hypothesis, h, weights(len(p), len(h), 1), intra_scores=within[1]
        ),
        probabilities=[0.1, 0.2, 0.7],
        **arguments,
    )


def with_features(text="a b c d", heads=2, size=40):
    tokens = text.split()
    features = weights(heads * size, len(tokens)).reshape(heads, size, -1)
    features = features.transpose(0, 2, 1)
    return explanation(
        text, features.mean(axis=-1), tokens=tokens, features=features
    )


ALL = [pair, alignment, with_features]


class TestExplain:
    def test_siamese_model(self):
        model = siamese()
        seen = list(explain(model, TEXTS, labels=["neutral"] * 3, batch_size=2))
        assert [type(item) for item in seen] == [PairExplanation] * 3
        assert [item.text for item in seen] == TEXTS
        # Alone, without padding, a pair gets the same weights.
        scores = model.attention_model()(model.preprocess(TEXTS[1:2]))
        for side, expected in zip(
            seen[1].sides().values(), scores, strict=True
        ):
            np.testing.assert_allclose(
                side.scores, array(expected)[0], atol=1e-5
            )
        assert seen[1].hypothesis.tokens[:2] == ["A", "dog"]
        np.testing.assert_allclose(
            seen[1].probabilities,
            array(model(model.preprocess(TEXTS[1:2])))[0],
            atol=1e-5,
        )

    @pytest.mark.parametrize("intra", [False, True])
    def test_decomposable_model(self, intra):
        model = decomposable(intra_sentence=intra)
        seen = list(explain(model, TEXTS, batch_size=3))[1]
        assert isinstance(seen, AlignmentExplanation)
        assert seen.premise.tokens == ["[NULL]", "It", "rains"]
        forth, back = model.attention_model()(model.preprocess(TEXTS[1:2]))
        for side, scores in ((seen.hypothesis, forth), (seen.premise, back)):
            np.testing.assert_allclose(side.scores, array(scores)[0], atol=1e-5)
        for side in seen.sides().values():
            if not intra:
                assert side.intra_scores is None
                continue
            n = len(side.tokens)
            assert side.intra_scores.shape == (n, n)
            np.testing.assert_allclose(
                side.intra_scores.sum(axis=1), 1, rtol=1e-5
            )

    @pytest.mark.parametrize("make", [siamese, None])
    def test_generalized_pooling(self, make):
        if make:
            model, texts = make(pooling="generalized"), TEXTS
        else:
            model = with_text(
                models.SentenceClassifier, **HEADS, pooling="generalized"
            )
            texts = [text for text, _ in TEXTS]
        for item in explain(model, texts):
            for side in item.sides().values():
                assert side.features.shape == (2, len(side.tokens), 5)
                np.testing.assert_allclose(
                    side.features.sum(axis=1), 1, rtol=1e-5
                )
                np.testing.assert_allclose(
                    side.features.mean(axis=-1), side.scores, rtol=1e-5
                )

    def test_encoder_runs_once_in_one_graph(self):
        calls = []

        class Counted(keras.layers.Layer):
            def call(self, x):
                calls.append(1)
                return x

        words = keras.Input((None,), name="token_ids", dtype="int32")
        made = keras.ops.cast(Counted()(words), "float32")[:, None, :]
        counted = models.classifier.Classifier(
            {"token_ids": words},
            keras.layers.Softmax()(made[:, 0, :2]),
            {"attention_scores": keras.layers.Softmax()(made)},
            {},
            {"activation": "softmax"},
        )
        counted.preprocessor = TextPreprocessor(
            ["a"], implementation="tensorflow"
        )
        calls.clear()
        assert len(list(explain(counted, ["a b"] * 5, batch_size=2))) == 5
        traced = {"tensorflow": 1, "jax": 2, "torch": 3}
        # Once for all sizes, once for each, or for each batch.
        assert len(calls) == traced[keras.backend.backend()]

    def test_wrong_number_of_texts(self):
        with pytest.raises(ValueError, match="takes a pair of strings a row"):
            list(explain(siamese(), ["one"]))


class TestPairExplanation:
    @pytest.mark.parametrize(
        "make, message",
        [
            (
                lambda: PairExplanation(
                    Sentence("a", ["a"], [[1.0]]),
                    Sentence("b", ["b"], [[1.0], [1.0]]),
                    [1.0],
                    ["x"],
                ),
                "as many heads in both sentences, got 1 and 2",
            ),
            (
                lambda: AlignmentExplanation(
                    Sentence("a", ["a"], [[1.0]]),
                    Sentence("b c", ["b", "c"], [[0.5, 0.5]]),
                    [1.0],
                    ["x"],
                ),
                "Expected 2 rows of scores of the premise.*got 1",
            ),
            (lambda: pair(labels=["x"]), r"shape \(1,\)"),
            (
                lambda: Sentence("a", ["a"], [[1.0]], features=[[1.0]]),
                r"features of shape \(1, 1, D\), got \(1, 1\)",
            ),
            (
                lambda: Sentence("a", ["a"], [[1.0]], intra_scores=[1.0]),
                r"intra_scores of shape \(1, 1\), got \(1,\)",
            ),
            (
                lambda: Sentence("a", ["a"], [[1.0]], intra_scores=[[-1.0]]),
                "intra_scores that are finite",
            ),
        ],
    )
    def test_bad_input(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()

    def test_overall_of_an_alignment_is_the_mean_of_the_lookers(self):
        seen = alignment()
        np.testing.assert_allclose(
            seen.premise.overall, seen.premise.scores.mean(axis=0)
        )

    @pytest.mark.parametrize(
        "text, direction",
        [("لم يكن", "rtl"), ("12 a لم", "ltr"), ("1 !", "auto")],
    )
    def test_direction_is_that_of_the_text(self, text, direction, tmp_path):
        tokens = ["[NULL]", *text.split()]
        seen = explanation(text, tokens=tokens)
        assert seen.direction == direction
        mark = f'dir="{direction}"'
        assert mark in seen._repr_html_()
        assert f'<p class="text" {mark}' in page(tmp_path, seen)

    def test_features_are_ordered_by_their_word(self):
        features = np.zeros((1, 3, 6))
        features[0, [2, 0, 1, 0, 1, 2], range(6)] = 1.0
        sentence = Sentence(
            "a b c", list("abc"), features.mean(axis=-1), features=features
        )
        np.testing.assert_allclose(sentence.feature_groups(3)[0], np.eye(3))
        assert sentence.feature_groups(99).shape == (1, 3, 6)


class TestTerminal:
    def test_siamese_pair(self):
        text = terminal(pair(label="neutral"))
        assert "Predicted contradiction (70%), WRONG: truly neutral" in text
        assert "premise:" in text and "hypothesis:" in text
        assert text.count("overlap 0.") == 2

    def test_alignment(self):
        text = terminal(
            AlignmentExplanation(
                Sentence("a b", ["a", "b"], [[0.25, 0.75]]),
                Sentence("c", ["c"], [[1.0], [1.0]]),
                [1.0],
                ["x"],
            )
        )
        assert "overlap" not in text
        forth, back = text.split("premise → hypothesis")[1].split(
            "hypothesis → premise"
        )
        assert [line.split() for line in forth.splitlines()[1:4]] == [
            ["#", "word", "c"],
            ["1", "a", "100%"],
            ["2", "b", "100%"],
        ]
        assert "25%" in back and "75%" in back
        assert "within" not in text
        assert "within the premise" in terminal(alignment())

    def test_features(self):
        text = terminal(with_features())
        assert "40 features a head, in 12 groups" in text

    @pytest.mark.parametrize("make", ALL)
    @pytest.mark.parametrize("width", [40, 120])
    @pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
    def test_fits_the_width(self, make, width, encoding):
        for words in (60, 1):
            text = terminal(make("word " * words), width, encoding)
            lines = text.splitlines()
            assert max(map(rich.cells.cell_len, lines)) <= width

    @pytest.mark.parametrize("make", ALL)
    def test_escape_sequences_and_markup_are_inert(self, make):
        text = terminal(make("[red]a\x1b[2J[/red] b"), 200)
        assert "\x1b" not in text
        assert "[red]a\ufffd[2J[/red]" in text


class TestHtml:
    @pytest.mark.parametrize("make", ALL)
    def test_nothing_breaks_out(self, make, tmp_path):
        plain = " ".join("x" * len(HOSTILE.split()))
        fragments, pages = [], []
        for text in (plain, HOSTILE):
            seen = make(text)
            seen.labels = [f"{text} {i}" for i in range(len(seen.labels))]
            fragments.append(seen._repr_html_())
            pages.append(page(tmp_path, seen))
        for plain, hostile in (fragments, pages):
            assert [tag for tag, _ in balanced(plain)] == [
                tag for tag, _ in balanced(hostile)
            ]
            assert "<script>alert" not in hostile

    def test_pages_name_both_sentences(self, tmp_path):
        text = page(tmp_path, pair(), pair())
        assert text.count(">premise</h2>") == text.count(">hypothesis</h2>")
        assert text.count('class="text"') == 4
        assert "2 pairs · heads overlap by" in text

    def test_alignments_have_no_heads(self, tmp_path):
        # The numbers of words differ, and no head is meant by them.
        text = page(tmp_path, alignment(), alignment("a", "b c d"))
        assert 'role="radiogroup"' not in text
        assert "overlap" not in text.split("<script>")[0]

    def test_one_kind_a_page(self, tmp_path):
        with pytest.raises(ValueError, match="PairExplanation.*Alignment.* 2"):
            page(tmp_path, pair(), alignment())


class TestFigure:
    def test_siamese_pair(self):
        seen = pair()
        panels = [axis for axis in seen.figure().axes if axis.images]
        titles = [axis.get_title("left") for axis in panels]
        assert titles == ["premise", "hypothesis"]
        assert {axis.get_ylabel() for axis in panels} == {"head"}
        np.testing.assert_allclose(
            panels[1].images[0].get_array(),
            np.vstack([seen.hypothesis.overall, seen.hypothesis.scores]),
        )

    def test_alignment(self):
        seen = alignment("a $b$ c", "d e")
        panels = [axis for axis in seen.figure().axes if axis.images]
        titles = [axis.get_title("left") for axis in panels]
        assert titles == [
            "premise → hypothesis",
            "hypothesis → premise",
            "within the premise",
            "within the hypothesis",
        ]
        np.testing.assert_allclose(
            panels[0].images[0].get_array(), seen.hypothesis.scores
        )
        names = [label.get_text() for label in panels[0].get_yticklabels()]
        assert names == ["a", r"\$b\$", "c"]
        words = [label.get_text() for label in panels[0].get_xticklabels()]
        assert words == ["d", "e"]

    @pytest.mark.parametrize("make", ALL)
    def test_is_drawn(self, make):
        stream = io.BytesIO()
        figure = make(" ".join(["$x", "_$"] * 21)).figure()
        figure.savefig(stream, format="png", dpi=20)
        assert stream.getvalue().startswith(b"\x89PNG")

    def test_features(self):
        seen = with_features()
        panels = [
            axis
            for axis in seen.feature_figure().axes
            if axis.get_title("left")
        ]
        assert len(panels) == 2
        np.testing.assert_allclose(
            panels[1].images[0].get_array(), seen.feature_groups(24)[1].T
        )
        with pytest.raises(ValueError, match="weighs each feature by itself"):
            pair().feature_figure()


def test_command_line(tmp_path, capsys):
    decomposable(intra_sentence=True).save_to_preset(tmp_path / "run")
    rows = tmp_path / "pairs.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"sentence1": p, "sentence2": h}) + "\n"
            for p, h in [*TEXTS, (HOSTILE, "b")]
        )
    )
    arguments = [
        "explain",
        str(tmp_path / "run"),
        f"--file={rows}",
        "--text=sentence1",
        "--text-pair=sentence2",
    ]
    target = tmp_path / "page.html"
    assert main([*arguments, f"--html={target}"]) == 0
    text = target.read_text(encoding="utf-8")
    assert text.count("<article") == 4
    assert "<script>alert" not in text
    balanced(text)
    capsys.readouterr()
    assert main(arguments) == 0
    assert "premise → hypothesis" in capsys.readouterr().out
