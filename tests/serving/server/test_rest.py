"""What a client of TensorFlow Serving's REST API is answered."""

import asyncio
import base64
import json
import socket

import numpy as np
import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from keras_selfattn.serving.server import json_tensors  # noqa: E402
from keras_selfattn.serving.server import rest  # noqa: E402
from keras_selfattn.serving.server.application import application  # noqa: E402
from keras_selfattn.serving.server.application import hosts_of  # noqa: E402
from keras_selfattn.serving.server.application import listening  # noqa: E402
from tests.serving.server.running import ask  # noqa: E402
from tests.serving.server.running import running  # noqa: E402
from tests.serving.server.stand_ins import Pairs  # noqa: E402
from tests.serving.server.stand_ins import Reader  # noqa: E402

GOOD = {"label": "good", "probabilities": [0.0, 1.0]}
BAD = {"label": "bad", "probabilities": [1.0, 0.0]}


@pytest.fixture(scope="module")
def url():
    servables = [Reader(), Reader(version=3, labels=("no", "yes")), Pairs()]
    with running(servables) as url:
        yield url


def get(url, path, method="GET"):
    code, headers, text = ask(url, method, path)
    assert headers["content-type"] == "application/json"
    return code, json.loads(text)


def predict(url, body, model="reviews", code=200):
    found, headers, text = ask(url, "POST", f"/v1/models/{model}:predict", body)
    assert headers["content-type"] == "application/json"
    assert found == code, text
    answer = json.loads(text)
    if code != 200:
        assert list(answer) == ["error"]
        return answer["error"]
    return answer


def test_rows(url):
    body = {"instances": ["good", "bad"]}
    one = "reviews/versions/1"
    assert predict(url, body, one) == {"predictions": [GOOD, BAD]}
    body = {"instances": [{"text": "good"}, {"text": "bad"}]}
    assert predict(url, body, one) == {"predictions": [GOOD, BAD]}
    answer = predict(url, body)
    assert [row["label"] for row in answer["predictions"]] == ["yes", "no"]


def test_columns(url):
    expected = {
        "outputs": {
            "label": ["good", "bad"],
            "probabilities": [[0.0, 1.0], [1.0, 0.0]],
        }
    }
    one = "reviews/versions/1"
    for inputs in (["good", "bad"], {"text": ["good", "bad"]}):
        assert predict(url, {"inputs": inputs}, one) == expected


def test_pairs_by_row_and_column(url):
    rows = [
        {"premise": "a b", "hypothesis": "a b"},
        {"premise": "a b", "hypothesis": "c"},
    ]
    answer = predict(url, {"instances": rows}, "pairs")
    assert [row["label"] for row in answer["predictions"]] == ["same", "other"]
    columns = {"premise": ["a b", "a b"], "hypothesis": ["a b", "c"]}
    answer = predict(url, {"inputs": columns}, "pairs")
    assert answer["outputs"]["label"] == ["same", "other"]


def test_signatures(url):
    body = {"signature_name": "attend", "inputs": ["good food", "a"]}
    outputs = predict(url, body)["outputs"]
    assert outputs["tokens"] == [["good", "food"], ["a", ""]]
    assert np.shape(outputs["scores"]) == (2, 2, 2)
    assert outputs["scores"][1] == [[1.0, 0.0], [1.0, 0.0]]
    # An output alone has no name, and the digits are those of a float32.
    body = {"signature_name": "embed", "instances": ["good food"]}
    assert predict(url, body) == {"predictions": [[[2.0, 0.1]]]}
    body = {"signature_name": "embed", "inputs": ["good food"]}
    assert predict(url, body) == {"outputs": [[[2.0, 0.1]]]}


def test_bytes(url):
    text = {"b64": base64.b64encode(b"good \xff").decode()}
    for body in ({"instances": [text]}, {"inputs": {"text": [text]}}):
        body["signature_name"] = "attend"
        assert "good" in json.dumps(predict(url, body))
    body = {"instances": [{"b64": "%"}]}
    assert "Unable to base64 decode" in predict(url, body, code=400)
    answer = json_tensors.answer(
        {"instances": []},
        {"image_bytes": np.array([b"\xff"], object)},
    )
    assert answer == {"predictions": [{"b64": "/w=="}]}


def test_half_a_surrogate_pair_is_answered(url):
    answer = predict(url, '{"instances": ["good \\ud800"]}')
    assert answer["predictions"][0]["label"] == "yes"
    body = '{"signature_name": "\\ud800", "instances": ["good"]}'
    assert "\ud800" in predict(url, body, code=400)


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("", "JSON Parse error: The document is empty"),
        ("instances = [1]", "JSON Parse error: "),
        (b"\xff", "JSON Parse error: "),
        ("[" * 100_000, "JSON Parse error: "),
        ("[]", "JSON Value: [] Is not object"),
        ("{}", "Missing 'inputs' or 'instances' key"),
        ({"instances": ["a"], "inputs": ["a"]}, "expecting only one of"),
        ({"instances": "a"}, "Excepting 'instances' to be an list/array"),
        ({"instances": []}, "No values in 'instances' array"),
        ({"inputs": []}, "text must have at least one row"),
        ({"inputs": "a"}, "text must be a list of strings"),
        ({"instances": [1]}, "Type: Number is not of expected type: string"),
        ({"inputs": [None]}, "Type: Null is not of expected type: string"),
        ({"instances": [["a"]]}, "Type: Array is not of expected type"),
        ({"instances": [{"x": "a"}]}, "keys must be equal to: text"),
        ({"instances": ["a", {"text": "a"}]}, "got object at item 1"),
        ({"instances": [{"text": "a"}, "a"]}, "got list at item 1"),
        ({"inputs": {"x": ["a"]}}, "Missing named input: text in 'inputs'"),
        (
            {"instances": ["a"], "signature_name": "x"},
            'Serving signature name: "x" not found in signature def',
        ),
        ({"instances": ["a"], "signature_name": 1}, "must be a string value"),
    ],
)
def test_malformed_requests(url, body, part):
    assert part in predict(url, body, code=400)


