import itertools

import keras
import pytest

from keras_selfattn import models
from keras_selfattn.reproduction import TABLES
from keras_selfattn.reproduction import get_table


def runs():
    """Each row of each table with each of its corpora."""
    for table in TABLES.values():
        for row in table.rows:
            for corpus, preset in row.presets.items():
                yield table, row, corpus, preset


def build(preset, overrides):
    """A model at the paper's sizes, without its variables."""
    with keras.StatelessScope():
        return models.from_preset(
            preset,
            vocabulary_size=3,
            num_classes=models.get_preset(preset).num_classes,
            **overrides,
        )


def test_the_tables_and_figures_there_are():
    assert [" ".join(key) for key in TABLES] == [
        "lin2017 table 1",
        "lin2017 table 2",
        "lin2017 table 3",
        "lin2017 table 4",
        "lin2017 figure 5",
        "chen2018 table 1",
        "chen2018 table 2",
        "chen2018 table 3",
        "chen2018 table 4",
        "chen2018 figure 1",
        "parikh2016 table 1",
        "parikh2016 table 2",
    ]
    with pytest.raises(ValueError, match="chen2018 figure 1.*'lin2017 table 9"):
        get_table("lin2017", "table 9")


def test_each_preset_has_its_row():
    named = {preset for _, _, _, preset in runs()}
    assert named == set(models.list_presets())


def test_figures_agree_with_the_presets():
    for table, row, _, preset in runs():
        # Of SNLI, table 4 has a decimal more.
        if row.overrides or row.key == "snli-original":
            continue
        for name, figure in models.get_preset(preset).published.items():
            if name in row.published:
                assert row.published[name] == figure, (table.name, row.name)
    pruned = get_table("lin2017", "table 4").rows
    by_key = {row.key: row.published for row in pruned}
    assert by_key["snli-original"] == {"snli": 84.43}
    assert by_key["age-pruned"] == {"age": 77.32}


def test_published_figures_are_of_the_table_s_columns():
    for table in TABLES.values():
        names = {column.name for column in table.columns}
        for row in table.rows:
            assert set(row.published) <= names
            assert set(row.parameters) <= set(table.parts)
            assert bool(row.key) == bool(row.presets)


def test_keys_are_names_of_folders_and_of_one_row():
    for table in TABLES.values():
        keys = [row.key for row in table.rows if row.key]
        assert len(keys) == len(set(keys))
        assert all(key.replace("-", "").isalnum() for key in keys)


def test_what_the_rows_compare_can_not_be_set_for_all_of_them():
    for table in TABLES.values():
        for corpus in table.corpora:
            rows = [row for row in table.rows if corpus in row.presets]
            values = [
                {
                    **models.get_preset(row.presets[corpus]).model,
                    **row.overrides,
                }
                for row in rows
            ]
            names = set(itertools.chain(*values))
            different = {
                name
                for name in names
                if len({str(value.get(name)) for value in values}) > 1
            }
            for name in different - set(table.compared):
                # Sizes, and penalties of a pooling that has none.
                assert name in (
                    "units",
                    "hidden_units",
                    "attention_penalty",
                    "parameter_penalty",
                ), (table.name, name)


def test_penalties_of_the_rows():
    table = get_table("chen2018", "table 4")
    penalties = {row.key: row.overrides for row in table.rows}
    assert penalties["attention"] == {
        "parameter_penalty": 0.0,
        "attention_penalty": 1e-2,
        "embedding_penalty": 0.0,
    }
    assert set(penalties["none"].values()) == {0.0}


def test_generalized_presets_have_the_penalty_of_their_figure():
    table = get_table("chen2018", "table 4")
    for corpus, preset in table.rows[0].presets.items():
        values = models.get_preset(preset)
        (row,) = [
            row
            for row in table.rows
            if row.overrides.items() <= values.model.items()
        ]
        published = {name: row.published[name] for name in values.published}
        assert published == values.published, corpus
        assert (row.key == "attention") == (corpus == "age")


@pytest.mark.slow
def test_all_rows_build():
    for _, row, _, preset in runs():
        assert build(preset, row.overrides).count_params() > 0


# As the papers print them, where a row changes its preset.
PUBLISHED = {
    ("lin2017", "table 3"): {
        "penalty-1": {"yelp": 64.21, "age": 80.45},
        "penalty-0": {"yelp": 61.74, "age": 79.27},
    },
    ("chen2018", "table 4"): {
        "parameter": {"snli": 86.6, "yelp": 66.55, "age": 82.45},
        "attention": {"snli": 86.2, "yelp": 66.15, "age": 82.63},
        "embedding": {"snli": 86.1, "yelp": 65.75, "age": 82.15},
        "none": {"snli": 86.4, "yelp": 65.25, "age": 82.18},
    },
    ("parikh2016", "table 2"): {
        "vanilla": {"neutral": 83.6, "entailment": 91.3, "contradiction": 85.8},
        "intra": {"neutral": 83.7, "entailment": 92.1, "contradiction": 86.7},
    },
}
OVERRIDES = {
    ("lin2017", "table 3"): {
        "penalty-1": {"attention_penalty": 1.0},
        "penalty-0": {"attention_penalty": 0.0},
    },
    ("lin2017", "figure 5"): {
        f"r-{heads}": {"num_heads": heads} for heads in (1, 5, 10, 20, 30)
    },
    ("chen2018", "table 4"): {
        name: {
            f"{each}_penalty": 0.01 if each == name else 0.0
            for each in ("parameter", "attention", "embedding")
        }
        for name in ("parameter", "attention", "embedding", "none")
    },
}
HIDDEN_AND_SOFTMAX = {
    "yelp-original": ("54M", "15K"),
    "yelp-pruned": ("2.7M", "52.5K"),
    "age-original": ("72M", "20K"),
    "age-pruned": ("822K", "63.75K"),
    "snli-original": ("72M", "12K"),
    "snli-pruned": ("5.6M", "45K"),
}


def rows_of(name):
    return {row.key: row for row in get_table(*name).rows if row.key}


@pytest.mark.parametrize("name", PUBLISHED, ids=" ".join)
def test_figures_are_the_papers(name):
    rows = rows_of(name)
    assert rows.keys() == PUBLISHED[name].keys()
    for key, figures in PUBLISHED[name].items():
        assert figures.items() <= rows[key].published.items(), key


@pytest.mark.parametrize("name", OVERRIDES, ids=" ".join)
def test_what_a_row_changes(name):
    rows = rows_of(name)
    assert {key: row.overrides for key, row in rows.items()} == OVERRIDES[name]


def test_sizes_are_the_papers():
    rows = rows_of(("lin2017", "table 4"))
    assert {
        key: (row.parameters["hidden layer"], row.parameters["softmax"])
        for key, row in rows.items()
    } == HIDDEN_AND_SOFTMAX
