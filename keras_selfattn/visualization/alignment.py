"""Where each token stands in its text."""

from keras_selfattn.visualization.formatting import clean

NULL = "[NULL]"
QUOTES = ('"', "“", "”", "``", "''")


def align(text, tokens):
    """Finds each token in the text.

    Args:
        text: str.
        tokens: list of str, in the order of the text.

    Returns:
        A pair: the text to show, and a list of `(start, end)` positions in
        it, one for each token. Where the tokens cannot be found with white
        space alone between them, the shown text is the tokens joined by
        blanks.

    Example:

    >>> align("I don't.", ["i", "do", "n't", "."])
    ("I don't.", [(0, 1), (2, 4), (4, 7), (7, 8)])
    """
    shown = clean(text)
    tokens = [clean(token) for token in tokens]
    # No word of the text, yet it takes weight, so it must be seen.
    if tokens[:1] == [NULL] and not shown.startswith(NULL):
        shown = f"{NULL} {shown}"
    spans = []
    position = 0
    for token in tokens:
        while shown[position : position + 1].isspace():
            position += 1
        for form in QUOTES if token in QUOTES else (token,):
            end = position + len(form)
            if form and shown[position:end].lower() == form.lower():
                break
        else:
            return _join(tokens)
        spans.append((position, end))
        position = end
    return shown, spans


def _join(tokens):
    spans = []
    position = 0
    for token in tokens:
        spans.append((position, position + len(token)))
        position += len(token) + 1
    return " ".join(tokens), spans
