"""The pieces of texts between whitespace, which texts repeat."""

# At the end of a piece: no word follows it. Whitespace is in no piece.
LAST = "\n"

# About 40 MiB of strings and numbers; of real text, the different pieces of
# some ten thousand pages.
_MOST_PIECES = 2**18
# A piece may be long: that of a text without whitespace is all of it.
_MOST_CHARACTERS = 2**25


def pieces_of(text, count=None):
    """The pieces of a text between whitespace.

    A rule sees nothing of the next word but that there is one: the tokens of
    the pieces, one after the other, are those of the text. Texts repeat their
    pieces, so that each needs to be tokenized once.

    Args:
        text: String.
        count: How many are needed at most, or `None` for all.

    Returns:
        List of strings, at least one. The piece that ends a text has a line
        feed at its end where it matters that no word follows.

    Example:

    >>> pieces_of("J. Fox met J.")
    ['J.', 'Fox', 'met', 'J.\\n']
    """
    # Python's whitespace is what `clean` makes spaces of.
    if count is None:
        pieces = text.split()
    else:
        pieces = text.split(None, count)
        if len(pieces) > count:
            pieces.pop()
            return pieces
    if not pieces:
        return [""]
    # The rules for a period alone tell a space from the end of the text.
    if pieces[-1].endswith("."):
        pieces[-1] += LAST
    return pieces


class Room:
    """Tells when the pieces of texts would take too much memory."""

    def __init__(self):
        self._characters = 0

    def is_full(self, pieces, texts):
        """Whether the pieces are to be dropped.

        Args:
            pieces: Integer, how many different ones there are.
            texts: List of strings, those read since the last call.
        """
        self._characters += sum(map(len, texts))
        return pieces > _MOST_PIECES or self._characters > _MOST_CHARACTERS
