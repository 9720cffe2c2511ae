"""fastText of Joulin et al., 2017, with its own package."""

import pathlib
import tempfile

import numpy as np

from benchmarks.opponents import pairs
from benchmarks.opponents.opponent import Opponent
from keras_selfattn.first_use import import_extra

_LABEL = "__label__"


class FastText(Opponent):
    """Averaged vectors of words and of hashed 2-grams, and a softmax."""

    label = "fastText"

    @property
    def grid(self):
        return [
            {"lr": lr, "epoch": epochs, "wordNgrams": size}
            for lr in ((0.1, 0.5) if self.large else (0.1, 0.5, 1.0))
            for epochs in ((5, 25) if self.large else (5, 25, 100))
            for size in (1, 2)
        ]

    def read(self, texts):
        return [" ".join(self._words(text)) for text in texts]

    def _words(self, text):
        if self.sides == 1:
            return pairs.tokens(text)
        marked = (
            f"{side}:{word}"
            for side, one in zip("ph", text, strict=True)
            for word in pairs.tokens(one)
        )
        crossed = (
            f"{mine}|{other}"
            for (mine,), (other,) in pairs.across(text, sizes=(1,))
        )
        return *marked, *crossed

    def fit(self, features, labels, dev, seed, **values):
        fasttext = import_extra(
            "fasttext", "This opponent", "fastText", "benchmarks"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train.txt"
            path.write_text(
                "".join(
                    f"{_LABEL}{label} {text}\n"
                    for text, label in zip(features, labels, strict=True)
                ),
                encoding="utf-8",
            )
            try:
                model = fasttext.train_supervised(
                    str(path),
                    # Several threads would give another model each time.
                    **{"dim": 100, "bucket": 100_000, "thread": 1},
                    verbose=0,
                    seed=seed,
                    **values,
                )
            except RuntimeError as error:
                # It is all that fastText says.
                if "NaN" in str(error):
                    raise FloatingPointError(str(error)) from error
                raise
        return _Answers(model)

    def write(self, model, folder):
        model.fitted.save_model(str(folder / "model.bin"))


class _Answers:
    def __init__(self, fitted):
        self.fitted = fitted

    def predict(self, features):
        labels, _ = self.fitted.predict(features)
        return np.array([int(best.removeprefix(_LABEL)) for (best,) in labels])
