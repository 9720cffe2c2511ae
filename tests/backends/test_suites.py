"""The tests of the rooms above the layers again, on JAX and on torch.

`tests/conformance` does so for layers and models.
"""

import pytest

from tests.backends.process import OTHERS
from tests.backends.process import python
from tests.backends.process import skip_without

SUITES = {
    # What is kept in files is the same on all.
    "training": [
        "tests/training",
        "--ignore=tests/training/test_kept_texts.py",
        "--ignore=tests/training/test_shards.py",
    ],
    "tuning": ["tests/tuning"],
    "reproduction": ["tests/reproduction"],
    # What a page does in the browser is the same on all.
    "pictures": [
        "tests/visualization",
        "tests/callbacks",
        "--ignore=tests/visualization/test_page_js.py",
    ],
    "measures": [
        "tests/effects",
        "tests/faithfulness",
        "tests/test_evaluation.py",
        "tests/test_heads.py",
        "tests/test_labels.py",
    ],
    "texts": [
        "tests/text/test_preprocessor.py",
        "tests/models/test_preprocess.py",
        "tests/models/test_raw_texts.py",
        "tests/golden",
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("backend", OTHERS)
def test_a_room_on_another_backend(backend, suite):
    skip_without(backend)
    printed = python(backend, "-m", "pytest", "-x", *SUITES[suite])
    assert " passed" in printed
