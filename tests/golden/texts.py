"""The texts of the golden files, and what of."""

from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.data.generated_pairs import generate_pairs

# By a run's name its preset and its texts.
GENERATED = {
    "structured_run": ("lin2017_yelp", generate_reviews),
    "decomposable_run": ("parikh2016_snli_intra", generate_pairs),
}


def texts(generate, size, seed):
    return [
        (row.text if hasattr(row, "text") else row[:2], row.label)
        for row in generate(size, seed)
    ]


def few(generate):
    """Texts to ask, one of words that nobody has seen among them."""
    odd = "Zyzzyva, naïve 😀 1,000!"
    rows = [text for text, _ in texts(generate, 4, 9)]
    return [*rows, odd if isinstance(rows[0], str) else (odd, "")]
