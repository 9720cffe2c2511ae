"""Folders of any content give a model, or one line that names a file."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies

from keras_selfattn import models
from tests.hostile import changed_json
from tests.hostile import damaged
from tests.hostile import tried
from tests.tiny_classifier import tiny_classifier

FILES = ("config.json", "preprocessor.json", "vocabulary.txt", "characters.txt")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    tiny_classifier(characters="gobad").save_to_preset(folder)
    return folder


@pytest.fixture(scope="module")
def model(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    return shutil.copytree(whole, folder)


def loads_well(folder):
    try:
        model = models.from_preset(folder, verify=False)
    except ValueError as error:
        assert str(folder) in str(error)
        assert "\n" not in str(error)
    else:
        answers = model.predict(["good food", ""], verbose=0)
        assert np.isfinite(answers).all()


@pytest.mark.parametrize("name", FILES)
@tried(8)
@given(data=strategies.data())
def test_any_bytes(whole, model, name, data):
    content = (whole / name).read_bytes()
    changed = data.draw(damaged(content))
    (model / name).write_bytes(changed)
    try:
        if changed != content:
            with pytest.raises(ValueError, match=name):
                models.from_preset(model)
        loads_well(model)
    finally:
        (model / name).write_bytes(content)


@pytest.mark.parametrize("name", [n for n in FILES if n.endswith(".json")])
@tried(10)
@given(data=strategies.data())
def test_any_json(whole, model, name, data):
    content = (whole / name).read_text()
    changed = data.draw(changed_json(json.loads(content)))
    (model / name).write_text(json.dumps(changed))
    try:
        loads_well(model)
    finally:
        (model / name).write_text(content)
