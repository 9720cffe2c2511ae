"""How the models that ship are made, and their figures checked."""

import numpy as np
import pytest
from keras import ops

from benchmarks import make_zoo
from benchmarks.make_zoo import with_all_words
from keras_selfattn import zoo
from keras_selfattn.checksums import write_checksums
from keras_selfattn.zoo import shipped
from tests.tiny_classifier import tiny_classifier


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The folder of a model that ships, beside a folder of its name."""
    rows = [("good food", "1"), ("bad food", "two"), ("bad", "gütig")]
    model = tiny_classifier()
    model.training_record = {"dev_accuracy": 0.5}
    trained = tmp_path / "trained"
    model.save_to_preset(trained / "tiny")
    make_zoo.tell(
        "tiny",
        make_zoo.Source("reviews", "Apache-2.0"),
        zoo.Recipe("lin2017_yelp", data="reviews"),
        model,
        rows,
        {"dev": rows},
        make_zoo.evaluate(model, {"dev": rows}),
        trained / "tiny",
    )
    write_checksums(trained / "tiny")
    monkeypatch.setattr(shipped, "_MODELS", trained)
    monkeypatch.setattr(make_zoo, "TRAINED", trained)
    monkeypatch.setattr(make_zoo, "corpora", lambda _: (rows, {"dev": rows}))
    monkeypatch.chdir(tmp_path)
    tiny_classifier(labels=("a", "b")).save_to_preset("tiny")
    return trained / "tiny"


def test_the_figures_are_of_the_model_that_ships(tiny):
    assert make_zoo.check()
    make_zoo.time_again()
    assert make_zoo.check()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("config.json", '"dev_accuracy": 0.', '"dev_accuracy": 1.'),
        ("about.json", '"accuracy": 0.', '"accuracy": 1.'),
        ("figures.json", '"macro_f1": 0.', '"macro_f1": 1.'),
        ("README.md", "% over 3 texts", "% over 4 texts"),
        ("README.md", "dev: accuracy 0.", "dev: accuracy 1."),
    ],
)
def test_each_figure_is_checked(tiny, file, old, new):
    text = (tiny / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tiny / file).write_text(text.replace(old, new), encoding="utf-8")
    write_checksums(tiny)
    assert not make_zoo.check()


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
