"""Figures as tables in Markdown."""

import numpy as np


def mean_and_spread(values):
    """Shares as percent: the mean and the standard deviation."""
    values = 100 * np.asarray(values)
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


def print_table(header, rows):
    """Print rows of texts as a Markdown table."""
    print()
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
