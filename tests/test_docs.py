"""The site builds, names all that is public, and its snippets run."""

import pathlib
import re
import subprocess
import sys

import pytest

from docs import take_screenshots
from tests import snippets
from tests.chromium import needs_chromium
from tests.public_names import public_names
from tests.tiny_classifier import tiny_classifier

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    path.name
    for path in DOCS.glob("*.md")
    if snippets.snippets(path.read_text(encoding="utf-8"), "python", "sh")
)
# Pages whose readers have read another one.
AFTER = {"own_data.md": ("explaining.md", "serving.md")}
FIRST = sorted({*PAGES}.difference(*AFTER.values()))


def test_every_public_name_is_in_the_reference():
    listed = [
        name
        for path in (DOCS / "reference").glob("*.md")
        for name in re.findall(
            r"^::: (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    ]
    # By itself, or with all of its module.
    missing = {
        name
        for name in public_names() - set(listed)
        if name.rpartition(".")[0] not in listed
    }
    assert sorted(missing) == []
    assert len(set(listed)) == len(listed)


def test_pictures_are_small_and_shown():
    pages = [path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")]
    for path in DOCS.glob("*.png"):
        assert path.stat().st_size < 200_000, path
        assert any(f"({path.name})" in page for page in pages), path


@pytest.mark.slow
def test_the_site_builds(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings_handlers.python")
    command = ["mkdocs", "build", "--strict", "--quiet", "--site-dir"]
    done = subprocess.run(
        [sys.executable, "-m", *command, tmp_path],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    pages = {
        path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*.html")
    }
    anchors = set(re.findall(r' id="([^"]+)"', "".join(pages.values())))
    assert sorted(public_names() - anchors) == []
    for name, page in pages.items():
        # Nothing is asked of another machine.
        assert not re.findall(
            r'<(?:link|script|img)[^>]+="(?:https?:)?//', page
        )
        # Neither Markdown nor a docstring's sections are left as they were.
        for left in (
            "&gt;&gt;&gt;</",
            "<blockquote>",
            "Call arguments:",
            "--8<",
        ):
            assert left not in page, (name, left)
    assert "keras-selfattn predict [-h]" in pages["commands.html"]
    assert "lin2017_yelp_pruned" in pages["presets.html"]
    assert 'href="results/memory.html"' in pages["results.html"]
    assert "Memory at corpus size" in pages["results/memory.html"]


@needs_chromium
@pytest.mark.slow
def test_pictures_are_taken(tmp_path, monkeypatch):
    tiny_classifier(labels=list("12345")).save_to_preset(tmp_path / "model")
    monkeypatch.setattr(take_screenshots, "DOCS", tmp_path)
    figure = tmp_path / "examples" / take_screenshots.FIGURE.name
    figure.parent.mkdir()
    monkeypatch.setattr(take_screenshots, "FIGURE", figure)
    monkeypatch.setattr("sys.argv", ["", str(tmp_path / "model")])
    take_screenshots.main()
    taken = {path.name for path in tmp_path.glob("*.png")}
    assert taken == {path.name for path in DOCS.glob("*.png")}
    for name in taken:
        width, height = size(tmp_path / name)
        assert 500 < width <= 1000 and 200 < height <= 760
    assert min(size(figure)) > 200


def size(path):
    """The width and height of a PNG."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    return tuple(
        int.from_bytes(content[place : place + 4], "big") for place in (16, 20)
    )


def test_pictures_need_chromium(monkeypatch, capsys):
    monkeypatch.setattr(take_screenshots.chromium, "PATH", None)
    take_screenshots.main()
    assert "there is none" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("page", FIRST)
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch):
    snippets.write_corpora(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in (page, *AFTER.get(page, ())):
        snippets.run((DOCS / name).read_text(encoding="utf-8"), name)
