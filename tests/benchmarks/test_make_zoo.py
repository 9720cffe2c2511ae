"""Models that ship know all words that have a vector, not those met alone."""

import numpy as np
from keras import ops

from benchmarks.make_zoo import with_all_words
from tests.tiny_classifier import tiny_classifier


def test_a_model_knows_the_other_words_of_its_file(tmp_path):
    model = tiny_classifier(trainable_embeddings=False)
    model.training_record = {"dev_accuracy": 0.5, "vectors": "/elsewhere/a"}
    words = ["superb", "good", "food", "awful"]
    table = np.arange(20, dtype="float32").reshape(4, 5) / 7
    file = tmp_path / "vectors.txt"
    file.write_text(
        "".join(
            f"{word} {' '.join(map(str, row))}\n"
            for word, row in zip(words, table.tolist(), strict=True)
        )
    )
    # As a training with that file gives its words.
    known = model.preprocessor.get_vocabulary()
    vectors, found = np.zeros((len(known), 5), "float32"), np.isin(known, words)
    vectors[found] = [table[words.index(known[k])] for k in np.where(found)[0]]
    model.get_layer("word_vectors").load_vectors(vectors, found)
    larger = with_all_words(model, file)
    assert larger.preprocessor.get_vocabulary() == [*known, "superb", "awful"]
    assert larger.training_record == {
        **model.training_record,
        "vectors": "vectors.txt",
    }
    asked = ["good food", "bad food ."]
    np.testing.assert_allclose(
        larger.predict(asked, verbose=0),
        model.predict(asked, verbose=0),
        rtol=1e-6,
    )
    ids = larger.preprocessor(["superb good awful"])["token_ids"]
    found = ops.convert_to_numpy(larger.get_layer("word_vectors")(ids))
    expected = table[[words.index(w) for w in ("superb", "good", "awful")]]
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)
    superb, awful = larger.predict(["superb food", "awful food"], verbose=0)
    assert np.abs(superb - awful).max() > 1e-5
