import pytest

from keras_selfattn.cli import main
from tests.cli.commands import fails


@pytest.mark.slow
def test_the_demo(tmp_path, capsys):
    assert main(["demo", f"--output={tmp_path / 'demo'}"]) == 0
    shown = capsys.readouterr().out
    accuracy = float(shown.split("Dev accuracy ")[1].split("%")[0])
    assert accuracy > 90
    assert (tmp_path / "demo" / "explain.html").exists()
    assert (tmp_path / "demo" / "savedmodel" / "1").is_dir()


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_wrong_seed_leaves_no_folder(tmp_path, capsys, seed):
    arguments = ["demo", f"--output={tmp_path / 'demo'}", f"--seed={seed}"]
    fails(capsys, arguments, f"`--seed` must be from 0 to {2**32 - 1}")
    assert not (tmp_path / "demo").exists()
