"""Figures as tables in Markdown."""

import numpy as np


def mean_and_spread(values):
    """Shares as percent: the mean and the standard deviation."""
    values = 100 * np.asarray(values)
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


def median_and_range(ratios):
    """The median of some ratios, the least and the most."""
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def print_table(header, rows):
    """Print rows of texts as a Markdown table."""
    print()
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
