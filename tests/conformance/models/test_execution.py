"""Law 5: eager and compiled by XLA give one result.

That traced gives it too follows from `test_saved_model`, where one trace
serves two batches of other sizes, and from `test_training.py`.
"""

import pytest

from tests.conformance.conftest import BACKEND
from tests.conformance.models.objective import plain
from tests.conformance.models.objective import tensors
from tests.conformance.models.table import built
from tests.conformance.models.test_padding import assert_near


def test_xla_equals_eager(traced_row):
    model = built(traced_row)
    batch = tensors(traced_row.batch())
    if BACKEND == "tensorflow":
        import tensorflow as tf

        compiled = tf.function(model, jit_compile=True)
    elif BACKEND == "jax":
        import jax

        compiled = jax.jit(model)
    else:
        pytest.skip("torch has no XLA")
    _, (outputs, _), _ = plain(traced_row)
    assert_near(compiled(batch), outputs, atol=1e-6)
