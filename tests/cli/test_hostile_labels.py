"""Labels and texts that would drive a terminal, or its markup."""

import json

from keras_selfattn.cli import main
from tests.tiny_classifier import tiny_classifier

LABELS = ["[/red]", "\x1b[31mred\x9b5m", "two\nlines [bold]"]


def is_harmless(text):
    return not any(c in text for c in "\x1b\x9b\x07")


def test_labels_are_shown_as_they_are(tmp_path, capfd):
    tiny_classifier(labels=LABELS).save_to_preset(tmp_path / "model")
    model, data = str(tmp_path / "model"), tmp_path / "data.jsonl"
    rows = [{"text": "good food", "label": label} for label in LABELS]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["evaluate", model, str(data)]) == 0
    shown = capfd.readouterr().out
    assert "[/red]" in shown and "[bold]" in shown and "\ufffd[31mred" in shown
    assert is_harmless(shown)
    assert main(["predict", model, "good \x1b[2J\x9b31m\x7f"]) == 0
    shown = capfd.readouterr().out
    assert is_harmless(shown)
    answer = json.loads(shown)
    assert answer["text"] == "good \x1b[2J\x9b31m\x7f"
    assert list(answer["probabilities"]) == LABELS
    assert main(["explain", model, "good [/red] \x1b[2J"]) == 0
    assert is_harmless(capfd.readouterr().out)


def test_messages_drive_no_terminal(tmp_path, capfd):
    tiny_classifier().save_to_preset(tmp_path / "model")
    data = tmp_path / "data.jsonl"
    data.write_text('{"text": "good", "label": "1"}\n\x1b[2J\n')
    for command in (
        ["evaluate", str(tmp_path / "model"), str(data)],
        ["predict", str(tmp_path / "model"), "--file", str(data)],
        ["predict", "no\x1b[2Jmodel", "good"],
    ):
        main(command)
        shown = capfd.readouterr().err
        assert "[2J" in shown and is_harmless(shown)