def test_malformed_pairs(url):
    for body, part in (
        ({"instances": ["a"]}, "instances is a plain list"),
        ({"inputs": ["a"]}, "inputs is a plain value/list"),
        (
            {"inputs": {"premise": ["a", "b"], "hypothesis": ["a"]}},
            "premise and hypothesis must have as many rows: 2 and 1",
        ),
    ):
        assert part in predict(url, body, "pairs", code=400)


def test_models_and_paths_that_there_are_not(url):
    body = {"instances": ["a"]}
    for model, which in (
        ("half", "Latest(half)"),
        ("reviews/versions/2", "Specific(reviews, 2)"),
        ("a%20b", "Latest(a b)"),
    ):
        expected = f"Servable not found for request: {which}"
        assert predict(url, body, model, code=404) == expected
    error = predict(url, body, f"reviews/versions/{'9' * 5000}", code=400)
    assert error.startswith("Failed to convert version: 999")
    for method, path in (
        ("GET", "/v1/models/reviews:predict"),
        ("POST", "/v1/models/reviews"),
        ("POST", "/v1/models/reviews:classify"),
        ("GET", "/v1/foo"),
        ("PUT", "/v1/models/reviews:predict"),
    ):
        error = f"Malformed request: {method} {path}"
        assert get(url, path, method) == (400, {"error": error})
    error = "Missing model name in request."
    assert get(url, "/v1/models") == (400, {"error": error})


def test_status(url):
    def version(number):
        return {
            "version": str(number),
            "state": "AVAILABLE",
            "status": {"error_code": "OK", "error_message": ""},
        }

    for path, numbers in (("", (1, 3)), ("/versions/3", (3,))):
        versions = [version(number) for number in numbers]
        expected = 200, {"model_version_status": versions}
        assert get(url, f"/v1/models/reviews{path}") == expected
    for path, error in (
        ("half", "Could not find any versions of model half"),
        ("reviews/versions/2", "Could not find version 2 of model reviews"),
    ):
        assert get(url, f"/v1/models/{path}") == (404, {"error": error})


def test_a_large_body_is_refused(url, monkeypatch):
    monkeypatch.setattr(rest, "LARGEST_BODY", 1000)
    body = {"instances": ["good " * 300]}
    assert "1,000 bytes" in predict(url, body, code=413)
    # What is left unread when the connection ends would take the answer along.
    body = {"instances": ["good " * 5_000_000]}
    path = "/v1/models/reviews:predict"
    assert ask(url, "POST", path, body, connection="close")[0] == 413


@pytest.mark.parametrize("path", ["/v1/models/reviews:predict", "/explain"])
def test_a_client_that_goes_away_is_no_error_of_the_server(path):
    # An exception here is a traceback in the server's log.
    parts = [
        {"type": "http.request", "body": b'{"inst', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent = []

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"content-length", b"100")],
    }
    asyncio.run(application([Reader()])(scope, receive, send))
    assert not parts
    assert sent[0]["status"] == 400


def test_errors_of_a_model(url):
    # The server goes on, and what went wrong inside is not told.
    error = predict(url, {"instances": ["broken"]}, code=500)
    assert "broken" not in error
    assert predict(url, {"instances": ["good"]})


def test_hosts():
    path = "/v1/models/reviews"
    with running([Reader()], ["localhost", "127.0.0.1"]) as url:
        for host, code in (
            ("localhost:8501", 200),
            ("127.0.0.1", 200),
            ("elsewhere.example", 400),
        ):
            assert ask(url, "GET", path, host=host)[0] == code


def test_a_server_has_the_name_that_it_was_given():
    # That of a machine may lead to an address of its own.
    hosts = hosts_of("Laptop", "127.0.1.1")
    assert {"laptop", "127.0.1.1", "localhost", "127.0.0.1"} <= {*hosts}
    assert hosts_of("laptop", "192.168.0.2") is None
    with running([Reader()], hosts) as url:
        for host in ("laptop:8501", "127.0.1.1", "[::1]:8501", "[::1]"):
            assert ask(url, "GET", "/v1/models/reviews", host=host)[0] == 200


def test_answers_are_sent_at_once():
    # asyncio turns Nagle's algorithm off for these alone.
    with listening("127.0.0.1", 0) as sock:
        assert sock.proto == socket.IPPROTO_TCP
