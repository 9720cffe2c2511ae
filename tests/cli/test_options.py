import pytest

from keras_selfattn.cli import main
from keras_selfattn.cli import make_parser
from keras_selfattn.training.values import VALUES
from keras_selfattn.training.values import describe_values
from tests.cli.commands import fails
from tests.cli.commands import train_arguments


def test_values_in_json_in_python_s_spelling_and_strings():
    texts = ["true", "False", "None", "null", "[3, 4]", "0.5", "max", "falsely"]
    arguments = [f"--set=x={text}" for text in texts]
    options = make_parser().parse_args(
        ["train", "texts.csv", "--output=run", *arguments]
    )
    values = [value for _, value in options.set]
    assert values == [True, False, None, None, [3, 4], 0.5, "max", "falsely"]


def test_a_setting_without_a_value(data, tmp_path, capsys):
    with pytest.raises(SystemExit) as raised:
        main(train_arguments(data, tmp_path / "run", "--set=units"))
    assert raised.value.code == 2
    assert "NAME=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given", [["--epochs=5", "--set=epochs=7"], ["--set=units=5"] * 2]
)
def test_what_is_set_twice(data, tmp_path, capsys, given):
    columns = ["--text=review", "--label=stars"]
    files = [data / "train.jsonl", f"--dev={data / 'dev.jsonl'}"]
    train = ["train", *files, *columns, f"--output={tmp_path / 'run'}"]
    name = given[-1].split("=")[1]
    fails(capsys, [*train, *given], f"more than one of: {name}")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["train", "tune", "reproduce"])
def test_the_help_lists_the_training_values(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    for value in VALUES:
        assert value.name in shown
        assert (f"--{value.name.replace('_', '-')} " in shown) == (
            value.is_option
        )
    assert describe_values() in shown


@pytest.mark.parametrize(
    "words",
    [
        "predict RUN --digits 3 one two",
        "predict RUN one --digits 3 two",
        "predict RUN one two --digits 3",
        "predict --digits 3 RUN one two",
    ],
)
def test_texts_stand_anywhere_among_the_options(words):
    options = make_parser().parse_args(words.split())
    assert (options.model, options.texts) == ("RUN", ["one", "two"])
    assert options.digits == 3
