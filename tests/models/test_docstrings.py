"""The docstrings of the classifiers say what their signatures do."""

import inspect
import re

import pytest

from keras_selfattn import models

SENTENCE = models.SentenceClassifier


def defaults(model_class):
    parameters = inspect.signature(model_class.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def documented(model_class):
    """By argument what the docstring says of it, in one line."""
    text = model_class.__doc__
    text = text[text.index("Args:") : text.index("Raises:")]
    parts = re.split(r"\n        (\*{0,2}\w+): ", text)[1:]
    return {
        name.lstrip("*"): " ".join(words.split())
        for name, words in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.mark.parametrize(
    "model_class", [SENTENCE, models.DecomposableClassifier]
)
def test_every_default_is_told(model_class):
    told = documented(model_class)
    for name, value in defaults(model_class).items():
        shown = repr(value).replace("'", '"')
        assert told[name].endswith(f"Defaults to `{shown}`."), name


def test_a_pair_tells_what_differs():
    told = documented(models.SentencePairClassifier)
    shared = defaults(SENTENCE)
    differing = {}
    for name, value in defaults(models.SentencePairClassifier).items():
        if name not in shared:
            assert told[name].endswith(
                f"Defaults to `{value!r}`.".replace("'", '"')
            )
        elif value != shared[name]:
            differing[name] = repr(value)
    found = dict(re.findall(r"`(\w+)=([^`]+)`", told["kwargs"]))
    assert found == differing
    own = {"interaction", "interaction_units"}
    of_texts = {"ngram_buckets", "ambiguity_penalty", "character_cnn"}
    assert defaults(models.SentencePairClassifier).keys() == (
        shared.keys() - of_texts | own
    )
