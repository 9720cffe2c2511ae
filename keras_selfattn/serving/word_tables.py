"""Tables of what depends on a word alone, computed when a file is made."""

# Floats of a table for all words. Beyond these 64 MiB the file would grow more
# than the time is worth.
_LARGEST = 2**24


def is_worth_it(words, width):
    """Whether so many words get a table of rows of so many floats."""
    return words * width <= _LARGEST
