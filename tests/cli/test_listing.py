from keras_selfattn import models
from keras_selfattn import zoo
from keras_selfattn.cli import main


def test_presets(capsys):
    assert main(["presets"]) == 0
    shown = capsys.readouterr().out
    for name in models.list_presets():
        assert name in shown
        assert f"{models.get_preset(name).parameters:,}" in shown
        assert models.get_preset(name).table in shown
    assert "\u2026" not in shown


def test_zoo(capsys):
    assert main(["zoo"]) == 0
    shown = capsys.readouterr().out
    for name in zoo.list_shipped():
        assert name in shown
        assert f"{100 * zoo.get_shipped(name).accuracy:.1f}" in shown
        assert zoo.get_shipped(name).task in shown
