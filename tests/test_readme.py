"""Every snippet of the README runs."""

import pathlib
import re
import subprocess

import pytest

from keras_selfattn import models
from tests import snippets

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_python_snippets(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for _, snippet in snippets.snippets(README, "python"):
        exec(compile(snippet, "README.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "(None, 30, 300) (None, 30, None)" in shown
    assert "['1', '2', '3', '4', '5']" in shown


@pytest.mark.slow
def test_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets.write_corpora(tmp_path)
    lines = snippets.commands(README)
    asked = re.findall(
        r"^(?:.*\| )?keras-selfattn (\w+)", "\n".join(lines), re.M
    )
    assert set(asked) == {
        "train",
        "evaluate",
        "predict",
        "explain",
        "tune",
        "reproduce",
        "export",
    }
    snippets.run_commands(lines)


def test_make_knows_its_targets():
    makefile = ROOT / "Makefile"
    for line in snippets.commands(README):
        if line.startswith("make "):
            subprocess.run(
                ["make", "--dry-run", "--file", makefile, line.split()[1]],
                check=True,
                capture_output=True,
                cwd=ROOT,
            )


def test_linked_files_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


@pytest.mark.slow
def test_table_of_presets():
    rows = {
        cells[1].strip(" `"): [cell.strip() for cell in cells[2:-1]]
        for line in README.splitlines()
        if line.startswith("| `") and len(cells := line.split("|")) == 9
    }
    assert list(rows) == models.list_presets()
    for name, cells in rows.items():
        preset = models.get_preset(name)
        model = models.from_preset(
            name, vocabulary_size=2, num_classes=preset.num_classes
        )
        counts = model.parameter_counts()
        del counts["word vectors"]
        counts["all"] = sum(counts.values())
        assert cells[0] == preset.table
        for figure in preset.published.values():
            assert str(figure) in cells[1]
        assert cells[2:] == [f"{count:,}" for count in counts.values()]
        assert preset.parameters == counts["all"]
