"""Prints the oldest version of each package that setup.py admits.

pip install $(python tests/oldest.py) installs them.
"""

import pathlib
import re
import sys
from unittest import mock

import setuptools

ROOT = pathlib.Path(__file__).parent.parent


def requirements(extras=()):
    """What setup.py asks for, as it is written there."""
    with mock.patch.object(setuptools, "setup") as setup:
        code = (ROOT / "setup.py").read_text(encoding="utf-8")
        exec(
            compile(code, "setup.py", "exec"),
            {"__file__": str(ROOT / "setup.py"), "__name__": "__main__"},
        )
    asked = setup.call_args.kwargs
    names = list(asked["install_requires"])
    for extra in extras:
        names += asked["extras_require"][extra]
    return names


def oldest(requirement):
    """`name==version` of a requirement with a lower bound, or the name."""
    name, version = re.match(
        r"([\w.-]+)(?:[>=]=([\w.]+))?", requirement
    ).groups()
    return f"{name}=={version}" if version else name


if __name__ == "__main__":
    print(*map(oldest, requirements(sys.argv[1:])))
