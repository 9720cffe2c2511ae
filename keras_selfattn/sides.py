"""The sentences that a text has: one, or the two of a pair."""

from typing import Any

NAMES = ("premise", "hypothesis")

# What the names of the model's inputs for each sentence begin with.
SENTENCE = ("",)
PAIR = tuple(f"{name}_" for name in NAMES)


def of_text(text: Any) -> tuple[str, ...]:
    """`SENTENCE` for a string, `PAIR` for anything else."""
    return SENTENCE if isinstance(text, str) else PAIR


def sentences(text: Any) -> tuple:
    """Tuple of the strings of a text: the text itself, or those of a pair."""
    return (text,) if isinstance(text, str) else tuple(text)
