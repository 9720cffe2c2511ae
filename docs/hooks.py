"""What the site has from outside of `docs/`; MkDocs loads this file."""

import os
import pathlib
import re
import subprocess
import sys

from mkdocs.structure.files import File
from mkdocs.structure.files import InclusionLevel

ROOT = pathlib.Path(__file__).parent.parent
# Where it lies in the repository, and on the site.
FILES = {
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results.md": "results.md",
    **{
        path.relative_to(ROOT).as_posix(): path.name
        for path in (ROOT / "benchmarks").glob("*.png")
    },
    **{
        path.relative_to(ROOT).as_posix(): f"results/{path.name}"
        for path in (ROOT / "benchmarks" / "results").iterdir()
    },
    **{
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT).as_posix()
        for path in (ROOT / "examples").iterdir()
        if path.is_file()
    },
}
COMMANDS = "<!-- commands -->"


def on_files(files, config):
    for path, place in FILES.items():
        file = File.generated(
            config,
            place,
            abs_src_path=str(ROOT / path),
            inclusion=InclusionLevel.INCLUDED,
        )
        files.append(file)
    return files


def on_page_markdown(markdown, page, config, files):
    # Links lead to the same file in the repository and on the site.
    for path, place in FILES.items():
        markdown = markdown.replace(f"](../{path}", f"]({place}")
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, "\n\n".join(commands()))
    return markdown


def commands():
    """A section of the help of each command."""
    for name in re.findall(r"^    ([a-z]+)\s", ask_help(), flags=re.MULTILINE):
        yield f"## {name}"
        yield f"```text\n{ask_help(name)}```"


def ask_help(*command):
    """What `keras-selfattn ... --help` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "keras_selfattn", *command, "--help"],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "80"},
        text=True,
    )
    return done.stdout
