import pytest

from tests.conformance.conftest import BACKEND
from tests.conformance.models.dropout import scaled_dropout as scaled_dropout
from tests.conformance.models.table import ROWS


def pytest_generate_tests(metafunc):
    if "model_row" in metafunc.fixturenames:
        metafunc.parametrize("model_row", ROWS, ids=str)
    # Tracing and compiling take seconds a row, and gradients do on JAX.
    if "traced_row" in metafunc.fixturenames:
        parametrize(metafunc, "traced_row", repeats_are_slow=True)
    if "gradient_row" in metafunc.fixturenames:
        parametrize(metafunc, "gradient_row", BACKEND == "jax")


def parametrize(metafunc, name, repeats_are_slow):
    rows = []
    for row in ROWS:
        slow = [pytest.mark.slow] if row.repeats and repeats_are_slow else []
        rows.append(pytest.param(row, marks=slow, id=str(row)))
    metafunc.parametrize(name, rows)
