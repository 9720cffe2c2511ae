import pytest

from keras_selfattn import models


def test_presets_are_the_rows_of_the_papers():
    lin = [
        f"lin2017_{corpus}{variant}"
        for corpus in ("age", "yelp", "snli")
        for variant in ("", "_pruned")
    ] + [
        f"lin2017_{encoder}_max_{corpus}"
        for encoder in ("bilstm", "cnn")
        for corpus in ("age", "yelp")
    ]
    chen = [
        f"chen2018_{corpus}{pooling}"
        for corpus in ("snli", "multinli", "age", "yelp")
        for pooling in ("", "_max", "_mean", "_last")
    ]
    parikh = ["parikh2016_snli", "parikh2016_snli_intra"]
    assert sorted(models.list_presets()) == sorted(lin + chen + parikh)


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


def test_sizes_must_be_given():
    with pytest.raises(ValueError, match="num_classes=None"):
        models.from_preset("lin2017_yelp", vocabulary_size=3)
