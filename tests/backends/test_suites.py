"""The tests of the rooms above the layers again, on JAX and on torch.

`tests/conformance` does so for layers and models, `test_commands.py` for
searches and for tables of a paper.
"""

import pytest

from tests.backends.process import OTHERS
from tests.backends.process import python
from tests.backends.process import skip_without

FITTING = "tests/training/test_fitting.py"
TEACHING = "tests/training/test_teaching.py"
SUITES = {
    # What is kept in files, read from corpora and settings, or said, is the
    # same on all.
    "training": [
        "tests/training",
        "--ignore=tests/training/test_building.py",
        "--ignore=tests/training/test_kept_texts.py",
        "--ignore=tests/training/test_odd_corpora.py",
        "--ignore=tests/training/test_preparation.py",
        "--ignore=tests/training/test_shards.py",
        "--ignore=tests/training/test_values.py",
        "--ignore=tests/training/test_word_vectors.py",
        f"--deselect={FITTING}::test_more_weights_than_tokens",
        f"--deselect={TEACHING}::test_the_command_says_what_a_model_has_"
        "learned_from",
    ],
    # What is drawn of what a model is asked is the same on all.
    "models": [
        "tests/visualization/test_alignment.py",
        "tests/visualization/test_deciding.py",
        "tests/visualization/test_explaining.py",
        "tests/visualization/test_sentence.py",
        "tests/callbacks",
        "tests/effects",
        "tests/faithfulness",
        "tests/test_evaluation.py",
        "tests/test_heads.py",
        "tests/test_labels.py",
        "--deselect=tests/test_labels.py::"
        "test_a_served_model_answers_with_their_text",
        "tests/models/test_nested.py",
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
