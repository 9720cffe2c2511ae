"""Where each token stands in its text."""

from keras_selfattn.controls import clean
from keras_selfattn.text import NULL
from keras_selfattn.text.utf8 import decoded
from keras_selfattn.text.utf8 import encoded

QUOTES = ('"', "“", "”", "``", "''")
# As the tokenizer reads them; each is one character too, so spans fit both.
_APOSTROPHES = str.maketrans("‘’", "''")
# Controls that are white space to the tokenizer.
_SPACES = dict.fromkeys([0x0B, 0x0C, *range(0x1C, 0x20), 0x85], " ")
# The one letter of another length in lower case.
_DOTTED, _LOWERED = "İ", "i\u0307"


def align(text, tokens):
    """Find each token in its text.

    Args:
        text: String.
        tokens: List of strings, in the order of the text.

    Returns:
        The text to show, and a list of the `(start, end)` of each token in
        it. Where more than white space lies between the tokens, the shown
        text is the tokens joined by blanks.

    Example:

    >>> align("I don't.", ["i", "do", "n't", "."])
    ("I don't.", [(0, 1), (2, 4), (4, 7), (7, 8)])
    """
    # As many of them stand for bytes that are no UTF-8 as in the tokens.
    text = decoded(encoded(str(text)))
    shown = clean(text.translate(_SPACES))
    tokens = [clean(token) for token in tokens]
    # It is no word of the text, but has weight, so it must be seen.
    if tokens[:1] == [NULL] and not shown.startswith(NULL):
        shown = f"{NULL} {shown}"
    read = shown.translate(_APOSTROPHES)
    spans = []
    position = 0
    for token in tokens:
        token = token.translate(_APOSTROPHES)
        while shown[position : position + 1].isspace():
            position += 1
        for form in QUOTES if token in QUOTES else _forms(token):
            end = position + len(form)
            if form and read[position:end].casefold() == form.casefold():
                break
        else:
            return _join(tokens)
        spans.append((position, end))
        position = end
    return shown, spans


def _forms(token):
    return token, token.replace(_LOWERED, _DOTTED)


def _join(tokens):
    spans = []
    position = 0
    for token in tokens:
        spans.append((position, position + len(token)))
        position += len(token) + 1
    return " ".join(tokens), spans
