"""Runs one system on one corpus, and measures it."""

import functools
import pathlib
import statistics
import tempfile
import time

import numpy as np

from benchmarks.corpora import ours
from benchmarks.corpora import texts
from benchmarks.opponents import OPPONENTS
from benchmarks.opponents import opponent_class
from benchmarks.opponents.opponent import best_of_grid

ASKED = 50
TUNED = "tuned"


def can(system, corpus):
    """Whether a system is for the texts, or the pairs, of a corpus."""
    sides = texts.sides_of(corpus)
    if system in OPPONENTS:
        return sides in opponent_class(system).all_sides
    if system == TUNED:
        return True
    return sides == ours.sides_of(system) and not ours.has_learned(
        system, corpus
    )


def is_random(system):
    """Whether another seed gives another model."""
    return system not in OPPONENTS or opponent_class(system).is_random


def label(system):
    """The name of a system in tables."""
    if system in OPPONENTS:
        return opponent_class(system).label
    return ours.LABELS.get(system, f"`{system}`")


def opponent_of(system, corpus, rows):
    """An opponent for a corpus, or for its first rows."""
    large = rows is None and texts.CORPORA[corpus].large
    return opponent_class(system)(texts.sides_of(corpus), large)


def settings(system, corpus, rows=None, minutes=None):
    """All that the outcome depends on besides rows, corpus and seed."""
    if system in OPPONENTS:
        return {"grid": opponent_of(system, corpus, rows).grid}
    if system == TUNED:
        return ours.search_settings(texts.sides_of(corpus), minutes)
    return ours.settings(system, corpus)


def run(system, corpus, rows, seed, settings, chosen=None):
    """Train a system and ask it.

    Args:
        system: The name of the system.
        corpus: The name of the corpus.
        rows: The number of training rows, or `None` for all.
        seed: Integer.
        settings: What `settings` gives.
        chosen: The values of an opponent, or of a search, where they were
            chosen before.

    Returns:
        A dictionary of what was measured; with `new_accuracy`, of the
        `new_rows` that are not among the training texts, where some dev rows
        are.
    """
    train, dev = texts.read(corpus)
    train = train[:rows]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if system in OPPONENTS:
            opponent = opponent_of(system, corpus, rows)
            names = sorted({name for _, name in train}, key=str)
            opponent, model, outcome = best_of_grid(
                *(opponent, _columns(train, names), _columns(dev, names)),
                *(seed, chosen),
            )
            opponent.write(model, folder)
            answer = functools.partial(_answer, opponent, model)

            def accuracy(rows):
                asked, labels = _columns(rows, names)
                answers = model.predict(opponent.read(asked))
                return float((answers == labels).mean())
        else:
            do = ours.train
            if system == TUNED and chosen is None:
                do = ours.search
            elif system == TUNED:
                settings = ours.found_settings(settings, chosen)
            model, outcome = do(settings, train, dev, seed)
            ours.write(model, folder)
            answer = ours.answer(model)
            accuracy = functools.partial(ours.accuracy, model)
        size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    known = {text for text, _ in train}
    new = [row for row in dev if row[0] not in known]
    if len(new) < len(dev):
        outcome["new_rows"] = len(new)
        outcome["new_accuracy"] = accuracy(new)
    return {
        **outcome,
        "train_rows": len(train),
        "dev_rows": len(dev),
        "milliseconds": _milliseconds(answer, [text for text, _ in dev]),
        "megabytes": size / 1e6,
    }


def _columns(rows, names):
    """The texts, and their labels as integers: -1 where there is none such."""
    places = {name: place for place, name in enumerate(names)}
    labels = np.array([places.get(name, -1) for _, name in rows])
    return [text for text, _ in rows], labels


def _answer(opponent, model, text):
    return model.predict(opponent.read([text]))


def _milliseconds(answer, asked):
    """The median time of answering one text, from the text on."""
    asked = asked[:ASKED]
    # The first calls make what the later ones use.
    for text in asked:
        answer(text)
    seconds = []
    for text in asked:
        start = time.perf_counter()
        answer(text)
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds)
