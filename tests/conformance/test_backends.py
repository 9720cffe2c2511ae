"""The whole harness again, on JAX and on torch, each in its own process."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_every_law_on_another_backend(backend):
    if os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow":
        pytest.skip("started from the TensorFlow run")
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            str(HERE),
            str(HERE.parent / "layers"),
        ],
        env={**os.environ, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
