"""Checks of arguments that many rooms share, each with one form of message."""

from collections.abc import Iterable
from typing import Any


def integer(value: Any, name: str, least: int = 1) -> int:
    """The value, or `ValueError` unless it is an integer from `least` up."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(
            f"`{name}` must be an integer of {least} or more. "
            f"Received: {name}={value!r}"
        )
    return value


def is_number(value: Any) -> bool:
    """Whether it is an integer or a float; True and False are neither."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def positive(value: Any, name: str) -> float:
    """The value, or `ValueError` unless it is a finite number above 0."""
    if not is_number(value) or not 0 < value < float("inf"):
        raise ValueError(
            f"`{name}` must be a number above 0. Received: {name}={value!r}"
        )
    return value


def integers(values: Any, name: str) -> tuple[int, ...]:
    """A tuple of integers of 1 or more, or `ValueError`."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(
            f"`{name}` must be a sequence of integers of 1 or more. "
            f"Received: {name}={values!r}"
        )
    return tuple(integer(value, name) for value in values)


def widths(values: Any, name: str) -> tuple[int, ...]:
    """The same, of one integer or more."""
    found = integers(values, name)
    if not found:
        raise ValueError(
            f"`{name}` must hold at least one integer. "
            f"Received: {name}={found!r}"
        )
    return found


def fraction(value: Any, name: str) -> float:
    """The value as a float, or `ValueError` unless 0 <= value < 1."""
    if not is_number(value) or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a number from 0 up to, but not including, 1. "
            f"Received: {name}={value!r}"
        )
    return float(value)


def boolean(value: Any, name: str) -> bool:
    """The value, or `ValueError` unless it is True or False."""
    if not isinstance(value, bool):
        raise ValueError(
            f"`{name}` must be True or False. Received: {name}={value!r}"
        )
    return value


def seed(value: Any) -> int | None:
    """The value, or `ValueError` unless it is an integer or None."""
    if isinstance(value, bool) or not isinstance(value, (int, type(None))):
        raise ValueError(
            f"`seed` must be an integer or None. Received: seed={value!r}"
        )
    return value


def one_of(value: Any, choices: Iterable, name: str) -> Any:
    """The value, or `ValueError` unless it is one of the choices."""
    if value not in tuple(choices):
        raise ValueError(
            f"`{name}` must be one of {', '.join(map(repr, choices))}. "
            f"Received: {name}={value!r}"
        )
    return value
