"""The values of fields as strings, whatever a file has them as."""

import json
import math
import numbers

from keras_selfattn.data.lines import line_error

# What programs write where a table has no value.
_MISSING = ("", "nan", "null")


def value(path, number, field, value, may_miss):
    """A field's value as a string.

    Numbers get their shortest form, 5.0 becoming `"5"`, and booleans become
    `"true"` and `"false"`.

    Args:
        path: Path of the file.
        number: Number of the line, from 1.
        field: The name of the field.
        value: What the file holds.
        may_miss: Boolean, whether `None` and NaN give `None`.

    Raises:
        ValueError: if it is none of these.
    """
    if isinstance(value, str):
        # JSON can escape half a character, which no tensor can hold.
        if not value.isascii() and not _encodable(value):
            raise line_error(
                path, number, "whole Unicode characters", json.dumps(value)
            )
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, numbers.Integral):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value) if value.is_integer() else value)
    if may_miss and (value is None or value != value):
        return None
    raise line_error(
        path,
        number,
        f"a string, number or boolean as {field!r}",
        json.dumps(value, default=repr),
    )


def as_text(value):
    """A value of any column as a cell's text.

    Strings stay as they are; numbers, booleans and what holds others become
    JSON; all else, such as dates, what Python writes for it.
    """
    if value is None or isinstance(value, (bool, int, float, list, dict)):
        return as_json(value)
    return _as_string(value)


def as_json(value):
    """A line of JSON, in which numbers that are not finite are null."""
    try:
        return _dumped(value, allow_nan=False)
    except ValueError:
        # A walk in Python would end where JSON's own code reads on.
        read = json.loads(_dumped(value), parse_constant=lambda name: None)
        return _dumped(read)


def _dumped(value, **options):
    return json.dumps(value, ensure_ascii=False, default=_as_string, **options)


def _as_string(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def cell(text):
    """A cell's text; `None` where it says that there is none."""
    return None if text.strip().lower() in _MISSING else text


def _encodable(value):
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
