import pytest

from keras_selfattn.reproduction import get_table
from keras_selfattn.reproduction.measuring import count_parameters
from tests.reproduction.test_tables import build

PREFIXES = {"M": 1e6, "K": 1e3}


@pytest.mark.parametrize(
    ("paper", "name"), [("lin2017", "table 4"), ("parikh2016", "table 1")]
)
def test_sizes_are_the_published_ones(paper, name):
    table = get_table(paper, name)
    for row in table.rows:
        for preset in row.presets.values():
            counts = count_parameters(build(preset, row.overrides))
            for part, published in row.parameters.items():
                # The paper counts these otherwise; see its note, and biases.
                if part == "other parts" or (
                    (row.key, part) == ("yelp-pruned", "hidden layer")
                ):
                    continue
                expected = float(published[:-1]) * PREFIXES[published[-1]]
                assert counts[part] == pytest.approx(expected, rel=0.02), (
                    row.key,
                    part,
                )
