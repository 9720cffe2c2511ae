"""Input that nobody means well, for hypothesis."""

import os
import re

import hypothesis
from hypothesis import strategies

# Random inputs for each test in the place of the few that are the same each
# time: `HOSTILE_EXAMPLES=20000 pytest ...`.
_EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "0"))

_SCRAPS = strategies.sampled_from(
    [
        *(b"\x00", b"\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
        *(b"\n", b"\r", b"\r\n", b"\x1b[2J", b"\x85", b" ", b"\t", b"\x1a"),
        *(b'"', b"'", b",", b"{", b"}", b"[", b"]", b":", b"<", b"&", b"("),
        *(b"\\", b"\\ud800", b"\\u0000", b"null", b"NaN", b"-1e999", b"0"),
        *(b"9" * 5000, b"[" * 3000, b'{"a":' * 3000, b"../", b"-1", b"1_0"),
        *(b"\xff" * 8, b"\x00" * 8, b"\xff\xff\xff\x7f"),
    ]
)


def tried(examples=50):
    """The settings of a test, with as many examples unless told otherwise."""
    return hypothesis.settings(
        max_examples=_EXAMPLES or examples,
        derandomize=not _EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )


@strategies.composite
def damaged(draw, *contents):
    """Bytes like one of some contents, changed in some places."""
    content = draw(strategies.sampled_from(contents))
    for _ in range(draw(strategies.integers(1, 4))):
        start = draw(strategies.integers(0, len(content)))
        length = draw(
            strategies.integers(0, 12) | strategies.just(len(content))
        )
        new = draw(
            strategies.just(b"") | strategies.binary(max_size=4) | _SCRAPS
        )
        if draw(strategies.integers(0, 4)) == 0:
            # A piece of the content once more.
            new = content[start : start + 200]
        content = content[:start] + new + content[start + length :]
    return content


def check_line_error(error, path):
    """An error names file and line, what was expected and what came."""
    message = str(error)
    name = re.escape(str(path))
    assert re.fullmatch(rf"{name}\S*:\d+: expected .+, received .*", message), (
        message
    )


any_json = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers()
    | strategies.floats()
    | strategies.text(max_size=8)
    | strategies.sampled_from(
        ["", "\ud800", "\x1b[2J", "../..", 10**30, -1, 0.0, 1e308, [], {}]
    ),
    lambda inner: (
        strategies.lists(inner, max_size=3)
        | strategies.dictionaries(strategies.text(max_size=5), inner)
    ),
    max_leaves=6,
)


@strategies.composite
def changed_json(draw, content):
    """Some content with other values, and without some, in random places."""
    if draw(strategies.integers(0, 4)) == 0:
        return draw(any_json)
    if isinstance(content, dict) and content:
        name = draw(strategies.sampled_from(sorted(content)))
        content = dict(content)
        value = content.pop(name)
        if draw(strategies.integers(0, 5)):
            content[name] = draw(changed_json(value))
        if draw(strategies.integers(0, 9)) == 0:
            content[draw(strategies.text(max_size=5))] = draw(any_json)
        return content
    if isinstance(content, list) and content:
        place = draw(strategies.integers(0, len(content) - 1))
        kept = draw(strategies.booleans())
        value = [draw(changed_json(content[place]))] * kept
        return [*content[:place], *value, *content[place + 1 :]]
    return draw(any_json)
