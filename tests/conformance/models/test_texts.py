"""Law 10: raw texts, with a NULL token or without, give what their ids give."""

import numpy as np
import pytest
from keras import ops

from keras_selfattn.text import TextPreprocessor
from tests.conformance.models.table import ROWS
from tests.conformance.models.table import VOCABULARY
from tests.conformance.models.table import weights_of

pytestmark = pytest.mark.usefixtures("tensorflow_only")

WORDS = ["a", "dog", "runs", "cats", "sleep", "."]
WORDS += ["the", "in", "sun", "park", "bird"]
ROWS_BY_NAME = {str(row): row for row in ROWS}


def test_pairs_start_with_null():
    row = ROWS_BY_NAME["DecomposableClassifier-vanilla"]
    model = row.make()
    model.preprocessor = TextPreprocessor(
        WORDS[:10], lowercase=True, prepend_null=True
    )
    assert model.preprocessor.vocabulary_size() == VOCABULARY
    batch = {
        # 0 padding, 1 unknown, 2 NULL, then the words.
        "premise_token_ids": np.array([[2, 3, 4, 5, 8], [2, 6, 7, 0, 0]]),
        "hypothesis_token_ids": np.array([[2, 1, 0], [2, 9, 12]]),
    }
    pairs = [("A dog runs.", "Zebra"), ("cats sleep", "the park")]
    check(row, model, pairs, batch)


def test_sentences_start_with_their_first_word():
    row = ROWS_BY_NAME["SentenceClassifier-structured"]
    model = row.make()
    model.preprocessor = TextPreprocessor(WORDS, lowercase=True)
    assert model.preprocessor.vocabulary_size() == VOCABULARY
    batch = {"token_ids": np.array([[2, 3, 4, 7], [1, 12, 0, 0]])}
    check(row, model, ["A dog runs.", "Zebra bird"], batch)


def check(row, model, texts, batch):
    inputs = model.preprocess(texts)
    assert set(inputs) == set(batch)
    for name, ids in batch.items():
        np.testing.assert_array_equal(ops.convert_to_numpy(inputs[name]), ids)
    expected = row.solve(weights_of(model), batch).outputs
    np.testing.assert_allclose(
        ops.convert_to_numpy(model(inputs)), expected, rtol=5e-5, atol=5e-6
    )
