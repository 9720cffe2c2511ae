"""Draws the rooms of the package, from its code.

python -m docs.draw_architecture
"""

import ast
import html
import pathlib
import textwrap

from tests.rooms import ROOMS
from tests.rooms import graph
from tests.rooms import modules
from tests.rooms import room

# Small helpers, which every room may use, have one box.
HELPERS = (
    *("first_use", "private_names", "controls", "leftovers", "locks", "files"),
    *("checksums", "streams", "labels", "sides"),
)
# The stations of a text, from the file to the picture.
WAY = ("data", "text", "training", "models", "layers", "visualization")
WIDTH, BOX, HEIGHT, ROW, MARGIN = 1180, 184, 74, 128, 16

STYLE = """
text { font: 12px sans-serif; fill: #555 }
.name { font: bold 14px monospace; fill: #222 }
.station { font: bold 13px sans-serif; fill: #fff }
rect { fill: #f7f7f4; stroke: #999 }
.helpers { fill: none; stroke-dasharray: 4 3 }
path { fill: none; stroke: #bbb; stroke-width: 1.2 }
circle { fill: #b5541c }
"""


def uses():
    """By room the rooms that it imports, helpers aside."""
    found = {name: set() for name in ROOMS if name not in HELPERS}
    for module, others in graph().items():
        for other in others:
            pair = room(module), room(other)
            if pair[0] != pair[1] and all(each in found for each in pair):
                found[pair[0]].add(pair[1])
    return found


def reduced(found):
    """The same without arrows that others imply."""

    def reach(name):
        return found[name].union(*map(reach, found[name]))

    return {
        name: {
            other
            for other in others
            if not any(other in reach(via) for via in others - {other})
        }
        for name, others in found.items()
    }


def rows(found):
    """The rooms by height: each stands above all that it imports."""
    heights = {}
    for name in found:
        below = [heights[other] for other in found[name]]
        heights[name] = 1 + max(below, default=-1)
    return [
        [name for name in found if heights[name] == height]
        for height in range(1 + max(heights.values()))
    ]


def summary(name):
    """The first sentence of a room's docstring."""
    path = modules()[f"keras_selfattn.{name}"]
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return text.splitlines()[0].rstrip(".")


def box(name, x, y):
    is_folder = f"keras_selfattn.{name}.__init__" in modules() or (
        modules()[f"keras_selfattn.{name}"].name == "__init__.py"
    )
    yield f'<rect x="{x}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="5"/>'
    title = name + ("/" if is_folder else ".py")
    yield f'<text class="name" x="{x + 9}" y="{y + 19}">{title}</text>'
    lines = textwrap.wrap(summary(name), 25, max_lines=3, placeholder=" …")
    for number, line in enumerate(lines):
        place = f'x="{x + 9}" y="{y + 36 + 15 * number}"'
        yield f"<text {place}>{html.escape(line)}</text>"


def draw():
    """The drawing, as SVG."""
    found = uses()
    places = {}
    levels = rows(found)
    bottom = MARGIN + ROW * (len(levels) - 1)
    for height, names in enumerate(levels):
        # Above the middle of what they use.
        names.sort(
            key=lambda name: (
                sum(places[each][0] for each in found[name])
                / max(1, len(found[name]))
            )
        )
        gap = (WIDTH - BOX * len(names)) / (len(names) + 1)
        for number, name in enumerate(names):
            x = gap + number * (BOX + gap)
            places[name] = round(x), bottom - ROW * height
    parts = []
    for name, others in reduced(found).items():
        for other in sorted(others):
            (x1, y1), (x2, y2) = places[name], places[other]
            x1, x2, y1 = x1 + BOX // 2, x2 + BOX // 2, y1 + HEIGHT
            bend = (y2 - y1) // 2
            parts.append(
                f'<path d="M{x1} {y1} C{x1} {y1 + bend} {x2} {y2 - bend} '
                f'{x2} {y2}"/>'
            )
    for name, (x, y) in places.items():
        parts += box(name, x, y)
    for number, name in enumerate(WAY, start=1):
        x, y = places[name]
        parts.append(f'<circle cx="{x + BOX - 4}" cy="{y + 4}" r="11"/>')
        parts.append(
            f'<text class="station" x="{x + BOX - 8}" y="{y + 9}">{number}'
            "</text>"
        )
    y = bottom + HEIGHT + 30
    parts.append(
        f'<rect class="helpers" x="{MARGIN}" y="{y}" height="34" rx="5" '
        f'width="{WIDTH - 2 * MARGIN}"/>'
    )
    listed = ", ".join(f"{name}.py" for name in HELPERS)
    parts.append(
        f'<text x="{MARGIN + 10}" y="{y + 22}">used everywhere: {listed}</text>'
    )
    size = f'width="{WIDTH}" height="{y + 34 + MARGIN}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    back = f'<rect {size} style="fill: #fff; stroke: none"/>'
    return "\n".join(
        [head, f"<style>{STYLE}</style>", back, *parts, "</svg>\n"]
    )


def main():
    path = pathlib.Path(__file__).with_name("architecture.svg")
    path.write_text(draw(), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
