"""A server of the real request types answers as the Keras model does."""

import concurrent.futures
import urllib.error

import grpc
import numpy as np
import pytest

from examples.serving_client import GrpcClient
from examples.serving_client import predict_rest
from tests.serving.families import FAMILIES
from tests.serving.families import exported
from tests.serving.families import keras_answers
from tests.serving.families import rows_of
from tests.serving.stand_in import serve

TIMEOUT = 300


def inputs_of(rows):
    if isinstance(rows[0], tuple):
        premises, hypotheses = zip(*rows, strict=True)
        return {"premise": list(premises), "hypothesis": list(hypotheses)}
    return {"text": list(rows)}


def assert_equal(output, expected):
    if expected.dtype == np.float32:
        np.testing.assert_allclose(output, expected, rtol=0, atol=1e-6)
    else:
        assert output.tolist() == expected.tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_grpc_and_rest(family):
    model, folder = exported(family)
    rows = rows_of(model)
    expected = keras_answers(model, rows)
    # JSON holds no bytes that are no text.
    readable = rows[:1] * 2
    readable_expected = keras_answers(model, readable)
    with serve(folder) as (address, url):
        client = GrpcClient(address)
        for signature in {signature for signature, _ in expected}:
            outputs = client.predict(
                "model", inputs_of(rows), signature, TIMEOUT
            )
            assert {(signature, key) for key in outputs} == {
                each for each in expected if each[0] == signature
            }
            for key, output in outputs.items():
                assert_equal(output, expected[signature, key])
            texts = {
                name: [text.decode() for text in column]
                for name, column in inputs_of(readable).items()
            }
            outputs = predict_rest(url, "model", texts, signature, TIMEOUT)
            assert {(signature, key) for key in outputs} == {
                each for each in expected if each[0] == signature
            }
            for key, output in outputs.items():
                reference = readable_expected[signature, key]
                if reference.dtype == object:
                    output = np.vectorize(str.encode, otypes=[object])(output)
                assert_equal(np.asarray(output), reference)
        client.close()


def test_errors():
    _, folder = exported("decomposable")
    texts = {"premise": ["a"], "hypothesis": ["b"]}
    with serve(folder) as (address, url):
        client = GrpcClient(address)
        for arguments, code, words in (
            (("other", texts), grpc.StatusCode.NOT_FOUND, "other"),
            (("model", texts, "none"), grpc.StatusCode.NOT_FOUND, "none"),
            (
                ("model", {"text": ["a"]}),
                grpc.StatusCode.INVALID_ARGUMENT,
                "premise",
            ),
            (
                ("model", {"premise": [], "hypothesis": []}),
                grpc.StatusCode.INVALID_ARGUMENT,
                "at least one row",
            ),
            (
                ("model", {"premise": ["a", "b"], "hypothesis": ["b"]}),
                grpc.StatusCode.INVALID_ARGUMENT,
                "as many rows",
            ),
        ):
            with pytest.raises(grpc.RpcError, match=words) as raised:
                client.predict(*arguments, timeout=TIMEOUT)
            assert raised.value.code() == code
        client.close()
        for name, inputs, code in (("other", texts, 404), ("model", {}, 400)):
            with pytest.raises(urllib.error.HTTPError) as raised:
                predict_rest(url, name, inputs, timeout=TIMEOUT)
            assert raised.value.code == code
            raised.value.close()


@pytest.mark.parametrize("max_batch_size", [None, 64])
def test_requests_at_once(max_batch_size):
    """Each gets its own rows back, also out of a batch that others share."""
    model, folder = exported("decomposable")
    rows = rows_of(model)
    expected = keras_answers(model, rows)["serving_default", "probabilities"]
    # Texts of other lengths go into one batch, the empty one among them.
    spans = [(i % len(rows), i % 3 + 1) for i in range(60)]
    with serve(folder, max_batch_size=max_batch_size) as (address, _):
        client = GrpcClient(address)

        def ask(span):
            start, count = span
            inputs = inputs_of(rows[start : start + count])
            return client.predict("model", inputs, timeout=TIMEOUT)[
                "probabilities"
            ]

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(ask, spans))
        client.close()
    assert len(answers) == len(spans)
    for (start, count), answer in zip(spans, answers, strict=True):
        np.testing.assert_allclose(
            answer, expected[start : start + count], rtol=0, atol=1e-6
        )
