"""The corpora's own formats, and their faults, on the command line."""

import contextlib
import gc
import hashlib
import http.server
import io
import json
import pathlib
import threading
import zipfile

import pytest

from keras_selfattn.cli import main
from tests.cli.commands import fails

SMALL = [
    "--preset=parikh2016_snli",
    "--epochs=1",
    "--batch-size=8",
    "--set=embedding_dim=6",
    "--set=projection_dim=5",
    "--set=attend_units=[4]",
    "--set=compare_units=[4]",
    "--set=aggregate_units=[4]",
]
LABELS = ("entailment", "neutral", "contradiction", "-")


def pairs(rows, seed):
    lines = []
    for row in range(rows):
        record = {
            "gold_label": LABELS[row % 4],
            "sentence1": "A dog runs in the park .",
            "sentence2": f"A {LABELS[row % 4]} dog .",
            "pairID": f"{seed}-{row}",
        }
        lines.append(json.dumps(record))
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "snli_1.0.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("snli_1.0/snli_1.0_train.jsonl", pairs(32, 0))
        file.writestr("snli_1.0/snli_1.0_dev.jsonl", pairs(16, 1))
        file.writestr("snli_1.0/snli_1.0_test.jsonl", pairs(20, 2) + "bad\n")
    return path


@pytest.fixture(scope="module")
def trained(archive, tmp_path_factory):
    """The folder of a run on an archive, and what was said on the way."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        assert main(["train", str(archive), f"--output={folder}", *SMALL]) == 0
    return folder, said.getvalue()


@pytest.fixture(scope="module")
def run(trained):
    return trained[0]


def test_train_reads_both_splits_of_an_archive(archive, trained):
    said = trained[1].splitlines()
    assert [line for line in said if "left out" in line] == [
        f"keras-selfattn: {archive}: {rows} rows, left out: "
        f"{rows // 4} without gold label"
        for rows in (32, 16)
    ]


def test_evaluate_a_split(run, archive, capsys):
    arguments = ["evaluate", str(run), str(archive)]
    assert main([*arguments, "--split=dev"]) == 0
    shown = capsys.readouterr()
    assert "Accuracy" in shown.out
    assert "16 rows, left out: 4 without gold label" in shown.err
    fails(capsys, arguments, "`split`", "dev, test, train")


def test_a_rate_of_bad_rows(run, archive, capsys):
    arguments = ["evaluate", str(run), str(archive), "--split=test"]
    fails(
        capsys,
        arguments,
        "snli_1.0_test.jsonl:21: expected a line of JSON",
        "1 bad of 21 rows",
        "at most 0.10%",
    )
    assert main([*arguments, "--max-bad-rate=0.05"]) == 0
    shown = capsys.readouterr()
    assert "5 without gold label, 1 malformed" in shown.err
    fails(capsys, [*arguments, "--max-bad-rate=2"], "from 0 to 1")


@pytest.mark.parametrize(
    "words",
    [
        "predict {model} --file {file}",
        "explain {model} --file {file}",
        "encode {model} {file} --output {out}.npz",
        "encode {model} {file}* --output {out}",
        "encode {model} {file} --output {out} --workers 1",
        "vectors {file} --output {out}.txt",
    ],
)
def test_a_rate_of_bad_rows_is_for_labeled_ones(
    tiny_folder, tmp_path, capsys, words
):
    file = tmp_path / "texts.csv"
    file.write_text("text,label\ngood,1\n")
    names = {"model": tiny_folder, "file": file, "out": tmp_path / "out"}
    arguments = [word.format(**names) for word in words.split()]
    expected = "`--max-bad-rate` is for labeled rows, and no labels are read"
    fails(capsys, [*arguments, "--max-bad-rate=0"], expected, "Received: 0.0")
    assert list(tmp_path.iterdir()) == [file]


def test_a_training_with_bad_rows_leaves_nothing(archive, tmp_path, capsys):
    folder = tmp_path / "run"
    arguments = ["train", archive, "--split=test", f"--output={folder}"]
    fails(capsys, [*arguments, *SMALL], "1 bad of 21 rows")
    assert not folder.exists()


def test_predict_answers_every_pair(run, archive, capsys):
    arguments = ["predict", str(run), f"--file={archive}", "--split=dev"]
    assert main(arguments) == 0
    assert len(capsys.readouterr().out.splitlines()) == 16


def test_explain_tells_the_gold_labels(run, archive, tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["explain", str(run), f"--file={archive}", "--split=test"]
    # Labels are read here, and so there is a rate of bad rows.
    arguments += [f"--html={page}", "--max-bad-rate=0.05"]
    assert main(arguments) == 0
    assert "neutral" in page.read_text(encoding="utf-8")


def test_train_needs_dev_texts(tmp_path, capsys):
    path = tmp_path / "snli_1.0_train.jsonl"
    path.write_text(pairs(4, 0))
    arguments = ["train", path, f"--output={tmp_path / 'run'}", *SMALL]
    fails(capsys, arguments, "--dev")


def test_train_on_a_folder_of_authors(tmp_path, capsys):
    folder = tmp_path / "authors"
    folder.mkdir()
    truth = []
    for author in range(6):
        text = "<document>some words here</document>" * 3
        path = folder / f"{author}.xml"
        path.write_text(f"<author>{text}</author>")
        truth.append(f"{author}:::{('MALE', 'FEMALE')[author % 2]}:::18-24\n")
    (folder / "truth.txt").write_text("".join(truth))
    arguments = [
        "train",
        str(folder),
        f"--dev={folder}",
        "--label=gender",
        f"--output={tmp_path / 'run'}",
        "--epochs=1",
        "--set=units=3",
        "--set=embedding_dim=4",
        "--set=attention_dim=3",
        "--set=num_heads=2",
        "--set=hidden_units=4",
    ]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert "left out" not in shown.err
    assert main(["evaluate", str(tmp_path / "run"), str(folder)]) == 2
    assert "18-24" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_download(run, archive, tmp_path, capsys, monkeypatch):
    from keras_selfattn.data import downloads

    content = pathlib.Path(archive).read_bytes()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/a" else 404)
            self.end_headers()
            if self.path == "/a":
                self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    monkeypatch.setenv("no_proxy", "*")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            digest = hashlib.sha256(content).hexdigest()
            for name, published in {
                "snli_1.0.zip": (f"{url}/a", digest),
                "multinli_1.0.zip": (f"{url}/b", digest),
            }.items():
                monkeypatch.setitem(downloads.PUBLISHED, name, published)
            path = tmp_path / "snli_1.0.zip"
            arguments = ["evaluate", run, path, "--split=dev"]
            fails(capsys, arguments, str(path))
            arguments = [str(each) for each in (*arguments, "--download")]
            assert main(arguments) == 0
            assert path.read_bytes() == content
            other = tmp_path / "multinli_1.0.zip"
            arguments[2] = str(other)
            fails(capsys, arguments, "404", url)
            assert not other.exists()
            arguments[2] = str(tmp_path / "sick.zip")
            fails(capsys, arguments, "snli_1.0.zip or multinli_1.0.zip")
        finally:
            server.shutdown()
            gc.collect()
