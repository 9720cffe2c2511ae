"""Marks of tests by the backend that they run on."""

import keras
import pytest

BACKEND = keras.backend.backend()

tensorflow_only = pytest.mark.skipif(
    BACKEND != "tensorflow",
    reason=f"TensorFlow's own; the backend is {BACKEND}",
)
