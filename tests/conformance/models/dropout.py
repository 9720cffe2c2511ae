"""A dropout that a reference can follow: it scales what it would drop."""

import keras
import pytest


def scaled(rate):
    """What becomes of a layer's inputs, as `references.py` has it."""
    return lambda inputs: inputs * (1.0 + rate)


@pytest.fixture
def scaled_dropout(monkeypatch):
    """In training every dropout is `scaled`."""

    def dropout(inputs, rate, **kwargs):
        return scaled(rate)(inputs)

    def call(self, inputs, training=False):
        return scaled(self.rate)(inputs) if training else inputs

    monkeypatch.setattr(keras.random, "dropout", dropout)
    monkeypatch.setattr(keras.layers.Dropout, "call", call)
