"""Texts that a tiny model learns in an epoch, and what makes it tiny."""

GOOD, BAD = "good nice great", "bad poor awful"
# Of distinct sizes, and quick to build.
TINY_MODEL = {
    "encoder": "cnn",
    "embedding_dim": 6,
    "units": 5,
    "hidden_units": 7,
    "pooling": "max",
    "attention_penalty": 0.0,
    "dropout": 0.0,
}
TINY = {**TINY_MODEL, "optimizer": "adam"}


def rows(size):
    """Labelled texts, half of them good."""
    words = [text.split() for text in (GOOD, BAD)]
    return [
        (f"the food was {words[n % 2][n % 3]}", ("good", "bad")[n % 2])
        for n in range(size)
    ]
