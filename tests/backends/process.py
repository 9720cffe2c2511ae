"""Python processes of another backend than this one's."""

import importlib.util
import os
import subprocess
import sys

import pytest

BACKENDS = ("tensorflow", "jax", "torch")
OTHERS = BACKENDS[1:]
# The tests' programs are small: compiling them well takes longer than running
# them.
UNOPTIMIZED = "--xla_backend_optimization_level=0"
# Fusing takes as long as all else, and without it `exp` is less exact.
QUICKLY_COMPILED = f"{UNOPTIMIZED} --xla_cpu_use_fusion_emitters=false"


def skip_without(*backends):
    if os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow":
        pytest.skip("started from the TensorFlow run")
    for backend in backends:
        if importlib.util.find_spec(backend) is None:
            pytest.skip(f"{backend} is not installed")


def python(backend, *arguments, xla_flags=QUICKLY_COMPILED):
    """What Python prints, on a backend, unless it fails."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {xla_flags}"
    done = subprocess.run(
        [sys.executable, *arguments],
        env={
            **os.environ,
            "KERAS_BACKEND": backend,
            "XLA_FLAGS": flags.strip(),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, (
        f"{backend}: {done.stdout[-4000:]}{done.stderr[-3000:]}"
    )
    return done.stdout
