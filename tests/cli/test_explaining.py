import html
import html.parser
import io
import json
import sys
import tracemalloc

import pytest

from keras_selfattn import visualization
from keras_selfattn.cli import main
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.effects.measuring import METHODS
from tests.cli.commands import fails
from tests.tiny_classifier import tiny_classifier
from tests.visualization.examples import HOSTILE
from tests.visualization.examples import TEXTS
from tests.visualization.examples import balanced
from tests.visualization.examples import decomposable


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for text, label in rows:
            file.write(json.dumps({"text": text, "label": label}) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    tiny_classifier().save_to_preset(folder)
    return folder


def explain_file(folder, path, *more):
    target = path.parent / "page.html"
    options = [f"--file={path}", f"--html={target}", *more]
    assert main(["explain", str(folder), *options]) == 0
    return target.read_text(encoding="utf-8")


def test_in_the_terminal(run, capsys):
    assert main(["explain", str(run), "The food was good."]) == 0
    shown = capsys.readouterr().out
    for word in ("The", "food", "good"):
        assert word in shown


def test_what_decided(folder, capsys):
    arguments = ["explain", str(folder), "good food"]
    assert main(arguments) == 0
    assert "Effect of" not in capsys.readouterr().out
    more = [f"--effects={method}" for method in METHODS]
    assert main([*arguments, *more]) == 0
    shown = capsys.readouterr().out
    assert "Effect of leaving each word out" in shown
    assert "gradient × input" in shown


def test_as_a_page(run, data, tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["explain", str(run), f"--file={data / 'dev.jsonl'}"]
    more = ["--text=review", "--label=stars", f"--html={page}"]
    assert main([*arguments, *more]) == 0
    assert str(page) in capsys.readouterr().out
    assert "<html" in page.read_text()


def test_standard_input(folder, capsys, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"good food\nbad food\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert main(["explain", str(folder), "-"]) == 0
    shown = capsys.readouterr().out
    for word in ("good", "bad"):
        assert word in shown


def test_a_page_without_a_folder(folder, tmp_path, capsys):
    page = tmp_path / "none" / "page.html"
    fails(capsys, ["explain", folder, "good", f"--html={page}"], str(page))


def test_nothing_breaks_out(folder, tmp_path, capsys):
    tags = []
    for name, text in (
        ("rows.jsonl", "x " * len(HOSTILE.split())),
        ("<script>alert(2)<b>\"'&.jsonl", HOSTILE),
    ):
        path = write_rows(tmp_path / name, [(text, "1")])
        page = explain_file(folder, path, "--label=label")
        assert f"looked at in {html.escape(name)}</h1>" in page
        assert "<script>alert" not in page
        tags.append([tag for tag, _ in balanced(page)])
    assert tags[0] == tags[1]
    # Only the page's path; the bar is for the eye.
    assert capsys.readouterr().out.split() == [str(tmp_path / "page.html")] * 2


def test_rows_are_not_gathered(folder, tmp_path, monkeypatch):
    path = write_rows(tmp_path / "rows.jsonl", [("good food", "1")] * 300)
    read = []
    passes = Corpus.__iter__

    def counted(self):
        read.append(0)
        for row in passes(self):
            read[-1] += 1
            yield row

    monkeypatch.setattr(Corpus, "__iter__", counted)
    most = []

    def look(items, *arguments, **options):
        for number, _ in enumerate(items, start=1):
            most.append(read[-1] - number)

    monkeypatch.setattr(visualization, "write_html", look)
    options = [f"--file={path}", "--html=x.html", "--label=label"]
    assert main(["explain", str(folder), *options]) == 0
    # Before the model is loaded the first row tells whether it is a pair. Then
    # one pass counts, one explains, never more than a batch ahead.
    assert read == [1, 300, 300]
    assert len(most) == 300
    assert max(most) <= 32


@pytest.mark.slow
def test_10000_texts_take_no_more_memory_than_1000(folder, tmp_path, capsys):
    def peak(count):
        text = "the food was good , but not that good"
        rows = ((f"{i} {text}", "1") for i in range(count))
        path = write_rows(tmp_path / f"{count}.jsonl", rows)
        tracemalloc.start()
        page = tmp_path / "page.html"
        options = [f"--file={path}", f"--html={page}", "--label=label"]
        assert main(["explain", str(folder), *options]) == 0
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)
    few = peak(1000)
    many = peak(10_000)
    # The rows alone are 2 MB, their explanations over 20 MB.
    assert many < few + 1_000_000


def test_pairs(tmp_path, capsys):
    decomposable(intra_sentence=True).save_to_preset(tmp_path / "run")
    rows = tmp_path / "pairs.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"sentence1": p, "sentence2": h}) + "\n"
            for p, h in [*TEXTS, (HOSTILE, "b")]
        )
    )
    arguments = [
        "explain",
        str(tmp_path / "run"),
        f"--file={rows}",
        "--text=sentence1",
        "--text-pair=sentence2",
    ]
    target = tmp_path / "page.html"
    assert main([*arguments, f"--html={target}"]) == 0
    text = target.read_text(encoding="utf-8")
    assert text.count("<article") == 4
    assert "<script>alert" not in text
    balanced(text)
    capsys.readouterr()
    assert main(arguments) == 0
    assert (
        "The premise (rows) looks at the hypothesis" in capsys.readouterr().out
    )
    typed = ["explain", str(tmp_path / "run"), "--pair", *TEXTS[0]]
    assert main(typed) == 0
    assert (
        "The premise (rows) looks at the hypothesis" in capsys.readouterr().out
    )


