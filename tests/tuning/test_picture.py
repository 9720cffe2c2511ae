import numpy as np

from keras_selfattn.tuning.choices import Choice
from keras_selfattn.tuning.picture import draw
from keras_selfattn.tuning.picture import line_color
from keras_selfattn.tuning.results import Result


def luminance(color):
    """The relative luminance of WCAG."""
    color = np.array(color[:3])
    linear = np.where(
        color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4
    )
    return linear @ [0.2126, 0.7152, 0.0722]


def test_every_line_can_be_read_on_white_and_better_ones_are_darker():
    found = [luminance(line_color(s)) for s in np.linspace(0, 1, 9)]
    # WCAG asks for 3 to 1 of lines in a picture.
    assert max((light + 0.05) / 1.05 for light in found) < 1 / 3
    assert (np.diff(found) < 0).all()
    assert found[0] / found[-1] > 5


def make(number, accuracy, units):
    return Result(
        number=number,
        status="failed" if accuracy is None else "completed",
        accuracy=accuracy,
        epoch=1,
        epochs=2,
        seconds=1.0,
        values={"units": units},
        reason="",
    )


def test_the_picture_has_a_line_in_the_color_of_each_trial(tmp_path):
    from matplotlib.image import imread

    trials = [make(1, 0.8, 8), make(2, 0.6, 16), make(3, 0.9, 32)]
    choice = Choice("units", "units", [8, 16, 32], 8)
    draw(tmp_path / "trials.png", [*trials, make(4, None, 8)], [choice])
    pixels = imread(tmp_path / "trials.png")[..., :3].reshape(-1, 3)
    for share, drawn in ((0.0, True), (1.0, True), (0.5, False)):
        color = np.array(line_color(share)[:3])
        assert (abs(pixels - color).max(axis=1) < 0.01).any() == drawn
