import pytest

from keras_selfattn.cli import main


@pytest.mark.slow
def test_the_demo(tmp_path, capsys):
    assert main(["demo", f"--output={tmp_path / 'demo'}"]) == 0
    shown = capsys.readouterr().out
    accuracy = float(shown.split("Dev accuracy ")[1].split("%")[0])
    assert accuracy > 90
    assert (tmp_path / "demo" / "explain.html").exists()
    assert (tmp_path / "demo" / "savedmodel" / "1").is_dir()
