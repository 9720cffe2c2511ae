import pytest

from tests.conformance.models.dropout import scaled_dropout as scaled_dropout
from tests.conformance.models.table import ROWS


def pytest_generate_tests(metafunc):
    if "model_row" in metafunc.fixturenames:
        rows = [
            pytest.param(
                row,
                marks=[pytest.mark.repeats] if row.repeats else [],
                id=str(row),
            )
            for row in ROWS
        ]
        metafunc.parametrize("model_row", rows)
    # Tracing and compiling take seconds a row.
    if "traced_row" in metafunc.fixturenames:
        rows = [row for row in ROWS if not row.repeats]
        metafunc.parametrize("traced_row", rows, ids=str)
