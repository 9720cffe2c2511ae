"""A dropout that a reference can follow: it scales what it would drop."""

import pytest

from keras_selfattn.layers import dropping


def scaled(rate):
    """What becomes of a layer's inputs, as `references.py` has it."""
    return lambda inputs: inputs * (1.0 + rate)


@pytest.fixture
def scaled_dropout(monkeypatch):
    """In training every dropout is `scaled`."""

    def factors(shapes, rate, *args):
        return [scaled(rate)(1.0) for _ in shapes]

    monkeypatch.setattr(dropping, "factors", factors)
