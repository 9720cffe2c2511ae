"""Makes the trained models that ship, and their dev figures again.

    python -m benchmarks.make_zoo snli_decomposable
    python -m benchmarks.make_zoo --check
    python -m benchmarks.make_zoo --time

The first trains by the recipe of that name on the folder that
KERAS_SELFATTN_DATA names, packs the weights, and writes the model's folder in
`keras_selfattn/zoo/trained`; a run that has been trained is not trained
again. The second evaluates all of them from the files that ship, and compares
each number with the one in the folder and in the card. The third measures how
long each takes for a text, on a machine that does nothing else.
"""

import argparse
import dataclasses
import itertools
import json
import pathlib
import shutil
import statistics
import sys
import time

import numpy as np

import keras_selfattn
from benchmarks.altered_pairs import altered_pairs
from benchmarks.corpora.texts import data_path
from benchmarks.corpus_vectors import write_corpus_vectors
from keras_selfattn import evaluation
from keras_selfattn import models
from keras_selfattn import training
from keras_selfattn import zoo
from keras_selfattn.checksums import CHECKSUMS_FILE
from keras_selfattn.checksums import write_checksums
from keras_selfattn.cli.evaluating import figures
from keras_selfattn.data import formats
from keras_selfattn.data.corpora import Corpora
from keras_selfattn.data.fingerprint import fingerprint
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.data.word_vectors import words_with_vectors
from keras_selfattn.files import read_json
from keras_selfattn.files import replaced_folder
from keras_selfattn.files import write_text
from keras_selfattn.model_card import CARD_FILE
from keras_selfattn.model_card import model_card
from keras_selfattn.models.packed_weights import PACKED_FILE
from keras_selfattn.models.packed_weights import save_packed
from keras_selfattn.models.restarting import restarted
from keras_selfattn.models.weights import WEIGHTS_FILE
from keras_selfattn.zoo.folders import CONFIG_FILE
from keras_selfattn.zoo.shipped import ABOUT_FILE

HERE = pathlib.Path(__file__).parent
TRAINED = pathlib.Path(keras_selfattn.__file__).parent / "zoo" / "trained"
RUNS = pathlib.Path("runs/zoo")
FIGURES_FILE = "figures.json"
# Of accuracy, as a share: what fewer bits may cost.
LARGEST_LOSS = 0.002
TIMED_TEXTS = 200
# How many numbers of a word's vector the co-occurrences of a corpus give.
WIDTH = 150

GLOVE = "vectors/glove.6B.50d_top9163.txt.gz"
SNLI = (
    "snli/snli_1.0_train_part.jsonl.gz",
    "snli/snli_1.0_train_part2.jsonl.gz",
)
SNLI_DEV = {"SNLI dev": "snli/snli_1.0_dev.jsonl.gz"}
MULTINLI = ("multinli/multinli_1.0_train_part.jsonl.gz",)
MULTINLI_DEV = {
    "MultiNLI dev matched, in part": (
        "multinli/multinli_1.0_dev_matched_part.jsonl.gz"
    )
}
INFERENCE = "pairs: entailment, neutral or contradiction"

_SNLI_CREDIT = """\
- The Stanford Natural Language Inference (SNLI) Corpus 1.0, by Samuel R.
  Bowman, Gabor Angeli, Christopher Potts and Christopher D. Manning (EMNLP
  2015), https://nlp.stanford.edu/projects/snli/, licensed under CC BY-SA 4.0
  (licenses/CC-BY-SA-4.0.txt). Its premises are captions of the Flickr30k
  corpus and of the VisualGenome corpus. Part of its training pairs were used.
"""
_MULTINLI_CREDIT = """\
- The Multi-Genre NLI (MultiNLI) Corpus 1.0, by Adina Williams, Nikita Nangia
  and Samuel R. Bowman (NAACL 2018), https://cims.nyu.edu/~sbowman/multinli/.
  Most of it is under the terms of the Open American National Corpus
  (https://anc.org), which allow any use, change and redistribution. Of its
  fiction, "Seven Swords" is licensed under CC BY-SA 3.0
  (licenses/CC-BY-SA-3.0.txt), "Living History" and "Password Incorrect" under
  CC BY 3.0 (licenses/CC-BY-3.0.txt), and the rest is in the public domain in
  the United States. Part of its training pairs were used.
"""
_GLOVE_CREDIT = """\
- GloVe 6B word vectors, by Jeffrey Pennington, Richard Socher and Christopher
  D. Manning (EMNLP 2014), https://nlp.stanford.edu/projects/glove/, under the
  Public Domain Dedication and License 1.0 (licenses/PDDL-1.0.txt). Those of
  9,163 frequent words were used.
"""
_REVIEWS_CREDIT = """\
- Reviews that the package generates (`keras_selfattn.data.generated`).
"""


