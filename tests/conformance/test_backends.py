"""The whole harness again, on JAX and on torch, each in its own process."""

import pathlib

import pytest

from tests.backends.process import OTHERS
from tests.backends.process import QUICKLY_COMPILED
from tests.backends.process import UNOPTIMIZED
from tests.backends.process import python
from tests.backends.process import skip_without

HERE = pathlib.Path(__file__).parent
# Numbers near their ends are computed as users have them.
SCALE = HERE / "test_scale.py"
_WIDE = ("test_precisions.py", "test_saving.py", "test_scale.py")
_ROWS = (
    "structured-ngrams",
    "gated-generalized-cnn",
    "characters-exact-match",
    "ngrams-intra-sentence",
)
MARKS = ("-m", "not slow and not repeats")
# The models trace and compile as long as all layers do.
PARTS = {
    "layers": [
        *(HERE, HERE.parent / "layers"),
        *(f"--ignore={HERE / 'models'}", f"--ignore={SCALE}"),
    ],
    "models": [
        HERE / "models",
        *(f"--ignore={HERE / 'models' / name}" for name in _WIDE),
    ],
    # Half precision, files and scale; what all models do alike is asked of a
    # few.
    "files": [
        *(HERE / "models" / name for name in _WIDE),
        *("-k", " or ".join(_ROWS)),
    ],
    # Attention runs in float32 where the policy is of float16.
    "scale": [SCALE, "-k", "not mixed_float16"],
}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("backend", OTHERS)
def test_every_law_on_another_backend(backend, part):
    skip_without(backend)
    printed = python(
        *(backend, "-m", "pytest", "-x", *MARKS, *map(str, PARTS[part])),
        xla_flags=UNOPTIMIZED if part == "scale" else QUICKLY_COMPILED,
    )
    assert " passed" in printed
