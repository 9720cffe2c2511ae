"""Recipes of trained models: each makes its preset folder with one command.

    keras-selfattn train --recipe NAME DATA --dev DATA --vectors FILE \\
        --output FOLDER

`recipes.json` has the recipes. `own_texts` and `own_pairs`, and those of the
same names with `_vectors`, which take word vectors, are for anyone's texts, few
or many, and `train` takes one of them where it is told none. The others are for
published corpora, and some of the models that they make ship. That of
decomposable attention draws the vectors of unknown words as long as word2vec's,
that of structured self-attention has the interaction of Chen et al. in place of
the paper's gated encoder.
"""

import dataclasses
import typing

from keras_selfattn.files import packaged_json


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
        licence: What their licenses ask of the model, or `None` where that is
            not known.
        limits: Sequence of sentences on what the model can't do.
        search: By name the values that a search tries of arguments and
            training values; empty for the papers' values.
    """

    preset: str
    model: dict = dataclasses.field(default_factory=dict)
    training: dict = dataclasses.field(default_factory=dict)
    seed: int = 0
    data: str | None = None
    licence: str | None = None
    limits: typing.Sequence = ()
    search: dict = dataclasses.field(default_factory=dict)

    def with_vectors(self) -> "Recipe":
        """The recipe for word vectors of a file, which have their own width."""
        return dataclasses.replace(
            self,
            model=_without_width(self.model),
            search=_without_width(self.search),
        )


def _without_width(values):
    return {n: value for n, value in values.items() if n != "embedding_dim"}


def _read():
    file = packaged_json(__package__, "recipes.json")
    for name, values in file["recipes"].items():
        corpus = values.pop("corpus", None)
        yield name, Recipe(**{**file["corpora"].get(corpus, {}), **values})


RECIPES = dict(_read())


def list_recipes() -> list[str]:
    """The names of the recipes."""
    return list(RECIPES)


def get_recipe(name: str) -> Recipe:
    """The recipe of a name, or `ValueError` where there is none."""
    if name not in RECIPES:
        raise ValueError(
            f"There is no recipe of that name. Recipes: {', '.join(RECIPES)}. "
            f"Received: {name!r}"
        )
    return RECIPES[name]
