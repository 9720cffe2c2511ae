import keras
import pytest

from tests.conformance.table import ROWS

BACKEND = keras.backend.backend()


def pytest_generate_tests(metafunc):
    if "row" in metafunc.fixturenames:
        metafunc.parametrize("row", ROWS, ids=str)


@pytest.fixture
def tensorflow_only():
    if BACKEND != "tensorflow":
        pytest.skip(f"TensorFlow's own; the backend is {BACKEND}")


@pytest.fixture(params=["float32", "mixed_float16", "mixed_bfloat16"])
def policy(request):
    kept = keras.config.dtype_policy()
    keras.config.set_dtype_policy(request.param)
    yield request.param
    keras.config.set_dtype_policy(kept)
