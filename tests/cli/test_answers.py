import numpy as np

from keras_selfattn.cli.answers import Answers


def test_no_column_of_the_input_is_written_over():
    answers = Answers(["bad", "good"])
    given = dict.fromkeys(["label", "predicted_label", "probability_bad"], str)
    columns = answers.columns(given)
    assert list(columns) == [
        *given,
        *("predicted_predicted_label", "probability"),
        *("predicted_probability_bad", "probability_good", "error"),
    ]
    row = answers.row("fine", np.array([0.25, 0.75], "float32"))
    assert row == {
        "predicted_predicted_label": "good",
        "probability": 0.75,
        "predicted_probability_bad": 0.25,
        "probability_good": 0.75,
    }
