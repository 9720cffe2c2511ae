"""A run of one backend is another's too, and the command line runs on each."""

import itertools
import json

import numpy as np
import pytest

from tests.backends.process import BACKENDS
from tests.backends.process import python
from tests.backends.process import skip_without

TEXTS = ["good food .", "bad", "", "It isn't good food at all, is it?"]

TRAIN = """
import json, pathlib, sys
from keras_selfattn import cli
folder = pathlib.Path(sys.argv[1])
runs = json.loads(sys.argv[2])
for name, (data, arguments) in runs.items():
    code = cli.main(
        ["train", data, "--dev", data, "--output", str(folder / name)]
        + arguments
    )
    assert code == 0, name
"""

ANSWER = """
import json, pathlib, sys, keras, numpy as np
from keras_selfattn import cli, evaluation, models, visualization
assert keras.backend.backend() == sys.argv[1]
folder, texts = pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
answers = {}
for run in sorted(folder.glob("*/*")):
    model = models.from_preset(run)
    given = texts if len(model.sides) == 1 else [[t, "a dog"] for t in texts]
    ((_, probabilities),) = evaluation.predict(model, given)
    explained = list(visualization.explain(model, given))
    np.testing.assert_allclose(
        [each.probabilities for each in explained], probabilities, atol=1e-5
    )
    answers[run.parent.name + "/" + run.name] = probabilities.tolist()
run = next(folder.glob("*/cnn"))
assert cli.main(["predict", str(run), "good food"]) == 0
assert cli.main(["explain", str(run), "good food"]) == 0
assert cli.main(["evaluate", str(run), sys.argv[4], "--faithfulness"]) == 0
print("\\n" + json.dumps(answers))
"""


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def settings(*values):
    return [part for value in values for part in ("--set", value)]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The probabilities by the backend that gives them and by run."""
    skip_without(*BACKENDS)
    folder = tmp_path_factory.mktemp("runs")
    data = tmp_path_factory.mktemp("data")
    words = ["good food", "bad food", "not good at all", "it is a good day"]
    labels = ["yes", "no", "no", "yes"]
    single = write_rows(
        data / "single.jsonl",
        [
            {"text": f"{text} {number}", "label": label}
            for number in range(3)
            for text, label in zip(words, labels, strict=True)
        ],
    )
    pairs = write_rows(
        data / "pairs.jsonl",
        [
            {"text": text, "text_pair": f"a dog {n}", "label": label}
            for n in range(3)
            for text, label in zip(words, labels, strict=True)
        ],
    )
    small = settings("embedding_dim=5", "hidden_units=6", "min_count=1")
    short = ["--epochs", "1", "--batch-size", "5"]
    runs = {
        "bilstm": (
            single,
            [
                *("--preset", "lin2017_yelp", *short, *small),
                *settings("units=4", "attention_dim=3", "num_heads=2"),
            ],
        ),
        "cnn": (
            single,
            [
                *("--preset", "lin2017_cnn_max_yelp", *short, *small),
                *settings("units=4"),
            ],
        ),
        "decomposable": (
            pairs,
            [
                *("--preset", "parikh2016_snli_intra", *short),
                *("--text-pair", "text_pair"),
                *settings("embedding_dim=5", "projection_dim=4"),
                *settings("attend_units=[3]", "compare_units=[4]"),
                *settings("aggregate_units=[5]", "num_oov_indices=2"),
            ],
        ),
    }
    for backend in BACKENDS:
        python(backend, "-c", TRAIN, str(folder / backend), json.dumps(runs))
    given = {}
    for backend in BACKENDS:
        printed = python(
            backend,
            "-c",
            ANSWER,
            backend,
            str(folder),
            json.dumps(TEXTS),
            single,
        )
        given[backend] = json.loads(printed.splitlines()[-1])
    return given


@pytest.mark.slow
def test_a_run_of_one_backend_answers_alike_on_all(answers):
    for one, other in itertools.combinations(BACKENDS, 2):
        assert answers[one].keys() == answers[other].keys()
        for run, probabilities in answers[one].items():
            np.testing.assert_allclose(
                probabilities,
                answers[other][run],
                rtol=0,
                atol=1e-5,
                err_msg=f"{run} on {one} and {other}",
            )
    # Nine runs, of which none answers all texts alike.
    assert len(answers["tensorflow"]) == 9
    for probabilities in answers["tensorflow"].values():
        assert np.ptp(probabilities, axis=0).max() > 1e-6