@dataclasses.dataclass(frozen=True)
class Source:
    """What a model is made from, besides its recipe.

    Attributes:
        task: What it answers, in a few words.
        license: The SPDX name of the license of its weights.
        train: Names of files of the data folder; none for generated reviews.
        dev: Dictionary of file by name, likewise.
        credits: What the attribution says of each source.
        licenses: Names of the texts of licenses that come with it.
        length: Float, the length of each half of a word's vector: an LSTM
            learns from short ones slowly.
        altered: Integer, how many sentences are learned with another number,
            how many with an opposite, and how many denied.
        knows_glove: Boolean, whether it knows all words that have a vector
            of GloVe's, with these as they are, and not those alone that it
            was trained on.
    """

    task: str
    license: str
    train: tuple = ()
    dev: dict = dataclasses.field(default_factory=dict)
    credits: tuple = ()
    licenses: tuple = ()
    length: float = 1.0
    altered: int = 0
    knows_glove: bool = False


_SNLI_SOURCE = Source(
    INFERENCE,
    "CC-BY-SA-4.0",
    SNLI,
    SNLI_DEV,
    (_SNLI_CREDIT, _GLOVE_CREDIT),
    ("CC-BY-SA-4.0", "PDDL-1.0"),
)
SOURCES = {
    "snli_decomposable": dataclasses.replace(_SNLI_SOURCE, altered=400),
    "snli_structured": dataclasses.replace(_SNLI_SOURCE, length=3.0),
    "snli_generalized": dataclasses.replace(_SNLI_SOURCE, length=3.0),
    "nli_decomposable": Source(
        INFERENCE,
        "CC-BY-SA-4.0",
        SNLI + MULTINLI,
        {**SNLI_DEV, **MULTINLI_DEV},
        (_SNLI_CREDIT, _MULTINLI_CREDIT, _GLOVE_CREDIT),
        ("CC-BY-SA-4.0", "CC-BY-SA-3.0", "CC-BY-3.0", "PDDL-1.0"),
    ),
    "reviews_structured": Source(
        "reviews: 1 to 5",
        "Apache-2.0",
        credits=(_REVIEWS_CREDIT, _GLOVE_CREDIT),
        licenses=("PDDL-1.0",),
        knows_glove=True,
    ),
}
REVIEWS = {"train": 16000, "dev": 2000}


def corpora(name):
    """The training texts of a model, and its dev texts by their name."""
    source = SOURCES[name]
    if source.train:
        train = [formats.open_corpus(data_path(file)) for file in source.train]
        if source.altered:
            train.append(altered_pairs(train, source.altered))
        dev = {
            key: formats.open_corpus(data_path(file))
            for key, file in source.dev.items()
        }
        return Corpora(train), dev
    reviews = list(generate_reviews(sum(REVIEWS.values()), seed=0))
    rows = [(review.text, review.label) for review in reviews]
    return rows[: REVIEWS["train"]], {
        "generated dev reviews": rows[REVIEWS["train"] :]
    }


def vectors(name, train):
    """The file of the word vectors that a model learns from."""
    source = SOURCES[name]
    glove = data_path(GLOVE)
    if source.knows_glove:
        return glove
    RUNS.mkdir(parents=True, exist_ok=True)
    kind = name.partition("_")[0]
    path = RUNS / f"{kind}_vectors_{source.length:g}.txt"
    if not path.exists():
        parts = train.corpora[: len(source.train)]
        write_corpus_vectors(path, parts, glove, WIDTH, source.length)
    return path


def make(name):
    """Train a model, pack it, and write its folder."""
    source, recipe = SOURCES[name], zoo.get_recipe(name)
    train, dev = corpora(name)
    run = RUNS / name
    model = training.train(
        recipe.preset,
        train,
        Corpora(dev.values()),
        run,
        vectors=vectors(name, train),
        seed=recipe.seed,
        resume=run.exists(),
        model_overrides=recipe.model,
        training_overrides=recipe.training,
        verbose=2,
    )
    folder = run / "model"
    if source.knows_glove:
        folder = RUNS / f"{name}_all_words"
        model = with_all_words(model, vectors(name, train))
        model.save_to_preset(folder)
    before = evaluation.evaluate(model, Corpora(dev.values())).accuracy
    with replaced_folder(TRAINED / name) as beside:
        shutil.copytree(folder, beside, dirs_exist_ok=True)
        (beside / WEIGHTS_FILE).unlink()
        save_packed(model, beside / PACKED_FILE)
        # They are of the weights that were.
        (beside / CHECKSUMS_FILE).unlink()
        packed = models.from_preset(beside)
        found = evaluate(packed, dev)
        after = evaluation.evaluate(packed, Corpora(dev.values()))
        print(f"{name}: {before:.4%} in float32, {after.accuracy:.4%} packed")
        if before - after.accuracy > LARGEST_LOSS:
            raise SystemExit(f"Packing costs more than {LARGEST_LOSS:.1%}")
        tell(name, source, recipe, packed, train, dev, found, beside)
        write_checksums(beside)
    size = sum(path.stat().st_size for path in (TRAINED / name).rglob("*"))
    print(f"{TRAINED / name}: {size / 1e6:.2f} MB")


