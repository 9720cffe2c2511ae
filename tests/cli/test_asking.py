import json
import os
import threading

import pytest

from keras_selfattn.cli import main
from tests.cli.commands import fails


def test_evaluate(run, data, capsys):
    assert (
        main(
            [
                "evaluate",
                str(run),
                str(data / "dev.jsonl"),
                "--text=review",
                "--label=stars",
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "Accuracy" in shown
    assert "Confusion matrix" in shown
    assert "precision" in shown


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


def test_predict_a_file(run, data, capsys):
    path = data / "dev.jsonl"
    assert main(["predict", str(run), f"--file={path}", "--text=review"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 20


@pytest.mark.skipif(os.name == "nt", reason="no named pipes")
def test_a_pipe_is_read_once(run, tmp_path, capsys):
    path = tmp_path / "texts.jsonl"
    os.mkfifo(path)

    def write():
        # Whoever opened it again would find nothing.
        for content in ('{"text": "good"}\n' * 3, ""):
            path.write_text(content)

    threading.Thread(target=write, daemon=True).start()
    assert main(["predict", str(run), f"--file={path}"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_explain_in_the_terminal(run, capsys):
    assert main(["explain", str(run), "The food was good."]) == 0
    shown = capsys.readouterr().out
    for word in ("The", "food", "good"):
        assert word in shown


def test_explain_as_a_page(run, data, tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["explain", str(run), f"--file={data / 'dev.jsonl'}"]
    more = ["--text=review", "--label=stars", f"--html={page}"]
    assert main([*arguments, *more]) == 0
    assert str(page) in capsys.readouterr().out
    assert "<html" in page.read_text()


def test_an_unseen_label(run, tmp_path, capsys):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"text": "good", "label": "great"}\n')
    fails(capsys, ["evaluate", run, path], "'great'", "1, 2, 3, 4, 5")


def test_neither_texts_nor_file(run, capsys):
    fails(capsys, ["predict", run], "--file")
