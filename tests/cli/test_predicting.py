import csv
import io
import json
import os
import subprocess
import sys
import threading

import pytest

from keras_selfattn.cli import main
from keras_selfattn.cli import models
from keras_selfattn.data.corpus import Corpus
from tests.cli.commands import fails
from tests.tiny_classifier import tiny_classifier
from tests.visualization.examples import decomposable


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    tiny_classifier().save_to_preset(folder)
    return folder


@pytest.fixture(scope="module")
def pair_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    decomposable().save_to_preset(folder)
    return folder


def ask(*arguments):
    assert main(["predict", *map(str, arguments)]) == 0


def type_in(monkeypatch, text):
    stream = io.TextIOWrapper(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", stream)


def shown(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_predict(run, capsys):
    texts = ["good food", "", "   ", "\U0001f600", "a\x00b", "word " * 2000]
    assert main(["predict", str(run), *texts]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(texts)
    for text, line in zip(texts, lines, strict=True):
        answer = json.loads(line)
        assert answer["text"] == text
        assert answer["label"] in "12345"
        assert sum(answer["probabilities"].values()) == pytest.approx(
            1, abs=1e-3
        )


def test_unread_words_are_counted_at_the_end(tmp_path, capsys):
    model = tiny_classifier()
    model.preprocessor.max_tokens = 3
    model.save_to_preset(tmp_path / "model")
    ask(tmp_path / "model", "good food", "bad")
    assert capsys.readouterr().err == ""
    ask(tmp_path / "model", "good food", "a b c d e", "bad food is bad food")
    assert capsys.readouterr().err.splitlines() == [
        "keras-selfattn: 4 words of 2 texts were not read: they lie beyond "
        "`max_tokens`"
    ]


def test_a_text_that_is_a_file_is_noted(model, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.csv").write_text("text\ngood\n")
    (tmp_path / "good").mkdir()
    ask(model, "good", "texts.csv")
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 2
    assert shown.err.splitlines() == [
        "keras-selfattn: 'texts.csv' is taken for a text; --file reads the file"
    ]


def test_a_file_that_is_typed_is_noted_before_its_options_are_refused(
    model, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.csv").write_text("review\ngood\n")
    assert main(["predict", str(model), "texts.csv", "--text=review"]) == 2
    noted, refused = capsys.readouterr().err.splitlines()
    assert noted.endswith("is taken for a text; --file reads the file")
    expected = "error: `--text` is for a file of texts; these are typed"
    assert expected in refused


def test_predict_a_file(run, data, capsys):
    path = data / "dev.jsonl"
    assert main(["predict", str(run), f"--file={path}", "--text=review"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 20


@pytest.mark.skipif(os.name == "nt", reason="no named pipes")
def test_a_pipe_is_read_once(model, tmp_path, capsys):
    path = tmp_path / "texts.jsonl"
    os.mkfifo(path)

    def write():
        # Whoever opened it again would find nothing.
        for content in ('{"text": "good"}\n' * 3, ""):
            path.write_text(content)

    threading.Thread(target=write, daemon=True).start()
    answers = tmp_path / "answers.csv"
    ask(model, f"--file={path}", f"--output={answers}")
    assert len(table(answers)) == 3


def test_a_table_reads_its_file_once(model, tmp_path, monkeypatch):
    read = []

    def counted(self):
        read.append(self)
        return original(self)

    original = Corpus.table
    monkeypatch.setattr(Corpus, "table", counted)
    path = tmp_path / "texts.jsonl"
    # The last row has a column that the others lack.
    rows = [{"text": "good"}, {"text": "bad", "id": 1}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ask(model, f"--file={path}", f"--output={tmp_path / 'answers.csv'}")
    # Once more for its first row, before anything is loaded.
    assert len(read) == 2
    answers = table(tmp_path / "answers.csv")
    assert [answer["id"] for answer in answers] == ["", "1"]


def test_pairs(pair_model, capsys):
    ask(pair_model, "--pair", "A dog.", "A cat.", "--pair", "good", "bad")
    assert [answer["text"] for answer in shown(capsys)] == [
        ["A dog.", "A cat."],
        ["good", "bad"],
    ]


def test_single_texts_for_a_model_of_pairs(model, pair_model, capsys):
    fails(capsys, ["predict", pair_model, "good"], "--pair", "--text-pair")
    fails(capsys, ["predict", model, "--pair", "a", "b"], "single texts")


def test_neither_texts_nor_file(model, capsys):
    fails(capsys, ["predict", model], "--file", "--pair")
    for more in (["--file=a.csv"], ["--pair", "a", "b"]):
        fails(capsys, ["predict", model, "good", *more], "--file", "--pair")


@pytest.mark.parametrize(
    "lines,texts",
    [
        ('{"text": "good", "id": 1}\n{"text": "bad"}\n', ["good", "bad"]),
        ('\n{"text": "good"}\n{"text": "bad"}\n', ["good", "bad"]),
        ("{laughs} good\nbad\n", ["{laughs} good", "bad"]),
        ('"Good", he said\nbad\n', ['"Good", he said', "bad"]),
    ],
)
def test_json_lines_on_standard_input(model, capsys, monkeypatch, lines, texts):
    type_in(monkeypatch, lines)
    ask(model, "-")
    assert [answer["text"] for answer in shown(capsys)] == texts


@pytest.mark.parametrize("arguments", [["-"], ["--file", "-"]])
def test_standard_input_has_a_text_a_line(
    model, arguments, capsys, monkeypatch
):
    type_in(monkeypatch, 'good food\r\n\nbad, "n\'t"\n')
    ask(model, *arguments)
    captured = capsys.readouterr()
    first, empty, last = map(json.loads, captured.out.splitlines())
    assert first["text"] == "good food"
    assert "standard input:2: expected text" in empty["error"]
    assert last["text"] == 'bad, "n\'t"'
    (line,) = captured.err.splitlines()
    assert "1 of 3 rows without an answer" in line


@pytest.mark.parametrize(
    "content,arguments",
    [
        ("review,id\ngood,7\n", ["--text=review"]),
        ("review\tid\ngood\t7\n", ["--text=review"]),
        ("\r\nreview\tid\r\ngood\t7\r\n", ["--text=review"]),
        ('{"review": "good"}\n', ["--text=review"]),
        ("review;id\ngood;7\n", ["--text=review", "--delimiter=;"]),
        ("id\treview\n7\tgood\n", ["--text=review", "--format=tsv"]),
        ("text\ngood\n", ["--format=csv"]),
        ('{"text": "good"}\n', ["--format=jsonl"]),
    ],
)
def test_formats_of_standard_input(
    model, content, arguments, capsys, monkeypatch
):
    type_in(monkeypatch, content)
    ask(model, "-", *arguments)
    assert [answer["text"] for answer in shown(capsys)] == ["good"]


def test_a_line_of_json_without_a_text_waits_with_the_others(
    model, tmp_path, capsys
):
    path, answers = tmp_path / "texts.jsonl", tmp_path / "answers.csv"
    path.write_text('{"text": "good"}\n{"id": 7}\n{"text": "bad"}\n')
    ask(model, f"--file={path}", f"--output={answers}")
    assert "1 of 3 rows without an answer" in capsys.readouterr().err
    rows = table(answers)
    assert [row["id"] for row in rows] == ["", "7", ""]
    assert [bool(row["error"]) for row in rows] == [False, True, False]
    assert f"{path}:2: expected one column 'text'" in rows[1]["error"]


def test_plain_text(model, tmp_path, capsys):
    path = tmp_path / "texts.txt"
    path.write_text("good food\nbad, food\n")
    ask(model, f"--file={path}")
    assert [a["text"] for a in shown(capsys)] == ["good food", "bad, food"]
    fails(capsys, ["predict", model, f"--file={path}", "--text=a"], "`text`")


def test_a_table_keeps_columns_and_rows(model, tmp_path, capsys):
    path = tmp_path / "texts.csv"
    path.write_text('id,review,x\n1,good,a\n2, ,b\n3\n4,"bad\nfood",c\n')
    answers = tmp_path / "answers.csv"
    ask(model, f"--file={path}", "--text=review", f"--output={answers}")
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert f"{path}: 2 of 4 rows without an answer" in line
    rows = table(answers)
    added = ["probability_1", "probability_two", "probability_gütig"]
    assert list(rows[0]) == [
        *["id", "review", "x", "label", "probability"],
        *[*added, "error"],
    ]
    assert [row["id"] for row in rows] == ["1", "2", "3", "4"]
    assert rows[3]["review"] == "bad\nfood"
    assert [bool(row["error"]) for row in rows] == [False, True, True, False]
    assert f"{path}:3: expected text" in rows[1]["error"]
    assert f"{path}:4: expected 3 cells" in rows[2]["error"]
    assert rows[1]["label"] == rows[1]["probability"] == ""
    for row in (rows[0], rows[3]):
        likeliest = max(added, key=lambda name: float(row[name]))
        assert likeliest == f"probability_{row['label']}"
        assert row["probability"] == row[likeliest]


def test_json_lines_keep_their_values(model, tmp_path, capsys):
    path = tmp_path / "texts.jsonl"
    given = [
        {"id": 1, "text": "good", "label": "two", "more": {"a": [1, None]}},
        {"id": 2.5, "text": None},
        {"id": None, "text": "bad"},
    ]
    lines = [*map(json.dumps, given), "{"]
    path.write_text("\n".join(lines) + "\n")
    answers = tmp_path / "answers.jsonl"
    ask(model, f"--file={path}", f"--output={answers}")
    rows = list(map(json.loads, answers.read_text("utf-8").splitlines()))
    assert len(rows) == 4
    for row, expected in zip(rows, [*given, {}], strict=True):
        assert {name: row[name] for name in expected} == expected
    # The column of the input stays.
    assert rows[0]["label"] == "two"
    assert rows[0]["predicted_label"] in rows[0]["probabilities"]
    assert ["error" in row for row in rows] == [False, True, False, True]
    ask(model, f"--file={path}", f"--output={tmp_path / 'answers.csv'}")
    rows = table(tmp_path / "answers.csv")
    assert [row["id"] for row in rows] == ["1", "2.5", "", ""]
    assert json.loads(rows[0]["more"]) == {"a": [1, None]}
    assert [row["label"] for row in rows] == ["two", "", "", ""]


def test_columns_of_an_earlier_answer_stay(model, tmp_path):
    path, answers = tmp_path / "texts.csv", tmp_path / "answers.csv"
    path.write_text("text,label,predicted_label\ngood,gold,guess\n")
    ask(model, f"--file={path}", f"--output={answers}")
    (row,) = table(answers)
    assert (row["label"], row["predicted_label"]) == ("gold", "guess")
    assert f"probability_{row['predicted_predicted_label']}" in row


@pytest.mark.parametrize("leaf", ["1", "NaN"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_deep_columns_keep_their_rows(model, tmp_path, capsys, suffix, leaf):
    path, answers = tmp_path / "texts.jsonl", tmp_path / f"answers{suffix}"
    # Python reads the first ones, and then comes to its limit.
    depths = [1, 600, *range(800, 1000, 3), 100_000]
    with open(path, "w") as file:
        for depth in depths:
            value = "[" * depth + leaf + "]" * depth
            file.write(f'{{"text": "good", "more": {value}}}\n')
    ask(model, f"--file={path}", f"--output={answers}")
    if suffix == ".csv":
        rows = table(answers)
    elif suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        rows = parquet.read_table(answers).to_pylist()
    else:
        rows = list(map(json.loads, answers.read_text().splitlines()))
    assert len(rows) == len(depths)
    bad = [bool(row.get("error")) for row in rows]
    # What is too deep for one is too deep for the next.
    assert bad == sorted(bad)
    assert not bad[1] and bad[-1]
    note = f"{sum(bad)} of {len(depths)} rows without an answer"
    assert note in capsys.readouterr().err


def test_typed_texts_as_a_table(model, pair_model, tmp_path):
    answers = tmp_path / "answers.tsv"
    ask(model, "good", "bad", f"--output={answers}")
    assert answers.read_text("utf-8").splitlines()[1].split("\t")[0] == "good"
    ask(pair_model, "--pair", "a", "b", f"--output={tmp_path / 'a.csv'}")
    (row,) = table(tmp_path / "a.csv")
    assert (row["text"], row["text_pair"]) == ("a", "b")


def test_parquet(model, tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    from pyarrow import Table

    path, answers = tmp_path / "texts.parquet", tmp_path / "answers.parquet"
    rows = [{"id": 2**40, "text": "good"}, {"id": None, "text": None}] * 700
    parquet.write_table(Table.from_pylist(rows), path)
    ask(model, f"--file={path}", f"--output={answers}", "--digits")
    assert "700 of 1,400 rows" in capsys.readouterr().err
    found = parquet.read_table(answers).to_pylist()
    assert [{n: row[n] for n in rows[0]} for row in found] == rows
    assert {row["error"] is None for row in found[::2]} == {True}
    probabilities = [v for k, v in found[0].items() if "probability_" in k]
    assert sum(probabilities) == pytest.approx(1, abs=1e-6)


def test_a_missing_package_is_named(model, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    output = f"--output={tmp_path / 'answers.parquet'}"
    expected = 'pip install "keras_selfattn[parquet]"'
    fails(capsys, ["predict", model, "good", output], expected)


def test_all_digits(model, capsys):
    for arguments, most in (([], 4), (["--digits=2"], 2), (["--digits"], 10)):
        ask(model, "good food", *arguments)
        (answer,) = shown(capsys)
        digits = [len(str(p)) - 2 for p in answer["probabilities"].values()]
        assert max(digits) <= most
    assert max(digits) > 4


@pytest.mark.parametrize(
    "name,message",
    [("answers.txt", ".csv, .tsv, .jsonl, .parquet"), ("a/b.csv", "folder")],
)
def test_a_table_that_cannot_be_written(model, tmp_path, name, message, capsys):
    output = f"--output={tmp_path / name}"
    fails(capsys, ["predict", model, "good", output], message, name)
    assert list(tmp_path.iterdir()) == []


def test_a_fault_leaves_no_table(model, tmp_path, capsys):
    path = tmp_path / "texts.csv"
    path.write_text('text\ngood\n"bad" food\n')
    output = tmp_path / "answers.csv"
    output.write_text("old")
    arguments = ["predict", model, f"--file={path}", f"--output={output}"]
    fails(capsys, arguments, "texts.csv:3: expected a row of cells")
    assert output.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_of_other_columns(model, tmp_path, capsys):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"review": "good"}\n' * 3)
    fails(capsys, ["predict", model, f"--file={path}"], "'text'", "'review'")


@pytest.mark.skipif(os.name == "nt", reason="no closed pipes")
def test_a_closed_pipe_is_quiet(model, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("good food\n" * 3000)
    done = subprocess.run(
        f'"{sys.executable}" -m keras_selfattn predict "{model}" '
        f'--file "{path}" | head -1; echo ${{PIPESTATUS[0]}}',
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    answer, code = done.stdout.splitlines()
    assert json.loads(answer)["text"] == "good food"
    assert code == "141"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_standard_output_that_is_not_utf_8(model, monkeypatch, encoding):
    text = "good \xe9 \u6b63 \U0001f600"
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    ask(model, text)
    shown = stream.buffer.getvalue().decode(encoding)
    assert json.loads(shown)["text"] == text
    # What can be shown is.
    assert ("\xe9" in shown) == (encoding != "ascii")


def test_half_a_surrogate_pair_beside_other_types(model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path, answers = tmp_path / "texts.jsonl", tmp_path / "answers.parquet"
    path.write_text(
        '{"text": "good", "id": "\\ud83d"}\n{"text": "bad", "id": 2}\n'
    )
    ask(model, f"--file={path}", f"--output={answers}")
    found = parquet.read_table(answers)["id"].to_pylist()
    assert found == ["\\ud83d", "2"]


@pytest.mark.parametrize(
    "option",
    [
        *("--text=review", "--text-pair=title", "--format=csv"),
        *("--delimiter=;", "--split=train", "--download"),
        *("--max-bad-rate=0.001", "--max-bad-rate=0"),
    ],
)
def test_options_of_files_are_refused_where_texts_are_typed(
    model, option, capsys
):
    name = option.split("=")[0]
    expected = f"`{name}` is for a file of texts; these are typed. Received: "
    fails(capsys, ["predict", model, "good", option], expected)


def test_one_column_is_not_both_texts_of_a_pair(
    pair_model, tmp_path, capsys, monkeypatch
):
    path = tmp_path / "texts.csv"
    path.write_text("review\ngood\n")
    monkeypatch.setattr(models, "load", None)
    fails(
        capsys,
        [
            *("predict", pair_model, f"--file={path}"),
            *("--text=review", "--text-pair=review"),
        ],
        "`text` and `text_pair` must be different columns",
        "Received: 'review' for both",
    )
