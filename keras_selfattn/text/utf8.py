"""The UTF-8 of any string, and the string of any bytes."""


def encoded(text: str) -> bytes:
    """The bytes of a string.

    Half of a surrogate pair, as cut JSON has it, is no UTF-8: it goes on as
    the bytes that the tokenizer replaces.
    """
    return text.encode("utf-8", "surrogatepass")


def decoded(content: bytes) -> str:
    """The string of bytes, with U+FFFD for what is no UTF-8."""
    return content.decode("utf-8", "replace")
