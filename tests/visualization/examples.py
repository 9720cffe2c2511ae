"""Explanations, and small models to explain, for all kinds of pictures."""

import html
import html.parser

import keras
import numpy as np

from keras_selfattn import models
from keras_selfattn.text import TextPreprocessor
from keras_selfattn.visualization import AlignmentExplanation
from keras_selfattn.visualization import Explanation
from keras_selfattn.visualization import NGram
from keras_selfattn.visualization import PairExplanation
from keras_selfattn.visualization import Sentence
from keras_selfattn.visualization import write_html

HOSTILE = "<script>alert(1)</script> \"a' & </p></article><!-- <b"
CLASSES = ["bad", "good"]
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


def with_ngrams(**more):
    """An explanation of a wide and deep model."""
    ngrams = [
        NGram("not bad", True, np.array([0.5, -0.25])),
        NGram("<b_", False, np.array([-0.1, 0.2])),
    ]
    return explanation(ngrams=ngrams, **more)


def alignment_with_ngrams():
    """The same, of a pair, which is a contradiction."""
    ngrams = [
        NGram("+e =f", True, np.array([0.5, -0.25, 0.75])),
        NGram("+ =", False, np.array([0.1, 0.2, -0.3])),
    ]
    return alignment(ngrams=ngrams)


def explanation(text="not bad at all", scores=None, label=None, **arguments):
    tokens = arguments.pop("tokens", text.split())
    if scores is None:
        scores = np.full((3, len(tokens)), 0.5 / len(tokens))
        for head, row in enumerate(scores):
            row[head % len(tokens)] += 0.5
    arguments.setdefault("probabilities", [0.25, 0.75])
    arguments.setdefault("labels", CLASSES)
    return Explanation(text, tokens, scores, label=label, **arguments)


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


def with_effects(text="not $bad$ at all", scores=None, **arguments):
    """The third word decides, and most of the weight is on the first."""
    words = len(text.split())
    if scores is None:
        scores = np.full((2, words), 0.4 / max(words - 1, 1))
        scores[:, 0] = 0.6
    arguments.setdefault(
        "effects",
        {
            "leave_one_out": np.resize([0.02, -0.1, 0.6, 0.0], words),
            "gradient_x_input": np.resize([0.5, 0.25, -0.25, 0.0], words),
        },
    )
    return explanation(text, scores, **arguments)


def pair_with_effects(*texts, make=pair):
    seen = make(*texts)
    for side in seen.sides().values():
        words = len(side.tokens)
        side.effects = {"leave_one_out": np.linspace(-0.3, 0.5, words)}
    return seen


def alignment_with_effects(*texts):
    return pair_with_effects(*texts, make=alignment)


ALL = [
    pair,
    alignment,
    with_features,
    with_effects,
    pair_with_effects,
    alignment_with_effects,
]


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


def page(tmp_path, *items, **arguments):
    path = write_html(iter(items), tmp_path / "page.html", **arguments)
    return path.read_text(encoding="utf-8")


class Balance(html.parser.HTMLParser):
    void = {"meta", "br", "img", "input"}

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def balanced(text):
    parser = Balance()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser.seen
