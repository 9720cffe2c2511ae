import gc
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if "PYTEST_XDIST_WORKER" in os.environ:
    # A process a core: threads of several would wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    # Small models take JAX far longer to compile than to run, and many tests
    # have the same ones, in whichever process they run.
    _compiled = tempfile.TemporaryDirectory(prefix="compiled_")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _compiled.name
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

import pytest


@pytest.fixture(scope="session")
def real_data():
    """The folder of real corpora; tests that need it are skipped without."""
    folder = os.environ.get("KERAS_SELFATTN_DATA")
    if not folder:
        pytest.skip("KERAS_SELFATTN_DATA does not name a folder of corpora")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """The folder of a small classifier, which no test changes."""
    # Keras is imported once a test needs it.
    from tests.tiny_classifier import tiny_classifier

    folder = tmp_path_factory.mktemp("model") / "model"
    tiny_classifier().save_to_preset(folder)
    return folder


# What takes minutes is begun first, lest one process is left with it alone.
LONGEST = (
    "tests/conformance/test_backends.py",
    "tests/backends/",
    "tests/test_docs.py",
)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_runtest_setup():
    # A test that fails does so again, alone or in another order.
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(0)


def pytest_collection_finish():
    # All that has been imported stays: collecting garbage, a tenth of the
    # time otherwise, need not look through it again and again.
    gc.collect()
    gc.freeze()
