import pytest

from keras_selfattn.cli import main
from tests.cli.commands import train_arguments
from tests.cli.commands import write_reviews


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_reviews(folder / "train.jsonl", 48, 1)
    write_reviews(folder / "dev.jsonl", 20, 2)
    return folder


@pytest.fixture(scope="session")
def run(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert main(train_arguments(data, folder)) == 0
    return folder
