"""This package's models under the settings that `train` takes by itself."""

import pathlib
import tempfile

import numpy as np

from benchmarks.corpora.texts import CORPORA
from benchmarks.corpora.texts import GLOVE
from benchmarks.corpora.texts import VECTORS
from benchmarks.corpora.texts import data_path
from benchmarks.corpora.texts import read
from benchmarks.opponents.opponent import Watch
from keras_selfattn import data
from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import zoo
from keras_selfattn.cli.own_texts import INSTALLED_VECTORS
from keras_selfattn.cli.own_texts import recipe_for
from keras_selfattn.data.corpora import Texts

# It ships, and its words have vectors.
MODEL = "nli_decomposable"
# Learned from the texts of IMDB where they are not there yet; for IMDB itself
# from those of its training rows alone.
REVIEWS = "runs/imdb_vectors.txt.gz"
TRAINING_REVIEWS = "runs/imdb_training_vectors.txt.gz"
# The recipe's n-grams, which the models that differ in their pooling or encoder
# are without.
_NO_NGRAMS = dict.fromkeys(
    ("ngram_buckets", "character_vocabulary_size", "character_cnn")
)
_OF_ATTENTION = ("attention_dim", "num_heads", "attention_penalty")
_POOLINGS = {
    "structured": {},
    # The recipe's penalty is structured self-attention's.
    "generalized": {"attention_penalty": 0.0},
    "max": dict.fromkeys(_OF_ATTENTION),
    "mean": dict.fromkeys(_OF_ATTENTION),
}
# Filters as wide as both directions of the recipe's BiLSTM.
_ENCODERS = {"bilstm": {}, "cnn": {"encoder": "cnn", "units": 200}}
_TITLES = {
    "structured": "structured self-attention",
    "generalized": "generalized pooling",
    "max": "max pooling",
    "mean": "mean pooling",
    "bilstm": "BiLSTM",
    "cnn": "CNN",
}
# By name the number of sides, the changes of the recipe's model and training
# (`None` drops a value), and the sources of pretrained vectors.
OURS = {
    f"{pooling}_{encoder}": (
        1,
        {"pooling": pooling, **_NO_NGRAMS, **of_pooling, **of_encoder},
        {},
        (),
    )
    for pooling, of_pooling in _POOLINGS.items()
    for encoder, of_encoder in _ENCODERS.items()
}
OURS["decomposable_attention"] = (
    2,
    dict.fromkeys(("ngram_buckets", "ambiguity_penalty", "exact_match")),
    {},
    (),
)
# What the papers claim, beside `structured_bilstm`, `generalized_bilstm`,
# `max_bilstm` and `decomposable_attention`.
_CLAIMS = {
    "structured_bilstm_one_head": ("structured_bilstm", {"num_heads": 1}),
    "structured_bilstm_no_penalty": (
        "structured_bilstm",
        {"attention_penalty": 0.0},
    ),
    "structured_bilstm_pruned": (
        "structured_bilstm",
        {"hidden_units": None, "row_units": 25, "column_units": 20},
    ),
    # Far enough for the kernels, which start further apart than the paper's 1.
    "generalized_bilstm_wide_margin": (
        "generalized_bilstm",
        {"parameter_penalty": 1e-4, "margin": 1000.0},
    ),
    "decomposable_attention_intra": (
        "decomposable_attention",
        {"intra_sentence": True},
    ),
}
for _name, (_base, _changes) in _CLAIMS.items():
    _sides, _model, *_more = OURS[_base]
    OURS[_name] = (_sides, {**_model, **_changes}, *_more)
# What given vectors bring by themselves: the recipe learns others from the
# training texts, and keeps words that none of these has.
_NONE_LEARNED = {"learn_vectors": 0}
_GIVEN_ALONE = {**_NONE_LEARNED, "unseen_words": 0}
OURS["structured_vectors"] = (
    1,
    {"ngram_buckets": None, "ambiguity_penalty": None},
    _GIVEN_ALONE,
    (VECTORS,),
)
OURS["wide"] = (1, {}, {}, ())
OURS["wide_vectors"] = (
    1,
    {"ambiguity_penalty": None},
    _GIVEN_ALONE,
    (VECTORS,),
)
for _name, _given in {
    "": (VECTORS,),
    "_model": (MODEL,),
    "_two": (VECTORS, GLOVE),
    "_learned": (VECTORS, REVIEWS),
    "_installed_learned": (INSTALLED_VECTORS, REVIEWS),
}.items():
    OURS[f"wide_alone{_name}_vectors"] = (1, {}, _GIVEN_ALONE, _given)
