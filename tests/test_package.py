import json
import pathlib
import subprocess
import sys

import pytest

import keras_selfattn

HEAVY = ("keras_tuner", "matplotlib", "rich", "tensorflow_text")
ROOT = pathlib.Path(keras_selfattn.__file__).parent


def test_importing_pulls_in_no_optional_package():
    # Keras itself imports what it finds of some of them.
    code = (
        "import json, sys, keras, tensorflow;"
        "before = set(sys.modules);"
        "import keras_selfattn;"
        "new = set(sys.modules) - before;"
        f"print(json.dumps([m for m in {HEAVY} if m in new]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == []


# As soon as Keras or TensorFlow is looked for, it tells and ends.
SCRIPT = """
import os, sys
before = dict(os.environ)

class Watch:
    def find_spec(self, name, *_):
        if name in ("keras", "tensorflow"):
            assert dict(os.environ) == before
            os.write(2, b"as it was")
            os._exit(0)

sys.meta_path.insert(0, Watch())
import keras_selfattn
"""


@pytest.mark.parametrize("start", [["script.py"], ["-m", "script"]])
def test_importing_leaves_the_process_as_it_was(tmp_path, start):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, *start], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr == "as it was"


def test_every_room_is_an_attribute():
    rooms = {
        path.stem
        for path in ROOT.iterdir()
        if not path.name.startswith("_")
        and (path.suffix == ".py" or (path / "__init__.py").exists())
    } - {"cli"}
    for room in rooms:
        assert (
            getattr(keras_selfattn, room).__name__ == f"keras_selfattn.{room}"
        )
    assert rooms <= set(dir(keras_selfattn))


def test_no_private_keras_names():
    for path in ROOT.rglob("*.py"):
        assert "keras.src" not in path.read_text(), path
