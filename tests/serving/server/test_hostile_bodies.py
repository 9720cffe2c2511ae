"""Requests of any bytes are answered, or refused in JSON."""

import json
import socket
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from tests.hostile import any_json  # noqa: E402
from tests.hostile import changed_json  # noqa: E402
from tests.hostile import damaged  # noqa: E402
from tests.hostile import tried  # noqa: E402
from tests.serving.server.running import ask  # noqa: E402
from tests.serving.server.running import running  # noqa: E402
from tests.serving.server.stand_ins import Pairs  # noqa: E402
from tests.serving.server.stand_ins import Reader  # noqa: E402

BODIES = (
    {"instances": ["good", {"b64": "Z29vZA=="}]},
    {"instances": [{"text": "good \u00e9"}], "signature_name": "attend"},
    {"inputs": {"text": ["good", "bad"]}, "signature_name": "embed"},
    {"instances": [{"premise": "a", "hypothesis": "b"}]},
    {"inputs": {"premise": ["a"], "hypothesis": ["b"]}},
    {"model": 0, "inputs": {"text": ["good food"]}},
    {"model": 1, "inputs": {"premise": ["a b"], "hypothesis": ["b"]}},
)
PATHS = ("/v1/models/reviews:predict", "/v1/models/pairs:predict", "/explain")


@pytest.fixture(scope="module")
def url():
    with running([Reader(), Pairs()]) as url:
        yield url


def answered(url, path, body):
    code, _, text = ask(url, "POST", path, body)
    assert code in (200, 400, 413), (code, text)
    answer = json.loads(text)
    assert list(answer) == ["error"] or code == 200


@tried(300)
@given(
    strategies.sampled_from(PATHS),
    damaged(*(json.dumps(body).encode() for body in BODIES)),
)
def test_any_bytes(url, path, body):
    answered(url, path, body)


@tried(300)
@given(
    strategies.sampled_from(PATHS),
    strategies.sampled_from(BODIES).flatmap(changed_json) | any_json,
)
def test_any_json(url, path, body):
    answered(url, path, json.dumps(body))


@pytest.mark.parametrize("model", [0.0, True, None, [], -1, 10**30, "0"])
def test_models_that_are_not_there(url, model):
    body = {"model": model, "inputs": {"text": ["good food"]}}
    code, _, text = ask(url, "POST", "/explain", body)
    assert code == 400
    assert "There is no model" in json.loads(text)["error"]


@tried(300)
@given(
    damaged(
        b"POST /v1/models/reviews:predict HTTP/1.1\r\nHost: localhost\r\n"
        b'Content-Length: 21\r\n\r\n{"instances": ["bad"]}',
        b"GET /v1/models/reviews/versions/1 HTTP/1.1\r\n"
        b"Host: localhost\r\nConnection: close\r\n\r\n",
        b"POST /explain HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\n{}\r\n0\r\n\r\n",
    )
)
def test_any_request(url, request):
    address = urllib.parse.urlsplit(url)
    with socket.create_connection((address.hostname, address.port), 60) as end:
        end.sendall(request)
        end.shutdown(socket.SHUT_WR)
        answer = end.makefile("rb").read()
    assert b" 500 " not in answer.partition(b"\r\n")[0]
    assert b"Traceback" not in answer