OURS["wide_alone_installed_vectors"] = (1, {}, {}, (INSTALLED_VECTORS,))
OURS["wide_alone_only_installed_vectors"] = (
    1,
    {},
    _NONE_LEARNED,
    (INSTALLED_VECTORS,),
)
OURS["decomposable"] = (2, {}, {}, ())
OURS["decomposable_installed_vectors"] = (2, {}, {}, (INSTALLED_VECTORS,))
# By name the number of sides, the shipped model whose weights are the first
# ones, and the corpora it has learned.
STARTS = {
    "from_snli": (2, "snli_decomposable", ("snli", "snli_both")),
    "from_reviews": (1, "reviews_structured", ()),
}
LABELS = {
    **{
        f"{pooling}_{encoder}": f"{_TITLES[encoder]}, {_TITLES[pooling]}"
        for pooling in _POOLINGS
        for encoder in _ENCODERS
    },
    "structured_bilstm_one_head": (
        "BiLSTM, structured self-attention, one head"
    ),
    "structured_bilstm_no_penalty": (
        "BiLSTM, structured self-attention, no penalty"
    ),
    "structured_bilstm_pruned": (
        "BiLSTM, structured self-attention, pruned classifier"
    ),
    "generalized_bilstm_wide_margin": (
        "BiLSTM, generalized pooling, penalty on parameters, margin 1,000"
    ),
    "structured_vectors": (
        "BiLSTM, structured self-attention, characters, fixed word2vec vectors"
    ),
    "wide": "BiLSTM, structured self-attention, n-grams",
    "wide_vectors": (
        "BiLSTM, structured self-attention, characters, fixed word2vec "
        "vectors, n-grams"
    ),
    "wide_alone_vectors": (
        "BiLSTM, structured self-attention, characters, fixed word2vec "
        "vectors, n-grams, each part by itself"
    ),
    "wide_alone_model_vectors": (
        f"BiLSTM, structured self-attention, characters, {MODEL}'s fixed "
        "vectors, n-grams, each part by itself"
    ),
    "wide_alone_installed_vectors": (
        "BiLSTM, structured self-attention, characters, the fixed vectors "
        "that are installed and those of the training texts, n-grams, each "
        "part by itself"
    ),
    "wide_alone_only_installed_vectors": (
        "BiLSTM, structured self-attention, characters, the fixed vectors "
        "that are installed, n-grams, each part by itself"
    ),
    "wide_alone_two_vectors": (
        "BiLSTM, structured self-attention, characters, fixed word2vec and "
        "GloVe vectors, n-grams, each part by itself"
    ),
    "wide_alone_learned_vectors": (
        "BiLSTM, structured self-attention, characters, fixed vectors of "
        "word2vec and of IMDB's texts, n-grams, each part by itself"
    ),
    "wide_alone_installed_learned_vectors": (
        "BiLSTM, structured self-attention, characters, the fixed vectors "
        "that are installed and those of IMDB's texts, n-grams, each part by "
        "itself"
    ),
    "decomposable": "decomposable attention, n-grams",
    "decomposable_attention": "decomposable attention",
    "decomposable_attention_intra": (
        "decomposable attention, with intra-sentence attention"
    ),
    "decomposable_installed_vectors": (
        "decomposable attention, n-grams, the vectors that are installed"
    ),
    "from_snli": "`--from snli_decomposable`",
    "from_reviews": "`--from reviews_structured`",
    "tuned": "the best that `tune` finds",
}


def sides_of(name):
    """How many texts a row of a model's corpus has."""
    if name in {**OURS, **STARTS}:
        return {**OURS, **STARTS}[name][0]
    of_texts = models.get_preset(name).class_name == "SentenceClassifier"
    return 1 if of_texts else 2


