import pytest

from tests.conformance.models.dropout import scaled_dropout as scaled_dropout
from tests.conformance.models.table import ROWS


def pytest_generate_tests(metafunc):
    if "model_row" in metafunc.fixturenames:
        metafunc.parametrize("model_row", ROWS, ids=str)
    # For what traces or compiles, which takes seconds a row.
    if "traced_row" in metafunc.fixturenames:
        rows = [
            pytest.param(row, marks=[pytest.mark.slow] if row.repeats else [])
            for row in ROWS
        ]
        metafunc.parametrize("traced_row", rows, ids=[str(r) for r in ROWS])
