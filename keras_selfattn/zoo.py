"""Recipes of trained models: each makes its preset folder with one command.

    keras-selfattn train --recipe NAME DATA --dev DATA --vectors FILE \\
        --output FOLDER

The trained folders are not shipped: the command is.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Recipe:
    """All that a training run depends on besides its data.

    Attributes:
        preset: The name of the preset.
        model: Arguments of the model that take the place of the preset's.
        training: Training values that take the place of the preset's.
        seed: Integer.
        data: The texts and word vectors that it is for, in words, or `None`
            for any.
        licence: What their licences ask of the model, or `None` where that is
            not known.
        limits: Tuple of sentences on what the model can't do.
    """

    preset: str
    model: dict = dataclasses.field(default_factory=dict)
    training: dict = dataclasses.field(default_factory=dict)
    seed: int = 0
    data: str | None = None
    licence: str | None = None
    limits: tuple = ()


_SNLI_PART = {
    "data": (
        "41,520 training pairs of SNLI 1.0, its 9,842 dev pairs, and the "
        "GoogleNews word2vec vectors of 8,000 frequent words"
    ),
    "licence": (
        "SNLI is licensed under CC BY-SA 4.0 and names its sources, Flickr30k "
        "captions among them; word2vec's GoogleNews vectors under Apache-2.0."
    ),
    "limits": (
        "The premises are captions of photographs: other texts, above all "
        "longer ones, are answered less well.",
        "A linear model that sees the hypothesis alone is right in over 60 % "
        "of the dev pairs: part of the accuracy comes from how the "
        "hypotheses were written, not from inference.",
    ),
}

RECIPES = {
    "decomposable_snli_part": Recipe(
        "parikh2016_snli",
        model={
            # Unknown words' vectors, as long as word2vec's.
            "embeddings_initializer": {
                "class_name": "RandomNormal",
                "config": {"mean": 0.0, "stddev": 0.17},
            },
        },
        training={
            "optimizer": "adam",
            "learning_rate": 1e-3,
            "decay_epochs": 14,
            "epochs": 14,
            "batch_size": 64,
            "normalize_vectors": False,
            "min_count": 3,
            "induce_vectors": True,
        },
        **_SNLI_PART,
    ),
    "structured_snli_part": Recipe(
        "lin2017_snli",
        model={
            "trainable_embeddings": False,
            "character_vocabulary_size": 100,
            "units": 200,
            "attention_dim": 100,
            "num_heads": 4,
            "attention_penalty": 0.03,
            # As in Chen et al., in place of the paper's gated encoder.
            "interaction": "heuristic",
            "hidden_units": 300,
            "dropout": 0.4,
            "encoder_dropout": 0.4,
        },
        training={
            "optimizer": "adam",
            "learning_rate": 1e-3,
            "decay_epochs": 10,
            "epochs": 10,
            "batch_size": 64,
            "min_count": 5,
        },
        **_SNLI_PART,
    ),
    "generalized_snli_part": Recipe(
        "chen2018_snli",
        model={
            "units": [200],
            "attention_dim": 200,
            "num_heads": 3,
            "hidden_units": [300, 300],
            "dropout": 0.3,
            "encoder_dropout": 0.3,
        },
        training={
            "learning_rate": 1e-3,
            "decay_epochs": 8,
            "epochs": 8,
            "batch_size": 64,
            "lowercase": True,
            "min_count": 10,
        },
        **_SNLI_PART,
    ),
}


def list_recipes():
    """The names of the recipes."""
    return list(RECIPES)


def get_recipe(name):
    """The recipe of a name, or `ValueError` where there is none."""
    if name not in RECIPES:
        raise ValueError(
            f"There is no recipe of that name. Recipes: {', '.join(RECIPES)}. "
            f"Received: {name!r}"
        )
    return RECIPES[name]
