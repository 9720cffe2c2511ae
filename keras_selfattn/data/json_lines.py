"""JSON Lines: one object a line."""

import json

from keras_selfattn.data.lines import line_error
from keras_selfattn.data.lines import place
from keras_selfattn.data.text_lines import check_columns
from keras_selfattn.data.text_lines import check_text
from keras_selfattn.data.text_lines import read_text_lines
from keras_selfattn.data.values import value


def read_json_lines(path, fields, optional=(), member=None):
    """The records of a file of JSON Lines, whatever the file's name.

    Args:
        path: Path of a file that `keras_selfattn.data.lines.read_lines`
            reads.
        fields: Sequence of the names of the fields to read.
        optional: Sequence of the names of fields that are `""` where they
            are missing.
        member: Name of a file in a `.zip` archive.

    Returns:
        As of `keras_selfattn.data.readers.read_rows`.
    """
    for number, _, record in read_objects(path, fields, (), optional, member):
        yield number, record


def read_objects(path, fields, may_miss=(), optional=(), member=None):
    """The same beside all that the object of a line holds.

    Yields:
        As `keras_selfattn.data.readers.read_table`.
    """
    name = place(path, member)
    for number, line in enumerate(read_text_lines(path, member), 1):
        if not line.strip():
            continue
        columns = {}
        try:
            columns = _object(name, number, line)
            check_columns(name, number, fields, list(columns))
            record = {
                field: value(
                    name, number, field, columns[field], field in may_miss
                )
                for field in fields
            }
            for field in optional:
                given = columns.get(field)
                given = "" if given is None else given
                record[field] = value(name, number, field, given, False)
        except ValueError as error:
            record = error
        yield number, columns, record


def _object(path, number, line):
    check_text(path, number, line)
    try:
        found = json.loads(line)
    # Too deep nesting is no ValueError.
    except (ValueError, RecursionError) as error:
        raise line_error(
            path, number, "a line of JSON", f"{line[:40]!r} ({error})"
        ) from error
    if not isinstance(found, dict):
        raise line_error(path, number, "a JSON object", json.dumps(found))
    return found
