import importlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

import keras_selfattn
from keras_selfattn import first_use
from keras_selfattn.first_use import at_first_use

ROOT = pathlib.Path(keras_selfattn.__file__).parent
FACES = sorted(
    ".".join(path.relative_to(ROOT.parent).parent.parts)
    for path in ROOT.rglob("__init__.py")
    if "at_first_use(" in path.read_text(encoding="utf-8")
)

# By module the package that an extra brings it.
NEEDED = {"tuning": "keras_tuner", "wrappers": "sklearn"}


@pytest.mark.parametrize("package", FACES)
def test_every_name_of_a_face_is_there(package):
    face = importlib.import_module(package)
    public = [name for name in dir(face) if not name.startswith("_")]
    assert public
    for name in public:
        if package == "keras_selfattn" and name in NEEDED:
            pytest.importorskip(NEEDED[name])
        getattr(face, name)


def test_users_reach_data_by_attribute():
    assert keras_selfattn.data.DatasetTexts.__name__ == "DatasetTexts"
    adapters = keras_selfattn.data.adapters
    assert adapters.DatasetTexts is keras_selfattn.data.DatasetTexts


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="'keras_selfattn.data'.*'datum'"):
        keras_selfattn.data.datum  # noqa: B018
    with pytest.raises(AttributeError):
        keras_selfattn.__main__  # noqa: B018
    getter, _ = at_first_use("keras_selfattn.data", {"labels": ["nothing"]})
    with pytest.raises(ModuleNotFoundError):
        getter("nothing")


def test_what_is_not_installed_is_said_with_how_to_install_it(monkeypatch):
    assert first_use.import_extra("json", "It", "JSON", "text") is json
    monkeypatch.setitem(sys.modules, "absent", None)
    with pytest.raises(ImportError) as error:
        first_use.import_extra("absent", "A picture", "Absent", "viz")
    assert str(error.value) == (
        'A picture needs Absent: pip install "keras_selfattn[viz]" installs it'
    )


def test_pytorch_s_compiler_is_loaded_before_tensorflow(tmp_path):
    # Stand-ins: the real ones take seconds, and not each PyTorch has one.
    (tmp_path / "triton.py").write_text(
        "import sys\nFIRST = 'tensorflow' not in sys.modules\n"
    )
    (tmp_path / "tensorflow.py").write_text("")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from keras_selfattn import first_use\n"
            "first_use.import_tensorflow()\n"
            "import sys, triton\n"
            "print(triton.FIRST, 'tensorflow' in sys.modules)",
        ],
        env={
            **os.environ,
            "KERAS_BACKEND": "torch",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT.parent)]),
            first_use.OF_COMMAND: "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "True"]
