"""Real corpora as arrays of ids, the same for all peers."""

import numpy as np

from benchmarks.corpora.texts import data_path
from benchmarks.peers.workloads import WORKS

_SNLI = "snli/snli_1.0_train_part.jsonl.gz", *("sentence1", "gold_label")
# By name the work, its batch size, how many batches to draw of the corpus
# (None for all), the preset whose vocabulary is made, the corpus, and the
# longest text.
EPOCHS = {
    "SNLI, decomposable attention": (
        *("W4", 32, None, "parikh2016_snli"),
        *((*_SNLI, "sentence2"), 512),
    ),
    "SNLI, generalized pooling": (
        *("W3s", 32, 40, "chen2018_snli"),
        *((*_SNLI, "sentence2"), 512),
    ),
    "IMDB, structured self-attention": (
        *("W1", 32, 40, "lin2017_yelp"),
        *(("imdb/imdb_train.jsonl.gz", "text", "label"), 400),
    ),
}


def write_corpus(name, path):
    """Writes the arrays of one of `EPOCHS`.

    Args:
        name: Its name.
        path: Path of the `.npz` file.

    Returns:
        The `Work`, with the vocabulary of the corpus, and the rows of the
        whole corpus.
    """
    from keras_selfattn import models
    from keras_selfattn import training
    from keras_selfattn.data.batches import EncodedDataset
    from keras_selfattn.data.corpus import Corpus

    work, batch_size, batches, preset, (file, *fields), longest = EPOCHS[name]
    texts = list(Corpus(data_path(file), *fields))
    preset = models.get_preset(preset)
    values = training.training_values(preset, {"max_tokens": longest})
    preprocessor, _ = training.make_preprocessor(
        texts, values, None, preset.model
    )
    rows = len(texts)
    if batches is not None:
        drawn = np.random.default_rng(0).choice(
            rows, batches * batch_size, replace=False
        )
        texts = [texts[row] for row in drawn]
    data = EncodedDataset.from_texts(texts, preprocessor)
    ((features, labels),) = data.batches(
        len(data), boundaries=[data.lengths.max()]
    )
    arrays = {name: ids.numpy() for name, ids in features.items()}
    np.savez(path, labels=labels, **arrays)
    sizes = {
        "vocabulary_size": preprocessor.vocabulary_size(),
        "num_classes": len(data.label_names),
    }
    if preprocessor.character_vocabulary_size():
        sizes["character_vocabulary_size"] = (
            preprocessor.character_vocabulary_size()
        )
    steps = -(-len(data) // batch_size)
    work = WORKS[work].changed(sizes, batch_size=batch_size, fit_steps=steps)
    return work, rows / len(data)
