"""Texts that no one foresaw, for hypothesis."""

import functools

from hypothesis import strategies

# Where the tokenizer's rules meet, at random.
_SCRAPS = strategies.sampled_from(
    [
        *("can't", "''s", "n't", '"', "''", "`", "...", "--", "U.S.", "Mr."),
        *("1,000", "53:11", "R&B", "[", "(", "<", "$", "\u20ac", "\u2019"),
        *("\xa0", "\u3000", "\u0301", "\u200d", "\U0001f468\u200d\U0001f469"),
        *("\ufeff", "\u202e", " ", "\n", "\x00", "\x01", "[UNK]", "[NULL]"),
    ]
)

_TEXTS = strategies.one_of(
    strategies.binary(max_size=60),
    strategies.text(max_size=60).map(
        lambda text: text.encode("utf-8", "surrogatepass")
    ),
    strategies.text(
        strategies.characters(categories=["Cs", "Mn", "Cf", "So", "Zs"]),
        max_size=20,
    ).map(lambda text: text.encode("utf-8", "surrogatepass")),
    strategies.lists(_SCRAPS, max_size=30).map(lambda s: "".join(s).encode()),
    strategies.builds(
        lambda text, times: text * times,
        strategies.binary(min_size=1, max_size=4),
        strategies.integers(1, 300),
    ),
)


@functools.cache
def batches(sides, min_size=1, max_size=6):
    """Lists of texts, or of pairs of texts where `sides` is 2."""
    row = _TEXTS if sides == 1 else strategies.tuples(_TEXTS, _TEXTS)
    return strategies.lists(row, min_size=min_size, max_size=max_size)
