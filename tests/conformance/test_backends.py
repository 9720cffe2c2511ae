"""The whole harness again, on JAX and on torch, each in its own process."""

import pathlib

import pytest

from tests.backends.process import OTHERS
from tests.backends.process import UNOPTIMIZED
from tests.backends.process import python
from tests.backends.process import skip_without

HERE = pathlib.Path(__file__).parent
# The models trace and compile as long as all layers do.
PARTS = {
    "layers": [HERE, HERE.parent / "layers", f"--ignore={HERE / 'models'}"],
    "models": [HERE / "models"],
}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("backend", OTHERS)
def test_every_law_on_another_backend(backend, part):
    skip_without(backend)
    arguments = ("-m", "pytest", "-x", *map(str, PARTS[part]))
    printed = python(backend, *arguments, xla_flags=UNOPTIMIZED)
    assert " passed" in printed
