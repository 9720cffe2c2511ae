import signal
import subprocess
import sys

from keras_selfattn.cli import main


def test_export_answers_raw_text(run, tmp_path, capsys):
    from keras_selfattn.serving import load_savedmodel

    assert main(["export", str(run), str(tmp_path / "served")]) == 0
    path = capsys.readouterr().out.strip()
    assert path == str(tmp_path / "served" / "1")
    labels, probabilities = load_savedmodel(path).predict(["good food"])
    assert len(labels) == 1
    assert probabilities.shape == (1, 5)


def test_a_terminated_export_leaves_nothing(run, tmp_path):
    code = (
        "import os, signal, sys, time;"
        "from keras_selfattn.cli import main;"
        "from keras_selfattn.serving import agreement;"
        "agreement.check = lambda *_: ("
        "    os.kill(os.getpid(), signal.SIGTERM), time.sleep(60)"
        ");"
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "export", run, tmp_path / "served"],
        capture_output=True,
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
