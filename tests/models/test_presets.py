import inspect

import pytest

from keras_selfattn import models
from tests.models import paper_values


def test_presets_are_the_rows_of_the_papers():
    assert sorted(models.list_presets()) == sorted(paper_values.ROWS)


# The value of another argument without which an argument has no effect.
TAKES = {
    "kernel_size": {"encoder": ("cnn",)},
    "attention_dim": {"pooling": ("structured", "generalized")},
    "num_heads": {"pooling": ("structured", "generalized")},
    "attention_penalty": {"pooling": ("structured", "generalized")},
    "parameter_penalty": {"pooling": ("generalized",)},
    "embedding_penalty": {"pooling": ("generalized",)},
    "margin": {"pooling": ("generalized",)},
    "interaction_units": {"interaction": ("gated",)},
    "hidden_units": {"row_units": (None,)},
    "hidden_shortcut": {"row_units": (None,)},
    "max_distance": {"intra_sentence": (True,)},
}
# They change the speed alone, come from the data, or are in none of them.
NOT_OF_A_PAPER = {
    "vocabulary_size",
    "num_classes",
    "lstm_implementation",
    "ngram_buckets",
    "ambiguity_penalty",
    "character_cnn",
    "kwargs",
}


@pytest.mark.parametrize("name", paper_values.ROWS)
def test_a_preset_has_the_values_of_its_paper(name):
    class_name, expected, training, published = paper_values.ROWS[name]
    preset = models.get_preset(name)
    assert preset.class_name == class_name
    parameters = inspect.signature(getattr(models, class_name)).parameters
    # What the preset leaves out is the constructor's.
    received = {
        argument: preset.model.get(argument, parameter.default)
        for argument, parameter in parameters.items()
        if argument not in NOT_OF_A_PAPER
        and all(
            expected[other] in values
            for other, values in TAKES.get(argument, {}).items()
        )
    }
    assert received == {key: expected[key] for key in received}
    assert set(preset.model) <= set(parameters)
    assert preset.training == training
    assert preset.published == published


def test_presets_are_for_as_many_classes_as_their_corpora_have():
    classes = {"age": 5, "yelp": 5, "snli": 3, "matched": 3, "mismatched": 3}
    for name in models.list_presets():
        preset = models.get_preset(name)
        for corpus in preset.published:
            assert preset.num_classes == classes[corpus], name


def hidden_sizes(name):
    """Weights and biases of the hidden layer of a preset."""
    model = models.from_preset(name, vocabulary_size=3, num_classes=3)
    pruned = name.endswith("_pruned")
    layer = model.get_layer("pruned_hidden" if pruned else "hidden_1")
    sizes = {w.path.split("/")[-1]: w.shape for w in layer.weights}
    counts = {"kernel": 0, "bias": 0}
    for weight, shape in sizes.items():
        size = 1
        for axis in shape:
            size *= axis
        counts[weight.split("_")[-1]] += size
    return counts["kernel"], counts["bias"]


@pytest.mark.parametrize(
    ("name", "kernels", "biases"),
    [
        # Table 4 of Lin et al.; its 72M for Age are for 4000 hidden units.
        ("lin2017_yelp", 54_000_000, 3000),
        ("lin2017_age", 36_000_000, 2000),
        ("lin2017_snli", 72_000_000, 4000),
        ("lin2017_yelp_pruned", 2_880_000, 10_500),
        ("lin2017_age_pruned", 822_750 - 12_750, 12_750),
        ("lin2017_snli_pruned", 5_595_000 - 15_000, 15_000),
    ],
)
def test_hidden_layers_have_the_sizes_of_table_4(name, kernels, biases):
    assert hidden_sizes(name) == (kernels, biases)


def test_the_table_s_hidden_units_give_age_its_72_million():
    model = models.from_preset(
        "lin2017_age", vocabulary_size=3, num_classes=5, hidden_units=4000
    )
    assert model.get_layer("hidden_1").kernel.shape == (18_000, 4000)


def parameters(name):
    model = models.from_preset(name, vocabulary_size=2, num_classes=3)
    counts = model.parameter_counts()
    return sum(counts[group] for group in counts if group != "word vectors")


def test_decomposable_models_have_the_parameters_the_paper_describes():
    projection = 300 * 200
    attend = 200 * 200 + 200 + 200 * 200 + 200
    compare = 400 * 200 + 200 + 200 * 200 + 200
    aggregate = 400 * 200 + 200 + 200 * 200 + 200 + 200 * 3 + 3
    vanilla = projection + attend + compare + aggregate
    assert parameters("parikh2016_snli") == vanilla == 381_803
    intra = 200 * 200 + 200 + 200 * 200 + 200 + 22
    wider = 200 * 200 + 2 * 200 * 200
    assert parameters("parikh2016_snli_intra") == vanilla + intra + wider


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="lin2017_yelp.*'lin2018'"):
        models.from_preset("lin2018", vocabulary_size=3, num_classes=2)


@pytest.mark.parametrize("name", [None, 5, ["lin2017_yelp"]])
def test_what_names_no_preset(name):
    with pytest.raises(ValueError, match="path of a folder.*Received: name="):
        models.from_preset(name, vocabulary_size=3, num_classes=2)


def test_sizes_must_be_given():
    with pytest.raises(ValueError, match="`num_classes` must be given"):
        models.from_preset("lin2017_yelp", vocabulary_size=3)
