import pytest

from tests.training.small import train


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "run"
    return folder, train(folder)
