"""What can be asked of a model about texts, by the names users give it."""

from keras_selfattn import validation

LABEL = "label"
PROBABILITIES = "probabilities"
EMBEDDING = "embedding"
ATTENTION = "attention"
VIEWS = (LABEL, PROBABILITIES, EMBEDDING, ATTENTION)
# Attention has as many numbers as a text has words, and so not every format.
DEFAULT = (LABEL, PROBABILITIES, EMBEDDING)


def check_views(give):
    """A tuple of the names of views, or `ValueError`."""
    if isinstance(give, str) or not tuple(give):
        raise ValueError(
            f"`give` must be names of {', '.join(VIEWS)}. "
            f"Received: give={give!r}"
        )
    return tuple(validation.one_of(name, VIEWS, "give") for name in give)