def with_all_words(model, file):
    """A model that knows further words, with their vectors of a file."""
    preprocessor = model.preprocessor.extended(words_with_vectors(file))
    result = restarted(model, model.labels, preprocessor)
    # Its path is this machine's.
    result.training_record = {**model.training_record, "vectors": file.name}
    pair = load_word_vectors(file, preprocessor.get_vocabulary())
    result.get_layer("word_vectors").load_vectors(*pair)
    return result


def evaluate(model, dev):
    """The figures on each dev set by its name."""
    return {
        key: figures(evaluation.evaluate(model, rows))
        for key, rows in dev.items()
    }


def tell(name, source, recipe, model, train, dev, found, folder):
    """Write what is known of a model beside its weights."""
    write_text(folder / FIGURES_FILE, _json(found))
    rows = (record[0] for record in next(iter(dev.values())))
    about = {
        "task": source.task,
        "data": recipe.data,
        "license": source.license,
        "dev": {
            key: {"rows": each["rows"], "accuracy": each["accuracy"]}
            for key, each in found.items()
        },
        "milliseconds": round(milliseconds(model, rows), 2),
    }
    write_text(folder / ABOUT_FILE, _json(about))
    record = model.training_record
    whole = evaluation.evaluate(model, Corpora(dev.values()))
    model.training_record = {**record, "dev_accuracy": whole.accuracy}
    # That of the run was of the weights that were.
    config = read_json(folder / CONFIG_FILE)
    config["training"] = model.training_record
    write_text(folder / CONFIG_FILE, _json(config))
    card = model_card(
        model,
        whole,
        {
            "train": fingerprint(train),
            **{key: fingerprint(rows) for key, rows in dev.items()},
        },
        command=["python", "-m", "benchmarks.make_zoo", name],
        licence=recipe.licence,
        limits=recipe.limits,
    )
    lines = [figure_line(key, each) for key, each in found.items()]
    card += "\n## Dev figures of the weights as they are stored\n\n"
    write_text(folder / CARD_FILE, card + "\n".join(lines) + "\n")
    if source.credits:
        text = (
            f"# Attribution\n\n`{name}` was trained, by the package "
            "keras_selfattn, on\n\n"
            + "".join(source.credits)
            + "\nIts weights are an adaptation of them, licensed under "
            f"{source.license}.\n"
        )
        write_text(folder / "ATTRIBUTION.md", text)
    for license in source.licenses:
        (folder / "licenses").mkdir(exist_ok=True)
        shutil.copy(HERE / "licenses" / f"{license}.txt", folder / "licenses")


def figure_line(key, each):
    """A dev set's figures as the card has them, to the last digit."""
    return (
        f"- {key}: accuracy {each['accuracy']!r}, macro F1 "
        f"{each['macro_f1']!r}, {each['rows']:,} rows"
    )


def milliseconds(model, texts):
    """The median time that one text takes."""
    times = []
    for text in itertools.islice(texts, TIMED_TEXTS):
        start = time.perf_counter()
        for _ in evaluation.predict(model, [text]):
            pass
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def check():
    """Whether all figures are those that the shipped files give."""
    same = True
    for name in zoo.list_shipped():
        _, dev = corpora(name)
        folder = TRAINED / name
        model = models.from_preset(folder)
        found = evaluate(model, dev)
        right, rows = (
            sum(count(each["confusion"]) for each in found.values())
            for count in (np.trace, np.sum)
        )
        card = (folder / CARD_FILE).read_text(encoding="utf-8")
        about = zoo.get_shipped(name)
        holds = json.loads((folder / FIGURES_FILE).read_text()) == found
        holds &= model.training_record["dev_accuracy"] == right / rows
        holds &= f"Dev accuracy {right / rows:.2%} over {rows:,} texts" in card
        for key, each in found.items():
            holds &= figure_line(key, each) in card.splitlines()
            holds &= about.dev[key]["accuracy"] == each["accuracy"]
            print(f"{name}, {key}: {each['accuracy']!r}")
        print("the same as in its folder" if holds else "OTHERS in its folder")
        same &= holds
    return same


def time_again():
    """Measure how long each shipped model takes for a text, and write it."""
    for name in zoo.list_shipped():
        folder = TRAINED / name
        _, dev = corpora(name)
        texts = [text for text, _ in next(iter(dev.values()))]
        taken = round(milliseconds(models.from_preset(folder), texts), 2)
        about = json.loads((folder / ABOUT_FILE).read_text(encoding="utf-8"))
        print(f"{name}: {about['milliseconds']} ms, now {taken}")
        about["milliseconds"] = taken
        write_text(folder / ABOUT_FILE, _json(about))
        write_checksums(folder)


def _json(value):
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    for name in options.names:
        if name not in SOURCES:
            parser.error(f"expected some of {', '.join(SOURCES)}, got {name!r}")
        make(name)
    if options.time:
        time_again()
    if options.check and not check():
        sys.exit(1)


if __name__ == "__main__":
    main()
