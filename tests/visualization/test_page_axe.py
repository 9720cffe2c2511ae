"""axe-core on the page: what screen readers and weak eyes would miss."""

import pathlib
import shutil
import subprocess
import tarfile

import pytest

from keras_selfattn.visualization import write_html
from tests.chromium import Chromium
from tests.chromium import needs_chromium
from tests.visualization.examples import alignment
from tests.visualization.examples import alignment_with_effects
from tests.visualization.examples import explanation
from tests.visualization.examples import pair
from tests.visualization.examples import with_effects
from tests.visualization.examples import with_features

pytestmark = needs_chromium
KINDS = [
    explanation,
    pair,
    alignment,
    with_features,
    with_effects,
    alignment_with_effects,
]
VERSION = "4.14.1"
TEXT = "they are the worst car detailer in town , and I do n't like them"
CHECK = """
for (const box of document.querySelectorAll("details")) box.open = true;
document.querySelector("span.w").focus();
await new Promise((done) => setTimeout(done, 300));
const found = [];
// With each of the effects shown, too.
for (const button of [null, ...document.querySelectorAll("#shown button")]) {
  button?.click();
  const { violations } = await axe.run({
    rules: { "target-size": { enabled: true } } });
  found.push(...violations.map((each) =>
    [each.id, each.nodes.slice(0, 3).map((node) => node.html)]));
}
return found;
"""


@pytest.fixture(scope="module")
def axe(request):
    folder = pathlib.Path(request.config.cache.mkdir("axe-core"))
    script = folder / "package" / "axe.min.js"
    if not script.exists():
        if shutil.which("npm") is None:
            pytest.skip("no npm to fetch axe-core with")
        fetched = subprocess.run(
            ["npm", "pack", f"axe-core@{VERSION}"],
            cwd=folder,
            capture_output=True,
            timeout=120,
        )
        if fetched.returncode:
            pytest.skip("axe-core can't be fetched")
        with tarfile.open(folder / f"axe-core-{VERSION}.tgz") as archive:
            archive.extract("package/axe.min.js", folder, filter="data")
    return script.read_text(encoding="utf-8")


@pytest.mark.parametrize("at_night_on_a_phone", [False, True])
@pytest.mark.parametrize("make", KINDS)
def test_axe_finds_nothing(axe, tmp_path, make, at_night_on_a_phone):
    items = [make(TEXT), make("a b c d e f g")]
    items[0].label = items[0].labels[0]
    for side in items[0].sides().values():
        side.unread_words = 3
    path = write_html(items, tmp_path / "page.html")
    size = (390, 844) if at_night_on_a_phone else (1000, 800)
    with Chromium(
        tmp_path / "profile",
        *size,
        dark=at_night_on_a_phone,
        phone=at_night_on_a_phone,
    ) as tab:
        tab.open(path)
        assert tab.run(axe + CHECK) == []
