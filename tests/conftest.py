import gc
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pytest


@pytest.fixture(scope="session")
def real_data():
    """The folder of real corpora; tests that need it are skipped without."""
    folder = os.environ.get("KERAS_SELFATTN_DATA")
    if not folder:
        pytest.skip("KERAS_SELFATTN_DATA does not name a folder of corpora")
    return pathlib.Path(folder)


def pytest_collection_finish():
    # All that has been imported stays: collecting garbage, a tenth of the
    # time otherwise, need not look through it again and again.
    gc.collect()
    gc.freeze()
