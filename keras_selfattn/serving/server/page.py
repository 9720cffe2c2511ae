"""The page to type into, and what it asks the server."""

import asyncio
import pathlib
import re
import string
import tempfile

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse
from starlette.responses import Response
from starlette.routing import Route

from keras_selfattn.controls import clean
from keras_selfattn.files import packaged_text
from keras_selfattn.serving.server import json_tensors
from keras_selfattn.serving.server import leaving_out
from keras_selfattn.serving.server import rest
from keras_selfattn.serving.server.explaining import explanation
from keras_selfattn.serving.server.explaining import scores_signature
from keras_selfattn.text.utf8 import decoded
from keras_selfattn.visualization.formatting import escape
from keras_selfattn.visualization.page import write_html

# In characters, of all texts that are typed. Its alignment alone would have
# a hundred million weights.
LONGEST_TEXT = 10_000
_TYPES = {"ask.css": "text/css", "ask.js": "text/javascript"}


def routes(served):
    """The routes of the page.

    Args:
        served: Dictionary by name of dictionaries by version of
            `(servable, batcher)`.
    """
    choices = [
        each for versions in served.values() for each in versions.values()
    ]
    page = _page([servable for servable, _ in choices])
    headers = {
        "Content-Security-Policy": _policy(),
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }

    async def home(request):
        return HTMLResponse(page, headers=headers)

    async def asset(request):
        name = request.url.path.lstrip("/")
        return Response(_asset(name), media_type=_TYPES[name], headers=headers)

    async def explain(request):
        try:
            return rest.json_response(await _explain(request, choices))
        except rest.Failure as error:
            return rest.json_response({"error": str(error)}, error.code)

    return [
        Route("/", home),
        *(Route(f"/{name}", asset) for name in _TYPES),
        Route("/explain", explain, methods=["POST"]),
    ]


async def _explain(request, choices):
    """The probabilities of a typed text, and the page of its explanation."""
    body = await rest.read(request)
    try:
        asked = json_tensors.parse(body)
        number = asked.get("model")
        if type(number) is not int or number not in range(len(choices)):
            raise ValueError(f"There is no model {number!r}")
        servable, batcher = choices[number]
        columns = json_tensors.columns(asked, servable.input_names)
    except ValueError as error:
        raise rest.Failure(400, str(error)) from None
    if len(columns[0]) > 1:
        raise rest.Failure(400, "Expected one text, or one pair")
    texts = [decoded(column[0]) for column in columns]
    count = sum(map(len, texts))
    if count > LONGEST_TEXT:
        raise rest.Failure(
            413,
            f"The page shows texts of up to {LONGEST_TEXT:,} characters, and "
            f"this has {count:,}. `:predict` has no such limit.",
        )
    answer, scores = await asyncio.gather(
        rest.ask(batcher, "serving_default", columns),
        rest.ask(batcher, scores_signature(servable), columns),
    )
    seen = explanation(servable, texts, answer, scores)
    return {
        "decided": await _decided(seen, batcher),
        "predicted": seen.predicted,
        "probabilities": [
            {"label": label, "probability": float(probability)}
            for label, probability in zip(
                seen.labels, seen.probabilities, strict=True
            )
        ],
        "html": await run_in_threadpool(_html, [seen], _title(servable)),
    }


async def _decided(seen, batcher):
    """The words that decided, or why they are not told."""
    try:
        columns = leaving_out.without_each_word(seen)
    except ValueError as error:
        return str(error)
    answers = await rest.ask(batcher, "serving_default", columns)
    leaving_out.set_effects(seen, answers["probabilities"])
    return [
        {"word": clean(word), "probability": probability}
        for word, probability in leaving_out.most_effective(seen)
    ]


def _html(explanations, title):
    with tempfile.TemporaryDirectory() as folder:
        path = write_html(
            explanations, pathlib.Path(folder, "page.html"), title
        )
        return path.read_text(encoding="utf-8")


def _title(servable):
    return f"{servable.name}, version {servable.version}"


def _page(servables):
    options = "".join(
        f'<option value="{number}"{" data-pair" * servable.is_pair}>'
        f"{escape(_title(servable))}</option>"
        for number, servable in enumerate(servables)
    )
    return string.Template(_asset("ask.html")).substitute(models=options)


def _policy():
    """What the page may load: its own files, and what explanations hold.

    The explanation of a text is a document of its own within the page, whose
    style and script are in it; the page allows what the document itself does.
    """
    hashes = " ".join(sorted(set(re.findall(r"'sha256-[^']+'", _html([], "")))))
    return (
        f"default-src 'none'; script-src 'self' {hashes}; "
        f"style-src 'self' {hashes}; img-src data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _asset(name):
    return packaged_text(__package__, name)