def has_learned(name, corpus):
    """Whether a model starts from what has seen dev texts of a corpus."""
    return name in STARTS and corpus in STARTS[name][2]


def settings(name, corpus):
    """All that a run of `OURS`, of `STARTS` or of a preset depends on."""
    if name in STARTS:
        return {"start": STARTS[name][1], "vectors": []}
    if name not in OURS:
        return {"preset": name, "model": {}, "training": {}, "vectors": []}
    sides, model, values, vectors = OURS[name]
    recipe = recipe_for(sides == 2, vectors)
    return {
        "preset": recipe.preset,
        "model": _without_none({**recipe.model, **model}),
        "training": _without_none({**recipe.training, **values}),
        "vectors": [
            TRAINING_REVIEWS
            if (source, corpus) == (REVIEWS, "imdb")
            else source
            for source in vectors
        ],
    }


def search_settings(sides, minutes):
    """All that a search depends on, which starts where `train` would."""
    vectors = [INSTALLED_VECTORS]
    recipe = recipe_for(sides == 2, vectors)
    return {
        "preset": recipe.preset,
        "model": recipe.model,
        "training": recipe.training,
        "search": recipe.search,
        "vectors": vectors,
        "minutes": minutes,
    }


def found_settings(values, chosen):
    """What `settings` would give for what a search has chosen."""
    found = {
        "model": dict(values["model"]),
        "training": dict(values["training"]),
    }
    for name, value in chosen.items():
        kind = "training" if training.is_training_value(name) else "model"
        found[kind][name] = value
    return {
        "preset": values["preset"],
        "vectors": values["vectors"],
        **found,
    }


def _without_none(values):
    return {name: v for name, v in values.items() if v is not None}


def train(values, train_rows, dev_rows, seed):
    """The best model on dev of one training, and what it took."""
    # What must be made first is no part of the training.
    vectors = [_source(each) for each in values["vectors"]]
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch()
        model = training.train(
            values.get("preset"),
            train_rows,
            dev_rows,
            pathlib.Path(folder) / "run",
            vectors=vectors or None,
            seed=seed,
            model_overrides=values.get("model"),
            training_overrides=values.get("training"),
            start=values.get("start"),
            verbose=0,
            keep_checkpoint=False,
        )
        watch.stop()
    return model, _outcome(model, watch)


def _source(name):
    """What `train` takes for a source of vectors."""
    if name in (MODEL, INSTALLED_VECTORS):
        return name
    if name not in (REVIEWS, TRAINING_REVIEWS):
        return data_path(name)
    path = pathlib.Path(name)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = data.Corpus(data_path(CORPORA["imdb"].train), label=None)
        if name == TRAINING_REVIEWS:
            rows, _ = read("imdb")
        words, vectors = data.learn_word_vectors(Texts(rows))
        data.write_word_vectors(path, words, vectors)
    return path


def search(values, train_rows, dev_rows, seed):
    """The best trial's model of a search, and what the search took."""
    from keras_selfattn import tuning

    parts = ("preset", "model", "training", "search")
    recipe = zoo.Recipe(**{name: values[name] for name in parts})
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch()
        model = tuning.search(
            recipe,
            train_rows,
            dev_rows,
            pathlib.Path(folder) / "search",
            minutes=values["minutes"],
            vectors=values["vectors"],
            seed=seed,
        )
        watch.stop()
    record = model.training_record
    chosen = {
        name: record["model"].get(name, record["training"].get(name))
        for name in recipe.search
    }
    return model, {**_outcome(model, watch), "chosen": chosen}


def _outcome(model, watch):
    return {
        "accuracy": model.training_record["dev_accuracy"],
        "seconds": watch.seconds,
        "processor_seconds": watch.processor_seconds,
    }


def answer(model):
    """A function from a text to what the model answers."""
    return lambda text: np.concatenate(
        [rows for _, rows in evaluation.predict(model, [text])]
    )


def accuracy(model, rows):
    """That of labeled texts."""
    return evaluation.evaluate(model, rows).accuracy


def write(model, folder):
    model.save_to_preset(folder / "model")
