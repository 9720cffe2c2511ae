"""Takes the pictures of the README and the guides.

python -m docs.take_screenshots [MODEL]

MODEL is a folder of a model of reviews; without, the example `lin2017` trains
one.
"""

import base64
import io
import pathlib
import sys
import tempfile
import urllib.parse

from rich.console import Console

from examples import lin2017
from keras_selfattn import models
from keras_selfattn import visualization
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.files import write_bytes
from keras_selfattn.serving.server import servables
from tests import chromium
from tests.serving.server.running import running

DOCS = pathlib.Path(__file__).parent
FIGURE = DOCS.parent / "examples" / "heat_map.png"
ROWS = 200
TERMINAL = """<!DOCTYPE html>
<meta charset="utf-8">
<pre style="font: 15px/1.35 'DejaVu Sans Mono', monospace; width: max-content;
  padding: 16px; color: #ddd; background: #1c1c1c">{code}</pre>
"""


# Until the answer, its words and what decided have come.
ANSWERED = """
for (let i = 0; i < 200; i++) {
  const answer = document.querySelector(".answer");
  if (answer?.querySelector(".decided")?.textContent
      && answer.querySelector("iframe:not(.coming)")
      && !answer.querySelector(".coming")) break;
  await new Promise((done) => setTimeout(done, 50));
}
"""


def of_terminal(model, name, folder, effects=()):
    """What `explain` prints, as an HTML file."""
    (explanation,) = visualization.explain(
        model, [lin2017.TEXT], effects=list(effects)
    )
    console = Console(
        record=True,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        width=90,
    )
    console.print(explanation)
    code = console.export_html(inline_styles=True, code_format="{code}")
    path = folder / f"{name}.html"
    path.write_text(TERMINAL.format(code=code.rstrip()), encoding="utf-8")
    return path


def of_figure(model):
    """Writes the figure of the text that the terminal shows."""
    (explanation,) = visualization.explain(model, [lin2017.TEXT])
    png = io.BytesIO()
    explanation.figure().savefig(png, format="png", dpi=150)
    write_bytes(FIGURE, png.getvalue())
    print(FIGURE)


def of_page(model, folder):
    """The page that `explain --html` writes."""
    reviews = list(generate_reviews(ROWS, seed=1))
    explanations = visualization.explain(
        model,
        [review.text for review in reviews],
        [review.label for review in reviews],
    )
    return visualization.write_html(explanations, folder / "page.html")


def take(place, picture, element, profile, ready=""):
    """Writes a picture of an element of an HTML file or an address."""
    with chromium.Chromium(profile, 1000, 760) as browser:
        browser.open(place)
        browser.run(ready)
        x, y, width, height = browser.run(
            f"const box = document.querySelector({element!r})"
            ".getBoundingClientRect();"
            "return [box.x, box.y, box.width, Math.min(box.height, 760)]"
        )
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        shot = browser.call("Page.captureScreenshot", clip=clip)
    write_bytes(picture, base64.b64decode(shot["data"]))
    print(picture)


def take_all(run, folder):
    """Writes all pictures of the model of a folder."""
    model = models.from_preset(run)
    of_figure(model)
    pages = {
        "explanation": (of_terminal(model, "explanation", folder), "pre"),
        "effects": (
            of_terminal(
                model,
                "effects",
                folder,
                ["leave_one_out", "gradient_x_input"],
            ),
            "pre",
        ),
        "page": (of_page(model, folder), "html"),
    }
    for name, (page, element) in pages.items():
        take(page, DOCS / f"{name}.png", element, folder / f"{name}.chromium")
    servable = servables.load(run)
    servable.warm_up()
    typed = urllib.parse.urlencode({"text": lin2017.TEXT})
    with running([servable], ["127.0.0.1"]) as url:
        take(
            f"{url}/#{typed}",
            DOCS / "serve.png",
            "html",
            folder / "serve.chromium",
            ANSWERED,
        )


def main():
    if chromium.PATH is None:
        print("The pictures are taken in Chromium, and there is none")
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = folder / "reviews"
        if sys.argv[1:]:
            run = sys.argv[1]
        else:
            lin2017.main([f"--output={run}"])
        take_all(run, folder)


if __name__ == "__main__":
    main()
