"""`fit` of several processes on JAX, as docs/backends.md shows it."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tests import snippets
from tests.training.test_together import free_addresses

pytest.importorskip("jax")

PAGE = pathlib.Path("docs/backends.md")
# What the page leaves to its readers.
BEFORE = """
from keras_selfattn.data.generated import generate_reviews
rows = [(each.text, each.label) for each in generate_reviews(48, seed=1)]
texts, labels = (list(column) for column in zip(*rows))
"""
AFTER = """
import sys
if number == 0:
    np.savez(sys.argv[1], *model.get_weights())
"""


def start(folder, number, count, address):
    (program,) = (
        code
        for _, code in snippets.snippets(PAGE.read_text(), "text")
        if "DataParallel" in code
    )
    environment = {
        **os.environ,
        "KERAS_BACKEND": "jax",
        "JAX_PLATFORMS": "cpu",
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
        "PROCESS": str(number),
        "PROCESSES": str(count),
        "ADDRESS": address,
    }
    # One device a process, whatever the tests have.
    environment.pop("XLA_FLAGS", None)
    code = f"{BEFORE}\n{program}\n{AFTER}"
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, folder / f"{count}.npz"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_two_processes_are_one(tmp_path):
    processes = []
    for count in (1, 2):
        (address,) = free_addresses(1)
        processes += [
            start(tmp_path, number, count, address) for number in range(count)
        ]
    try:
        for process in processes:
            _, error = process.communicate(timeout=300)
            assert process.returncode == 0, error
    finally:
        for process in processes:
            process.kill()
    with (
        np.load(tmp_path / "1.npz") as alone,
        np.load(tmp_path / "2.npz") as together,
    ):
        assert alone.files == together.files
        for name in alone.files:
            np.testing.assert_allclose(
                together[name], alone[name], rtol=0, atol=1e-5
            )
