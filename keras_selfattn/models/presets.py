"""The rows of the papers' tables, read from the plain data of `presets.json`.

Words without a pretrained vector have Gaussian ones of their own in Chen et
al., and share some in Parikh et al. Of the penalties of Chen et al. a preset
has the one that is best on its corpus in table 4, which table 3 repeats.
"""

import dataclasses

from keras_selfattn.files import packaged_json
from keras_selfattn.zoo.shipped import list_shipped


@dataclasses.dataclass(frozen=True)
class Preset:
    """One row of a paper's table.

    Attributes:
        paper: The paper.
        table: The table and row that it reproduces.
        class_name: The class of `keras_selfattn.models`.
        model: The arguments of that class, but for the two sizes that the
            data decide.
        training: The training values that aren't at their defaults; see
            `keras_selfattn.training.values`.
        published: Published accuracies in percent, by the name of the test
            set.
        parameters: Integer, how many weights the model has for `num_classes`
            classes, without those of the word vectors; `None` where nobody
            has counted.
    """

    paper: str
    table: str
    class_name: str
    model: dict
    training: dict
    published: dict
    parameters: int | None = None

    @property
    def num_classes(self) -> int:
        """The number of classes of the paper's corpus."""
        return 5 if self.class_name == "SentenceClassifier" else 3


PRESETS = {
    name: Preset(**values)
    for name, values in packaged_json(__package__, "presets.json").items()
}


def list_presets(trained: bool = False) -> list[str]:
    """The names that `from_preset` knows.

    Args:
        trained: Boolean, whether to list the trained models that ship,
            rather than the presets without weights, one a row of a paper's
            table.

    Example:

    >>> "lin2017_age" in list_presets()
    True
    >>> "snli_decomposable" in list_presets(trained=True)
    True
    """
    return list_shipped() if trained else list(PRESETS)


def get_preset(name: str) -> Preset:
    """The preset of a name, or `ValueError` where there is none."""
    if name not in PRESETS:
        raise ValueError(
            "There is neither a preset nor a folder of that name. Presets: "
            f"{', '.join(PRESETS)}. Trained models: "
            f"{', '.join(list_shipped())}. Received: {name!r}"
        )
    return PRESETS[name]
