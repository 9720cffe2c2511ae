import json
import types

import pytest

from keras_selfattn import cli
from keras_selfattn import reproduction
from keras_selfattn import training
from keras_selfattn.data import formats
from keras_selfattn.data.generated_pairs import generate_pairs

SMALL = [
    "--epochs=1",
    "--batch-size=48",
    "--set=embedding_dim=6",
    "--set=projection_dim=5",
    "--set=attend_units=[4]",
    "--set=compare_units=[3]",
    "--set=aggregate_units=[7]",
]


@pytest.fixture
def data(tmp_path):
    pairs = list(generate_pairs(72, seed=0))
    for name, part in (("train", pairs[:48]), ("dev", pairs[48:])):
        rows = [
            {"a": p.premise, "b": p.hypothesis, "relation": p.label}
            for p in part
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    return tmp_path


def command(data, *more):
    return [
        "reproduce",
        "parikh2016",
        "--table=1",
        "--corpus=snli",
        f"--train={data / 'train.jsonl'}",
        f"--dev={data / 'dev.jsonl'}",
        "--text=a",
        "--text-pair=b",
        "--label=relation",
        f"--output={data / 'table'}",
        "--rows=vanilla",
        *SMALL,
        *more,
    ]


def test_published_and_measured_figures(data, capsys):
    assert cli.main(command(data)) == 0
    shown = capsys.readouterr().out
    assert "[1/1] vanilla, seed 0" in shown
    assert "parikh2016, table 1" in shown
    assert "86.3" in shown
    assert "382K / " in shown
    saved = json.loads((data / "table" / "results.json").read_text())
    assert saved["measured_on"] == {"train": "train", "snli": "dev"}


def test_a_failed_row_is_in_the_exit_code(data, capsys, monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(training, "train", fail)
    assert cli.main(command(data)) == 1
    assert "Failed: vanilla, seed 0: MemoryError" in capsys.readouterr().out
    assert not (data / "table").exists()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("--rows=lstm", "vanilla, intra"),
        ("--corpus=yelp", "is on snli"),
        ("--table=3", "parikh2016 table 2"),
        ("--set=intra_sentence=true", "compares rows by intra_sentence"),
        ("--split=train", "none is to be chosen"),
        ("--label=none", "'none'"),
    ],
)
def test_one_line_of_what_is_wrong(data, capsys, change, part):
    assert cli.main(command(data, change)) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("keras-selfattn: error: ")
    assert part in line
    assert not (data / "table").exists()


def test_dev_texts_are_needed(data, capsys):
    arguments = [a for a in command(data) if not a.startswith("--dev=")]
    assert cli.main(arguments) == 2
    assert "--dev" in capsys.readouterr().err


def test_parts_of_an_archive(monkeypatch):
    """Which part of an archive is read as what."""

    class Nothing(list):
        def table(self):
            return self

    opened = []
    results = types.SimpleNamespace(failures={})

    def open_corpus(path, format, split, *args):
        opened.append((path, split))
        return Nothing()

    def reproduce(paper, name, corpus, *splits, **options):
        assert len(splits) == 4
        return results

    monkeypatch.setattr(formats, "open_corpus", open_corpus)
    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    monkeypatch.setattr(
        "keras_selfattn.reproduction.report.print_report", lambda results: None
    )
    start = ["reproduce", "chen2018", "--output=x"]
    archive = "multinli_1.0.zip"
    more = ["--table=2", "--corpus=multinli", f"--train={archive}"]
    assert cli.main([*start, *more, f"--mismatched={archive}"]) == 0
    assert opened == [
        (archive, "train"),
        (archive, "dev_matched"),
        (archive, "dev_mismatched"),
    ]
    opened.clear()
    more = ["--table=1", "--corpus=snli", "--train=snli_1.0.zip"]
    assert cli.main([*start, *more, "--test=other.jsonl"]) == 0
    assert opened == [
        ("snli_1.0.zip", "train"),
        ("snli_1.0.zip", "dev"),
        ("other.jsonl", None),
    ]
