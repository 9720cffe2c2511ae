import json

import pytest

from keras_selfattn.training.settings import check_settings
from keras_selfattn.training.settings import read_manifest

MANIFEST = {
    "settings": {"preset": "lin2017_yelp", "texts": {}},
    "labels": ["1", "2"],
    "shards": [{"name": "train/00000-0000"}],
    "dev": {"name": "dev-0000"},
}


@pytest.mark.parametrize(
    "more, different",
    [
        ({"teachers": {"model": 5}}, "teachers"),
        ({"from": "model", "freeze": []}, "from"),
        ({"from": "model", "freeze": ["encoder"]}, "from, freeze"),
        ({"recipe": {"training": {"epochs": 3}}}, "recipe"),
    ],
)
def test_what_is_forgotten_differs(tmp_path, more, different):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"preset": "lin2017_yelp", **more}))
    check_settings(path, {"preset": "lin2017_yelp", **more}, "run")
    with pytest.raises(ValueError, match=f"other values of: {different}$"):
        check_settings(path, {"preset": "lin2017_yelp"}, "run")


def test_what_is_no_longer_told_does_not_count(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"seed": 1, "of_another_version": 5}))
    check_settings(path, {"seed": 1}, "run")


def test_what_a_preparation_says_of_itself(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    assert read_manifest(tmp_path) == MANIFEST


@pytest.mark.parametrize(
    "manifest, expected",
    [
        ({}, "`settings`, dict"),
        ([], "`settings`, dict"),
        ({"settings": 1}, "`settings`, dict"),
        ({**MANIFEST, "settings": {}}, "`preset`, str"),
        ({**MANIFEST, "shards": None}, "`shards`, list"),
        ({**MANIFEST, "shards": [5]}, "`name`, str"),
        ({**MANIFEST, "dev": {}}, "`name`, str"),
    ],
)
def test_another_file_of_that_name(tmp_path, manifest, expected):
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest))
    message = f"{path} does not say what `prepare` has made: .*{expected}"
    with pytest.raises(ValueError, match=message):
        read_manifest(tmp_path)
