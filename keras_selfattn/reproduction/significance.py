"""The papers' significance test, over test items or over seeds.

Chen et al. report "the one-tailed paired t-test against the best baseline"
and don't say what the pairs are. Both readings are here: the items of the
test set, where an item's value is the share of the seeds that answer it
rightly, and the seeds, where a seed's value is its accuracy. The first tells
whether the models differ on further texts of the kind, the second whether
they do when trained again.
"""

import numpy as np


def paired_t_test(tested, baseline):
    """The p-value of the one-tailed paired t-test that `tested` is greater.

    Args:
        tested: Sequence of numbers.
        baseline: Sequence of as many numbers, each the pair of one above.

    Returns:
        A float; `None` for fewer than two pairs, or where all differ by the
        same, of which the test says nothing.
    """
    # It takes a while, and only a table's end needs it.
    from scipy import stats

    tested = np.asarray(tested, dtype="float64")
    baseline = np.asarray(baseline, dtype="float64")
    difference = tested - baseline
    if len(difference) < 2 or np.allclose(difference, difference[0]):
        return None
    return float(
        stats.ttest_rel(tested, baseline, alternative="greater").pvalue
    )


def mean_and_deviation(values):
    """The mean and the standard deviation of a sample; `None` of one."""
    values = np.asarray(values, dtype="float64")
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    return float(values.mean()), deviation
