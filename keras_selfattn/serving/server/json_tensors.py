"""Requests and answers of the predict API, in TensorFlow Serving's JSON.

Forms and messages are those of its `json_tensor.cc`, for inputs that are
strings of shape `(B,)`.
"""

import base64
import binascii
import json

import numpy as np

from keras_selfattn.text.utf8 import decoded
from keras_selfattn.text.utf8 import encoded

ROWS = "instances"
COLUMNS = "inputs"


def parse(body):
    """The object of a request's body.

    Raises:
        ValueError: if it is none.
    """
    if not body:
        raise ValueError("JSON Parse error: The document is empty")
    try:
        request = json.loads(body)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"JSON Parse error: {error.msg} at offset: {error.pos}"
        ) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"JSON Parse error: {error}") from None
    if not isinstance(request, dict):
        raise ValueError(f"JSON Value: {_shown(request)} Is not object")
    return request


def signature_name(request):
    """The signature that a request asks for."""
    name = request.get("signature_name", "")
    if not isinstance(name, str):
        raise ValueError(
            f"JSON Value: {_shown(request)} not formatted correctly. "
            "'signature_name' key must be a string value."
        )
    return name or "serving_default"


def columns(request, names):
    """One list of bytes for each input, in the order of `names`.

    Raises:
        ValueError: if the request has others, or no rows.
    """
    if ROWS in request and COLUMNS in request:
        raise ValueError(
            f"JSON Value: {_shown(request)} Not formatted correctly expecting "
            f"only one of '{COLUMNS}' or '{ROWS}' keys to exist "
        )
    if ROWS in request:
        found = _of_rows(request[ROWS], names)
    elif COLUMNS in request:
        found = _of_columns(request[COLUMNS], names)
    else:
        raise ValueError(f"Missing '{COLUMNS}' or '{ROWS}' key")
    sizes = [len(column) for column in found]
    if not sizes[0]:
        raise ValueError(f"{' and '.join(names)} must have at least one row")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"{' and '.join(names)} must have as many rows: "
            f"{' and '.join(map(str, sizes))}"
        )
    return found


def _of_rows(rows, names):
    if not isinstance(rows, list):
        raise ValueError(
            f"JSON Value: {_shown(rows)} Excepting '{ROWS}' to be an list/array"
        )
    if not rows:
        raise ValueError(f"JSON Value: [] No values in '{ROWS}' array")
    are_objects = _is_object(rows[0])
    if not are_objects and len(names) > 1:
        raise ValueError(
            f"{ROWS} is a plain list, but expecting list of objects as "
            "multiple input tensors required as per tensorinfo_map"
        )
    found = [[] for _ in names]
    for number, row in enumerate(rows):
        if are_objects != _is_object(row):
            expected, got = "object", "list"
            if not are_objects:
                expected, got = "value/list", "object"
            raise ValueError(
                f"Expecting {expected} but got {got} at item {number} of input "
                "list"
            )
        if not are_objects:
            row = {names[0]: row}
        elif set(row) != set(names):
            raise ValueError(
                f"Failed to process element: {number} of '{ROWS}' list. JSON "
                f"object: {_shown(row)} keys must be equal to: "
                f"{','.join(sorted(names))}"
            )
        for column, name in zip(found, names, strict=True):
            try:
                column.append(_bytes(row[name]))
            except ValueError as error:
                raise ValueError(
                    f"Failed to process element: {number} key: {name} of "
                    f"'{ROWS}' list. Error: INVALID_ARGUMENT: {error}"
                ) from None
    return found


def _of_columns(inputs, names):
    if not _is_object(inputs):
        if len(names) > 1:
            raise ValueError(
                f"{COLUMNS} is a plain value/list, but expecting an object as "
                "multiple input tensors required as per tensorinfo_map"
            )
        inputs = {names[0]: inputs}
    found = []
    for name in names:
        if name not in inputs:
            raise ValueError(
                f"Missing named input: {name} in '{COLUMNS}' object."
            )
        if not isinstance(inputs[name], list):
            raise ValueError(
                f"{name} must be a list of strings. "
                f"Received: {_shown(inputs[name])}"
            )
        found.append([_bytes(value) for value in inputs[name]])
    return found


def _is_object(value):
    return isinstance(value, dict) and not _is_base64(value)


def _is_base64(value):
    return (
        isinstance(value, dict)
        and list(value) == ["b64"]
        and isinstance(value["b64"], str)
    )


def _bytes(value):
    if isinstance(value, str):
        return encoded(value)
    if _is_base64(value):
        try:
            return base64.b64decode(value["b64"], validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("Unable to base64 decode") from None
    kinds = {dict: "Object", list: "Array", bool: "Bool", type(None): "Null"}
    raise ValueError(
        f"JSON Value: {_shown(value)} Type: "
        f"{kinds.get(type(value), 'Number')} is not of expected type: string"
    )


def _shown(value, longest=200):
    text = json.dumps(value)
    return text if len(text) <= longest else text[:longest] + "..."


def answer(request, outputs):
    """The answer to a request, in the form that the request had.

    Args:
        request: The parsed request.
        outputs: Dictionary by name of arrays of as many rows.

    Returns:
        A dictionary for JSON. Where there is one output alone its name is
        left out.
    """
    values = {
        name: _values(output, name.endswith("_bytes"))
        for name, output in sorted(outputs.items())
    }
    if COLUMNS in request:
        if len(values) == 1:
            (values,) = values.values()
        return {"outputs": values}
    if len(values) == 1:
        (rows,) = values.values()
    else:
        rows = [
            dict(zip(values, row, strict=True))
            for row in zip(*values.values(), strict=True)
        ]
    return {"predictions": rows}


def _values(output, as_bytes):
    if output.dtype != object:
        # The shortest decimals that are the same float32.
        return output.astype("U32").astype("float64").tolist()
    flat = np.empty(output.size, object)
    flat[:] = [
        {"b64": base64.b64encode(value).decode("ascii")}
        if as_bytes
        else decoded(value)
        for value in output.ravel()
    ]
    return flat.reshape(output.shape).tolist()
