"""Lines as text, and the checks that all readers of records share."""

from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import place
from keras_selfattn.data.lines import read_lines

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Stands for a NUL byte as surrogateescape's others do for bytes of no UTF-8.
_NUL = "\udc00"


def read_text_lines(path, member=None):
    """The lines of a file as strings, one at a time.

    What is no UTF-8 becomes lone surrogates, and so does NUL: `check_text`
    finds them.

    Args:
        path: Path of a file that `keras_selfattn.data.lines.read_lines`
            reads.
        member: Name of a file in a `.zip` archive.
    """
    for number, line in enumerate(read_lines(path, member), 1):
        if number == 1 and line.startswith(_UTF_16):
            raise line_error(
                place(path, member),
                1,
                "UTF-8",
                "UTF-16, which `iconv -f UTF-16 -t UTF-8` rewrites",
            )
        # Spreadsheets put a byte order mark before the first line.
        encoding = "utf-8-sig" if number == 1 else "utf-8"
        text = line.decode(encoding, "surrogateescape")
        # Python 3.10's csv stops at NUL.
        yield text.replace("\0", _NUL)


def check_text(path, number, text):
    """Raises `ValueError` if a line of `read_text_lines` is not all text."""
    if text.isascii():
        return
    if _NUL in text:
        raise line_error(path, number, "text", "a NUL byte")
    try:
        text.encode("utf-8", "surrogateescape").decode()
    except UnicodeDecodeError as error:
        raise line_error(path, number, "UTF-8", str(error)) from error


class MissingColumn(ValueError):
    """A column that was asked for is not there, or is there twice.

    Args:
        message: String.
        field: The name of the column. It may come later, as where the error
            goes from one process to another.
    """

    def __init__(self, message, field=None):
        super().__init__(message)
        self.field = field


def check_columns(path, number, fields, columns):
    """Raises `MissingColumn` unless each field is one of the columns, once."""
    for field in fields:
        if columns.count(field) != 1:
            error = line_error(
                path, number, f"one column {field!r}", f"columns {columns}"
            )
            raise MissingColumn(str(error), field)


class NoRecords(ValueError):
    """A file has no row at all."""


def not_empty(rows, name):
    """The same rows; `NoRecords` where there is none."""
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        error = line_error(name, 1, "at least one record", "none")
        raise NoRecords(*error.args)
