"""Models for a server that answer at once, by rules of their own."""

import numpy as np

from keras_selfattn.serving.server.servables import Servable

SIGNATURES = ("serving_default", "attend", "embed")


class Reader(Servable):
    """Counts the words "good" and "bad", and looks at them.

    Attributes:
        batches: List of the signature and the texts of each batch so far.
    """

    def __init__(self, name="reviews", version=1, labels=("bad", "good")):
        signatures = dict.fromkeys(SIGNATURES)
        super().__init__(name, version, ["text"], signatures, list(labels))
        self.batches = []

    def run(self, signature, columns):
        (texts,) = columns
        self.batches.append((signature, texts))
        if b"broken" in texts:
            raise RuntimeError("It is broken")
        words = [_words(text) for text in texts]
        if signature == "embed":
            embeddings = [[[len(row), 0.1]] for row in words]
            return {"embedding": np.array(embeddings, "float32")}
        if signature == "serving_default":
            good = np.array([_share(row, b"good") for row in words])
            labels = np.array(self.labels, object)[(good > 0.5).astype(int)]
            labels = [label.encode() for label in labels]
            probabilities = np.stack([1 - good, good], axis=1)
            return {
                "label": np.array(labels, object),
                "probabilities": probabilities.astype("float32"),
            }
        size = max(map(len, words))
        tokens = np.full((len(texts), size), b"", object)
        scores = np.zeros((len(texts), 2, size), "float32")
        for row, found in enumerate(words):
            tokens[row, : len(found)] = found
            for head, wanted in enumerate((b"good", b"bad")):
                weights = np.array([1 + 9 * (word == wanted) for word in found])
                scores[row, head, : len(found)] = weights / weights.sum()
        return {"tokens": tokens, "scores": scores}


class Pairs(Servable):
    """Whether the words of two texts are the same, which look at each other."""

    def __init__(self, name="pairs", version=1):
        signatures = dict.fromkeys(("serving_default", "align"))
        names = ["premise", "hypothesis"]
        super().__init__(name, version, names, signatures, ["same", "other"])

    def run(self, signature, columns):
        words = [[_words(text) for text in column] for column in columns]
        if signature == "serving_default":
            same = [p == h for p, h in zip(*words, strict=True)]
            return {
                "label": np.array([b"same" if s else b"other" for s in same]),
                "probabilities": np.array(
                    [[0.75, 0.25] if s else [0.25, 0.75] for s in same],
                    "float32",
                ),
            }
        sizes = [max(map(len, column)) for column in words]
        rows = len(words[0])
        outputs = {
            f"{name}_tokens": np.full((rows, size), b"", object)
            for name, size in zip(self.input_names, sizes, strict=True)
        }
        for name, (own, other) in (
            ("premise", sizes),
            ("hypothesis", sizes[::-1]),
        ):
            outputs[f"{name}_scores"] = np.zeros((rows, own, other), "float32")
        for row, (premise, hypothesis) in enumerate(zip(*words, strict=True)):
            outputs["premise_tokens"][row, : len(premise)] = premise
            outputs["hypothesis_tokens"][row, : len(hypothesis)] = hypothesis
            for name, own, other in (
                ("premise", premise, hypothesis),
                ("hypothesis", hypothesis, premise),
            ):
                found = outputs[f"{name}_scores"][row]
                found[: len(own), : len(other)] = 1 / len(other)
        return outputs


def _words(text):
    """The words of a text; one without any has a token all the same."""
    return text.split() or [b"[UNK]"]


def _share(words, word):
    known = [each for each in words if each in (b"good", b"bad")]
    return known.count(word) / len(known) if known else 0.4
