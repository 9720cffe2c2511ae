import io
import os
import sys
import threading

import pytest

from keras_selfattn.data import pipes
from keras_selfattn.data.readers import read_rows


class Slow(io.BytesIO):
    """Gives a line at a time, as a terminal does."""

    given = 0

    def read1(self, size=-1):
        self.given += 1
        return self.readline()


def type_in(monkeypatch, stream):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))


def test_standard_input_is_read_again_and_as_it_comes(monkeypatch):
    stream = Slow(b"text\na\nb\nc\n")
    type_in(monkeypatch, stream)
    rows = read_rows("-", ["text"], "csv")
    assert next(rows) == (2, {"text": "a"})
    assert stream.given < 5
    texts = [row["text"] for _, row in read_rows("-", ["text"], "csv")]
    assert texts == ["a", "b", "c"]
    assert [row["text"] for _, row in rows] == ["b", "c"]
    type_in(monkeypatch, io.BytesIO(b"other\n"))
    assert list(read_rows("-", ["x"], "txt")) == [(1, {"x": "other"})]


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="no standard input"):
        list(read_rows("-", ["text"], "txt"))


@pytest.mark.skipif(os.name == "nt", reason="no named pipes")
def test_a_pipe_is_read_again(tmp_path):
    path = tmp_path / "texts.csv"
    for text in ("first", "second"):
        os.mkfifo(path)
        threading.Thread(
            target=path.write_text, args=(f"text\n{text}\n",), daemon=True
        ).start()
        for _ in range(2):
            assert list(read_rows(path, ["text"])) == [(2, {"text": text})]
        path.rename(tmp_path / text)
    assert not pipes.is_pipe(tmp_path / "none")
