"""What an opponent is, and how its values are chosen."""

import copy
import time


class Opponent:
    """A kind of model, and the small grid that its values are chosen from.

    Args:
        sides: 1 for texts, 2 for pairs of texts.
        large: Whether the corpus is so large that fewer values are tried.

    Attributes:
        label: Its name in tables.
        grid: List of dictionaries of values, of which the best on dev is
            taken.
        is_random: Whether two seeds give two models.
        all_sides: Which `sides` it can do.
        of_reading: The names of the values that `prepare` takes, not `fit`.
    """

    label = ""
    grid = [{}]
    is_random = True
    all_sides = (1, 2)
    of_reading = ()

    def __init__(self, sides, large=False):
        self.sides = sides
        self.large = large

    def prepare(self, texts, **values):
        """Learn from the training texts how to read texts, and read them."""
        return self.read(texts)

    def read(self, texts):
        """The features of texts."""
        return texts

    def fit(self, features, labels, dev, seed, **values):
        """A model with `predict`, from features to labels as integers.

        Args:
            features: What `prepare` gives for the training texts.
            labels: Array of their labels as integers from 0 on.
            dev: The same two of the dev rows, to choose the epoch.
            seed: Integer.
            **values: One of `grid`, without those of `of_reading`.

        Raises:
            FloatingPointError: if training goes beyond all numbers.
        """
        raise NotImplementedError

    def write(self, model, folder):
        """Write all that answering takes into a folder."""
        raise NotImplementedError


def best_of_grid(opponent, train, dev, seed, chosen=None):
    """Train an opponent, with the values that are best on the dev rows.

    Args:
        opponent: An `Opponent`.
        train: Texts and array of labels.
        dev: The same.
        seed: Integer.
        chosen: The values, where they were chosen before.

    Returns:
        The opponent as it reads texts for the model, the model, and a
        dictionary: `accuracy`, `seconds` and
        `processor_seconds` of reading the texts and of training with the
        chosen values, `chosen`, and `tried`, pairs of values and accuracy,
        `None` where training went beyond all numbers.

    Raises:
        FloatingPointError: if it did so with all values.
    """
    (texts, labels), (dev_texts, dev_labels) = train, dev
    best, tried, last = None, [], None
    for values in opponent.grid if chosen is None else [chosen]:
        of_fit = dict(values)
        of_reading = {
            name: of_fit.pop(name)
            for name in opponent.of_reading
            if name in values
        }
        if of_reading != last:
            reading = Watch()
            reader, last = copy.copy(opponent), of_reading
            features = reader.prepare(texts, **of_reading)
            reading.stop()
            dev_features = reader.read(dev_texts)
        training = Watch()
        try:
            model = reader.fit(
                features, labels, (dev_features, dev_labels), seed, **of_fit
            )
        except FloatingPointError:
            tried.append([values, None])
            continue
        training.stop()
        accuracy = float((model.predict(dev_features) == dev_labels).mean())
        tried.append([values, accuracy])
        if best is None or accuracy > best[-1]["accuracy"]:
            outcome = {
                "accuracy": accuracy,
                "seconds": reading.seconds + training.seconds,
                "processor_seconds": (
                    reading.processor_seconds + training.processor_seconds
                ),
                "chosen": values,
            }
            best = reader, model, outcome
    if best is None:
        raise FloatingPointError(f"No values of the grid end: {tried}")
    *found, outcome = best
    if chosen is None:
        outcome["tried"] = tried
    return *found, outcome


class Watch:
    """The seconds between its making and `stop`."""

    def __init__(self):
        self._start = time.perf_counter(), time.process_time()

    def stop(self):
        now = time.perf_counter(), time.process_time()
        self.seconds, self.processor_seconds = (
            end - start for end, start in zip(now, self._start, strict=True)
        )
