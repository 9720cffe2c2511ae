"""The trained models that ship, as an installation has them."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import venv
import zipfile

import keras
import numpy as np
import pytest

from keras_selfattn import cli
from keras_selfattn import models
from keras_selfattn import zoo
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.zoo.folders import find_model
from keras_selfattn.zoo.shipped import find_shipped
from tests.backends.process import OTHERS
from tests.backends.process import python
from tests.backends.process import skip_without

ROOT = pathlib.Path(__file__).parents[2]
PAIRS = {
    ("A man sleeps.", "A person is awake."): "contradiction",
    ("A woman is sleeping in a bed.", "A woman runs."): "contradiction",
    ("Two dogs run in the grass.", "Animals are outside."): "entailment",
    ("A boy plays a guitar.", "A boy plays music."): "entailment",
}
PAIR = next(iter(PAIRS))
# All of them together, in the wheel.
MOST_BYTES = 20e6


def test_they_are_listed():
    names = zoo.list_shipped()
    assert "snli_decomposable" in names
    assert models.list_presets(trained=True) == names
    assert not set(names) & set(models.list_presets())
    with pytest.raises(ValueError, match="snli_decomposable.*'large'"):
        zoo.get_shipped("large")


def test_they_are_small():
    files = find_shipped("snli_decomposable").parent.rglob("*")
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


@pytest.mark.parametrize("name", zoo.list_shipped())
def test_its_folder_tells_all_of_it(name):
    folder, shipped = find_shipped(name), zoo.get_shipped(name)
    card = (folder / "README.md").read_text(encoding="utf-8")
    figures = json.loads((folder / "figures.json").read_text())
    sums = json.loads((folder / "checksums.json").read_text())["sha256"]
    files = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert set(sums) == files - {"checksums.json"}
    assert not any(name.endswith(".py") for name in files)
    assert figures.keys() == shipped.dev.keys()
    for key, figure in figures.items():
        assert shipped.dev[key]["accuracy"] == figure["accuracy"]
        right = np.trace(figure["confusion"])
        assert figure["accuracy"] == right / figure["rows"]
        assert f"- {key}: accuracy {figure['accuracy']!r}," in card
    assert f"python -m benchmarks.make_zoo {name}" in card
    right, rows = (
        sum(count(figure["confusion"]) for figure in figures.values())
        for count in (np.trace, np.sum)
    )
    record = json.loads((folder / "config.json").read_text())["training"]
    assert record["dev_accuracy"] == right / rows
    assert f"Its dev accuracy is {right / rows:.2%}." in card
    license = {"CC-BY-SA-4.0": "CC BY-SA 4.0"}.get(
        shipped.license, shipped.license
    )
    assert f"licensed under {license}," in card
    if shipped.license != "Apache-2.0":
        credit = (folder / "ATTRIBUTION.md").read_text(encoding="utf-8")
        assert f"licenses/{shipped.license}.txt" in credit
        assert "GoogleNews" not in credit + card


@pytest.mark.parametrize("name", zoo.list_shipped())
def test_it_answers_and_says_its_labels(name):
    model = models.from_preset(name)
    rows = PAIRS
    if len(model.sides) == 1:
        reviews = generate_reviews(40, seed=99)
        rows = {review.text: review.label for review in reviews}
    answers = model.predict(list(rows), verbose=0).argmax(axis=-1)
    right = [model.labels[each] for each in answers] == np.array(
        list(rows.values())
    )
    assert right.mean() >= 0.75, right


def test_every_changed_byte_is_refused_by_name(tmp_path):
    origin = find_shipped("snli_decomposable")
    folder = tmp_path / "model"
    shutil.copytree(origin, folder)
    names = json.loads((folder / "checksums.json").read_text())["sha256"]
    for name in names:
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        with pytest.raises(ValueError, match=f"{name} is not the file"):
            models.from_preset(folder)
        shutil.copy(origin / name, folder / name)


def test_a_folder_goes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "snli_decomposable"
    assert find_model(name) == find_shipped(name)
    shutil.copytree(find_shipped(name), tmp_path / name)
    assert find_model(name) == pathlib.Path(name)


def test_commands_take_its_name(tmp_path, capsys):
    pair = ["--pair", *PAIR]
    assert cli.main(["predict", "snli_decomposable", *pair]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "contradiction"
    assert cli.main(["explain", "snli_decomposable", *pair]) == 0
    assert "Predicted contradiction" in capsys.readouterr().out
    file = tmp_path / "pairs.csv"
    rows = [f"{p},{h},{label}" for (p, h), label in PAIRS.items()]
    file.write_text("\n".join(["text,pair,label", *rows]) + "\n")
    data = [str(file), "--text-pair=pair"]
    assert cli.main(["evaluate", "snli_decomposable", *data]) == 0
    assert "Accuracy 100.00%" in capsys.readouterr().out
    output = f"--output={tmp_path / 'vectors.npz'}"
    arguments = ["encode", "snli_decomposable", *data, output]
    assert cli.main([*arguments, "--give=probabilities"]) == 0
    with np.load(tmp_path / "vectors.npz") as arrays:
        assert arrays["probabilities"].shape == (4, 3)


@pytest.mark.slow
@pytest.mark.parametrize("backend", OTHERS)
def test_it_answers_alike_on_every_backend(backend):
    skip_without(backend)
    name = "snli_decomposable"
    code = (
        "from keras_selfattn import models; import json;"
        f"model = models.from_preset({name!r});"
        f"print(json.dumps(model.predict({[PAIR]!r}, verbose=0).tolist()))"
    )
    printed = python(backend, "-W", "ignore", "-c", code)
    ours = models.from_preset(name).predict([PAIR], verbose=0)
    assert keras.backend.backend() == "tensorflow"
    np.testing.assert_allclose(json.loads(printed), ours, atol=1e-5)


@pytest.mark.slow
def test_the_wheel_predicts_explains_and_exports_without_a_network(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        source.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source)
    shutil.copytree(
        ROOT / "keras_selfattn", source / "keras_selfattn", ignore=ignored
    )
    build = "from setuptools import build_meta as b; b.build_wheel('..')"
    _run([sys.executable, "-W", "ignore", "-c", build], source)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(installed)
    (installed / "sitecustomize.py").write_text(
        "import socket\n"
        "def connect(*_): raise OSError('there is no network')\n"
        "socket.socket.connect = connect\n"
    )
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    # What it needs is there; the package itself is that of the wheel alone.
    needed = [path for path in sys.path if path.endswith("site-packages")]
    environment = {"PYTHONPATH": os.pathsep.join([str(installed), *needed])}
    command = [str(python), "-m", "keras_selfattn"]
    pair = ["--pair", *PAIR]
    for arguments, shown in (
        (["predict", "snli_decomposable", *pair], "contradiction"),
        (["explain", "snli_decomposable", *pair], "Predicted contradiction"),
        (["export", "snli_decomposable", "served"], "served"),
        (["zoo"], "snli_decomposable"),
    ):
        done = _run([*command, *arguments], tmp_path, environment)
        assert shown in done.stdout
    assert (tmp_path / "served" / "1" / "saved_model.pb").exists()


def _run(arguments, folder, environment=()):
    done = subprocess.run(
        arguments,
        cwd=folder,
        env={**os.environ, **dict(environment)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done
