from keras_selfattn import models
from keras_selfattn.cli import main


def test_presets(capsys):
    assert main(["presets"]) == 0
    shown = capsys.readouterr().out
    for name in models.list_presets():
        assert name in shown
        assert f"{models.get_preset(name).parameters:,}" in shown
