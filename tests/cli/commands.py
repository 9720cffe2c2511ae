"""Commands that tests give, and what they expect of them."""

import json

from keras_selfattn.cli import main
from keras_selfattn.data.generated import generate_reviews

SMALL = [
    # A third quicker to train than a BiLSTM, as it is traced sooner.
    "--set=encoder=cnn",
    "--epochs=1",
    "--batch-size=16",
    "--set=units=6",
    "--set=embedding_dim=8",
    "--set=attention_dim=5",
    "--set=num_heads=2",
    "--set=hidden_units=8",
    "--set=ngram_buckets=64",
]
SMALL_PAIRS = [
    "--set=projection_dim=4",
    "--set=attend_units=[4]",
    "--set=compare_units=[4]",
    "--set=aggregate_units=[4]",
]


def write_reviews(path, size, seed):
    rows = [
        {"review": r.text, "stars": float(r.label)}
        for r in generate_reviews(size, seed=seed)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_titles(data, folder, title):
    """The rows of a folder's files in another, each with a title beside it."""
    for file in data.glob("*.jsonl"):
        rows = map(json.loads, file.read_text().splitlines())
        lines = [json.dumps({**row, "title": title}) + "\n" for row in rows]
        (folder / file.name).write_text("".join(lines))


def train_arguments(data, output, *more):
    """A small `train`, of which what is said in `more` is not said before."""
    again = [each.rpartition("=")[0] for each in more]
    small = [each for each in SMALL if each.rpartition("=")[0] not in again]
    return [
        "train",
        str(data / "train.jsonl"),
        f"--dev={data / 'dev.jsonl'}",
        f"--output={output}",
        "--text=review",
        "--label=stars",
        *small,
        *more,
    ]


def fails(capsys, arguments, *parts):
    """The command ends with code 2 and one line that has these parts."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("keras-selfattn: error: ")
    for part in parts:
        assert part in lines[0]
