"""The examples run, and what they show is there."""

import importlib.util
import json
import os
import pathlib
import re
import runpy
import subprocess
import sysconfig
import venv

import numpy as np
import pytest

from keras_selfattn import models
from tests.serving.families import exported

FOLDER = pathlib.Path(__file__).parent.parent / "examples"

pytestmark = pytest.mark.slow


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, tmp_path, capsys, rows, picture):
    """What an example prints; its files are checked."""
    module = example(name)
    output = tmp_path / "run"
    module.main([f"--rows={rows}", "--epochs=1", f"--output={output}"])
    assert (output / picture).read_bytes().startswith(b"\x89PNG")
    page = (output / "page.html").read_text(encoding="utf-8")
    assert page.count("<article") == min(rows // 10, 200)
    assert models.from_preset(output).labels
    return module, capsys.readouterr().out


def test_lin2017(tmp_path, capsys):
    module, shown = run("lin2017", tmp_path, capsys, 300, "heat_map.png")
    assert "Predicted" in shown
    for method in ("attention", "random", "gradient x input"):
        line = (
            rf"By {re.escape(method)}, \d+% of the most important words decide"
        )
        assert re.search(line, shown)
    for word in module.TEXT.split()[:4]:
        assert word in shown


def test_chen2018(tmp_path, capsys):
    _, shown = run("chen2018", tmp_path, capsys, 300, "features.png")
    assert re.search(r"contradiction: F1 \d+% of \d+ pairs", shown)
    assert "features a head, in 12 groups" in shown


def test_parikh2016(tmp_path, capsys):
    module, shown = run("parikh2016", tmp_path, capsys, 300, "alignments.png")
    title = "The premise (rows) looks at the hypothesis (columns)"
    assert title in " ".join(shown.split())
    assert re.search(r"\d+% of the deciding words look at the word", shown)


def test_the_share_of_words_aligned(monkeypatch):
    module = example("parikh2016")

    class Pair:
        premise, hypothesis = "a b", "c d"
        # The model below looks at the other word.
        alignments = ((1, 0), (1, 1), (0, 1))

    class Explanation:
        class premise:
            # NULL, c and d look at NULL, a and b.
            scores = np.array([[1, 0, 0], [0.2, 0.1, 0.7], [0.8, 0.2, 0]])

    monkeypatch.setattr(
        module.visualization, "explain", lambda model, texts: [Explanation]
    )
    assert module.share_of_words_aligned(None, [Pair]) == 1
    Pair.alignments = ((0, 0), (0, 1))
    assert module.share_of_words_aligned(None, [Pair]) == 0.5


def test_tour(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TOUR_ROWS", "300")
    monkeypatch.setenv("TOUR_EPOCHS", "1")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names = runpy.run_path(str(FOLDER / "tour.py"))
    shown = capsys.readouterr().out
    assert names["explanation"].text in names["PROBE"]
    assert names["page"].read_text("utf-8").count("<article") == 30
    assert set(names["measured"].agreement) == {
        "attention",
        "random",
        "gradient x input",
    }
    assert list(names["logs"].glob("attention/events*"))
    assert names["labels"][0] in names["model"].labels
    assert "heads differ" in shown
    # The first review is the nearest to itself.
    assert f"{names['dev'][0].label} {names['dev'][0].text}" in shown


def test_scikit_learn(capsys):
    pytest.importorskip("sklearn")
    example("scikit_learn").main(size=120)
    shown = capsys.readouterr().out
    assert re.search(r"accuracy of each fold: \[[\d. ]+\]", shown)
    assert "best: {'model_kwargs': {'units':" in shown


@pytest.fixture(scope="session")
def beam_python(pytestconfig):
    """Python of an environment that has Apache Beam, besides what we have.

    It asks for other versions of what TensorFlow and pyarrow have here, so it
    is installed beside them, once for all runs of the tests.
    """
    folder = pytestconfig.cache.mkdir("apache_beam")
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        venv.create(folder, clear=True, with_pip=True)
        installed = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "apache-beam"],
            capture_output=True,
            text=True,
        )
        if installed.returncode:
            reason = installed.stderr.strip().splitlines()[-1:]
            pytest.skip(f"apache-beam can't be installed: {reason}")
        (packages,) = folder.glob("lib/python*/site-packages")
        ours = [sysconfig.get_path("purelib"), str(FOLDER.parent)]
        (packages / "ours.pth").write_text("\n".join(ours))
        (folder / "whole").touch()
    return python


@pytest.mark.skipif(os.name == "nt", reason="Beam's environment is Unix's")
def test_beam_encode(tmp_path, beam_python):
    model, served = exported("single")
    texts = ["the food was good", "bad \U0001f600", "the view wasn't great ."]
    (tmp_path / "part-1").write_text(texts[0] + "\n\n" + texts[1] + "\n")
    (tmp_path / "part-2").write_text(texts[2] + "\n")
    subprocess.run(
        [
            *(beam_python, FOLDER / "beam_encode.py", served.parent),
            *(tmp_path / "part-*", tmp_path / "encoded"),
            "--runner=DirectRunner",
        ],
        check=True,
        cwd=tmp_path,
    )
    rows = [
        json.loads(line)
        for path in tmp_path.glob("encoded*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    rows.sort(key=lambda row: texts.index(row["text"]))
    assert [row["text"] for row in rows] == texts
    expected = model.encode(texts, verbose=0)
    found = [row["embedding"] for row in rows]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    best = model.predict(texts, verbose=0).argmax(-1)
    assert [row["label"] for row in rows] == [model.labels[i] for i in best]