@pytest.mark.parametrize("as_page", [False, True])
def test_rows_without_a_text_are_left_out_and_told(
    folder, tmp_path, capsys, as_page
):
    path, page = tmp_path / "texts.jsonl", tmp_path / "page.html"
    path.write_text('{"text": "good"}\n{"text": " "}\n\n[]\n{"text": "bad"}\n')
    more = [f"--html={page}"] if as_page else []
    assert main(["explain", str(folder), f"--file={path}", *more]) == 0
    told = capsys.readouterr()
    shown = page.read_text(encoding="utf-8") if as_page else told.out
    assert shown.count("<article" if as_page else "Predicted") == 2
    assert "[UNK]" not in shown
    # A page has a bar of its own before.
    *_, line = told.err.strip().splitlines()
    assert "2 of 4 rows without an explanation" in line
    assert "texts.jsonl:2: expected text, received an empty one" in line


def test_blank_lines_of_standard_input_are_no_texts(
    folder, capsys, monkeypatch
):
    stream = io.TextIOWrapper(io.BytesIO(b"good food\n\nbad food\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert main(["explain", str(folder), "-"]) == 0
    told = capsys.readouterr()
    assert told.out.count("Predicted") == 2
    assert "standard input: 1 of 3 rows without an explanation" in told.err


def test_a_file_without_any_text_is_refused(folder, tmp_path, capsys):
    path = tmp_path / "texts.csv"
    path.write_text('text\n" "\n" "\n')
    fails(
        capsys,
        ["explain", folder, f"--file={path}"],
        f"Expected a text to explain in {path}",
        "2 of 2 rows without one",
        "texts.csv:2: expected text",
    )


def test_the_terminal_tells_of_labeled_rows_left_out(folder, tmp_path, capsys):
    rows = [("good food", "1"), ("", "two"), ("bad food", "1")]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    options = [f"--file={path}", "--label=label", "--max-bad-rate=0.5"]
    assert main(["explain", str(folder), *options]) == 0
    told = capsys.readouterr()
    assert told.out.count("Predicted") == 2
    assert "3 rows, left out: 1 empty text" in told.err


@pytest.mark.parametrize("as_page", [False, True])
def test_rows_of_other_labels_are_left_out_and_told(
    folder, tmp_path, capsys, as_page
):
    rows = [("good food", "1"), ("bad food", "x"), ("bad food", None)]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    options = [f"--file={path}", "--label=label"]
    page = tmp_path / "page.html"
    options += [f"--html={page}"] * as_page
    assert main(["explain", str(folder), *options, "--max-bad-rate=0.7"]) == 0
    told = capsys.readouterr()
    shown = page.read_text(encoding="utf-8") if as_page else told.out
    assert shown.count("<article" if as_page else "Predicted") == 1
    assert "1 unknown label" in told.err
    fails(capsys, ["explain", folder, *options], "unknown label")


def test_a_label_is_read_of_files_alone(folder, capsys):
    arguments = ["explain", folder, "good", "--label=stars"]
    fails(capsys, arguments, "`--label` is for a file of texts", "'stars'")
