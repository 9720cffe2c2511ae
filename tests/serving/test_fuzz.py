"""Texts of any bytes get an answer that is a number."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from keras_selfattn.serving import load_savedmodel
from tests.hostile import tried
from tests.serving.families import FAMILIES
from tests.serving.families import exported
from tests.serving.texts import batches


@pytest.mark.parametrize("family", FAMILIES)
@tried(15)
@hypothesis.given(data=strategies.data())
def test_any_texts(family, data):
    _, folder = exported(family)
    if family not in LOADED:
        LOADED[family] = load_savedmodel(folder)
    served = LOADED[family]
    sides = len(served.input_names)
    rows = data.draw(batches(sides))
    for name in served.signatures:
        outputs = served.run(name, rows)
        for key, output in outputs.items():
            assert len(output) == len(rows)
            if output.dtype == np.float32:
                assert np.isfinite(output).all(), (name, key)
    sums = served.predict(rows)[1].sum(axis=-1)
    np.testing.assert_allclose(sums, 1, atol=1e-5)


LOADED = {}
