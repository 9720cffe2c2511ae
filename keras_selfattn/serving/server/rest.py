"""The routes of TensorFlow Serving's REST API."""

import asyncio
import json
import logging
import re
import urllib.parse

import tensorflow as tf
from starlette.requests import ClientDisconnect
from starlette.requests import Request
from starlette.responses import Response

from keras_selfattn.serving.server import json_tensors
from keras_selfattn.serving.server.batching import Overloaded
from keras_selfattn.serving.server.metadata import metadata
from keras_selfattn.serving.server.metadata import status

_LOG = logging.getLogger(__name__)
# Of a request, in bytes: some ten thousand reviews.
LARGEST_BODY = 1 << 24
_MODEL = r"/v1/models/([^/:]+)(?:/versions/(\d+))?"
_PREDICT = re.compile(rf"{_MODEL}:predict", re.IGNORECASE)
_STATUS = re.compile(rf"{_MODEL}(/metadata)?", re.IGNORECASE)


class Failure(Exception):
    """An answer that is an error.

    Args:
        code: Integer, the HTTP status code.
        message: String.
    """

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class RestApi:
    """An ASGI application for the paths that begin with `/v1`.

    Args:
        served: Dictionary by name of dictionaries by version of
            `(servable, batcher)`.
    """

    def __init__(self, served):
        self._served = served

    async def __call__(self, scope, receive, send):
        request = Request(scope, receive)
        try:
            code, content = 200, await self._answer(request)
        except Failure as error:
            code, content = error.code, {"error": str(error)}
        await json_response(content, code)(scope, receive, send)

    async def _answer(self, request):
        # Escapes stay as they are until the parts of the path are known.
        path = request.scope.get("raw_path", b"").decode("latin-1")
        path = path.partition("?")[0] or request.url.path
        if request.method == "POST" and (match := _PREDICT.fullmatch(path)):
            return await self._predict(request, *match.groups())
        if request.method == "GET" and (match := _STATUS.fullmatch(path)):
            return self._status(*match.groups())
        if request.method == "GET" and path.lower() == "/v1/models":
            raise Failure(400, "Missing model name in request.")
        raise Failure(400, f"Malformed request: {request.method} {path}")

    def _status(self, name, version, about):
        name, version = urllib.parse.unquote(name), _number(version)
        if about:
            return metadata(self._find(name, version)[0])
        versions = self._served.get(name, {})
        if version is not None:
            chosen = [versions[v] for v in versions if v == version]
        else:
            chosen = list(versions.values())
        if not chosen:
            which = "any versions" if version is None else f"version {version}"
            raise Failure(404, f"Could not find {which} of model {name}")
        return status(servable for servable, _ in chosen)

    async def _predict(self, request, name, version):
        body = await read(request)
        servable, batcher = self._find(
            urllib.parse.unquote(name), _number(version)
        )
        try:
            asked = json_tensors.parse(body)
            signature = json_tensors.signature_name(asked)
            if signature not in servable.signatures:
                raise ValueError(
                    f'Serving signature name: "{signature}" not found in '
                    "signature def"
                )
            columns = json_tensors.columns(asked, servable.input_names)
        except ValueError as error:
            raise Failure(400, str(error)) from None
        outputs = await ask(batcher, signature, columns)
        return json_tensors.answer(asked, outputs)

    def _find(self, name, version):
        versions = self._served.get(name, {})
        number = max(versions, default=0) if version is None else version
        if number not in versions:
            which = f"Latest({name})"
            if version is not None:
                which = f"Specific({name}, {version})"
            raise Failure(404, f"Servable not found for request: {which}")
        return versions[number]


def _number(version):
    # Of 64 bits, as there.
    if version is not None and len(version) > 18:
        raise Failure(400, f"Failed to convert version: {version} to numeric.")
    return None if version is None else int(version)


def json_response(content, code=200):
    """A response of JSON, in which half a surrogate pair is an escape."""
    return Response(json.dumps(content), code, media_type="application/json")


async def read(request):
    """The body of a request, or a `Failure`: too large, or not whole."""
    body = bytearray()
    try:
        # A connection that ends before all is read takes the answer along.
        async for part in request.stream():
            if len(body) <= LARGEST_BODY:
                body += part
    except ClientDisconnect:
        raise Failure(
            400, "The client went away before its request was whole"
        ) from None
    if len(body) > LARGEST_BODY:
        raise Failure(
            413,
            f"A request may have {LARGEST_BODY:,} bytes, this one has more",
        )
    return bytes(body)


async def ask(batcher, signature, columns):
    """The outputs of a signature, or a `Failure`."""
    try:
        future = batcher.submit(signature, columns)
        return await asyncio.wrap_future(future)
    except Overloaded as error:
        raise Failure(503, str(error)) from None
    except tf.errors.InvalidArgumentError as error:
        raise Failure(400, error.message) from None
    except Exception:
        _LOG.exception("A model failed")
        raise Failure(
            500, "The model failed; the server's log has why"
        ) from None
