import json

import keras
import pytest

from keras_selfattn import cli
from keras_selfattn import models
from keras_selfattn import zoo
from keras_selfattn.data.generated_pairs import generate_pairs


def test_the_recipes_there_are():
    assert zoo.list_recipes() == [
        "own_texts",
        "own_texts_vectors",
        "own_pairs",
        "own_pairs_vectors",
        "snli_decomposable",
        "snli_structured",
        "snli_generalized",
        "nli_decomposable",
        "reviews_structured",
        "decomposable_snli_part",
        "structured_snli_part",
        "generalized_snli_part",
    ]
    with pytest.raises(ValueError, match="decomposable_snli_part.*'large'"):
        zoo.get_recipe("large")


@pytest.mark.parametrize("name", zoo.list_recipes())
def test_a_recipe_builds_its_model(name):
    recipe = zoo.get_recipe(name)
    with keras.StatelessScope():
        model = models.from_preset(
            recipe.preset, vocabulary_size=3, num_classes=3, **recipe.model
        )
    config = model.get_config()
    assert recipe.model.items() <= config.items()
    if not name.startswith("own_"):
        assert recipe.data and recipe.licence and recipe.limits


def test_a_recipe_is_trained_with_one_command(tmp_path, monkeypatch):
    pairs = list(generate_pairs(64, seed=0))
    for name, part in (("train", pairs[:48]), ("dev", pairs[48:])):
        rows = [
            {"text": p.premise, "pair": p.hypothesis, "label": p.label}
            for p in part
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text)
    recipe = zoo.Recipe(
        "parikh2016_snli",
        model={
            "projection_dim": 5,
            "attend_units": [4],
            "compare_units": [3],
            "aggregate_units": [7],
        },
        training={"batch_size": 48, "epochs": 9},
        seed=6,
        licence="Anyone may have it.",
        limits=("It knows few words.",),
    )
    monkeypatch.setitem(zoo.RECIPES, "tiny", recipe)
    arguments = [
        "train",
        str(tmp_path / "train.jsonl"),
        f"--dev={tmp_path / 'dev.jsonl'}",
        "--text-pair=pair",
        "--recipe=tiny",
        "--epochs=1",
        "--set=embedding_dim=6",
        f"--output={tmp_path / 'run'}",
    ]
    assert cli.main(arguments) == 0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["preset"] == "parikh2016_snli"
    assert settings["seed"] == 6
    assert settings["model"]["compare_units"] == [3]
    assert settings["model"]["embedding_dim"] == 6
    # What is asked for goes before the recipe.
    assert settings["training"]["epochs"] == 1
    assert settings["training"]["batch_size"] == 48
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "Anyone may have it." in card
    assert "- It knows few words." in card
    # The paths are those that were given.
    given = " ".join(arguments[:3])
    assert f"    keras-selfattn {given}" in card
    assert "| train | 48 | contradiction" in card


def test_a_recipe_is_no_preset_besides(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(
            [
                "train",
                "x.jsonl",
                "--dev=x.jsonl",
                "--output=x",
                "--recipe=structured_snli_part",
                "--preset=lin2017_snli",
            ]
        )
    assert "not allowed with" in capsys.readouterr().err
