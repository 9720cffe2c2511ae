"""Law 5: eager, traced and compiled by XLA give one result.

Equal results on the three backends follow from `test_equation.py`, which
`test_backends.py` runs on each of them.
"""

import pytest

from tests.conformance.conftest import BACKEND
from tests.conformance.test_saving import assert_equal
from tests.conformance.test_saving import feed
from tests.conformance.test_saving import functional


@pytest.mark.parametrize("jit_compile", [False, True])
def test_compiled_equals_eager(row, jit_compile):
    model = functional(row, row.make())
    batch = feed(row, *row.batch())
    if BACKEND == "tensorflow":
        import tensorflow as tf

        compiled = tf.function(model, jit_compile=jit_compile)
    elif BACKEND == "jax":
        import jax

        compiled = jax.jit(model) if jit_compile else model
    else:
        pytest.skip("torch has neither tf.function nor XLA")
    assert_equal(compiled(batch), model(batch))
