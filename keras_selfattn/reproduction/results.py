"""Published and measured figures of a table, side by side."""

import numpy as np

from keras_selfattn.reproduction.significance import mean_and_deviation
from keras_selfattn.reproduction.significance import paired_t_test


class Results:
    """What the runs of a table gave.

    Args:
        table: The `Table`.
        corpus: The corpus that was run.
        measured_on: Dictionary of the split that each column was measured
            on, by the column's name, or `None`.
        runs: Dictionary by row key of dictionaries by seed of what
            `measuring.measure` returns, with `"dev_accuracies"`.
        failures: Dictionary of messages by `(row key, seed)`.
    """

    def __init__(self, table, corpus, measured_on, runs, failures):
        self.table = table
        self.corpus = corpus
        self.measured_on = measured_on
        self.runs = runs
        self.failures = failures

    def right(self, row_key, column):
        """Which texts the runs of a row answer rightly.

        Returns:
            A dictionary by seed of arrays of ones and zeros, one a text,
            class by class: the same order in all runs.
        """
        split = self.measured_on[column.name]
        if split is None:
            return {}
        found = {}
        for seed, run in sorted(self.runs.get(row_key, {}).items()):
            by_label = run["right"][split]
            labels = [column.label] if column.label else sorted(by_label)
            signs = "".join(by_label[label] for label in labels)
            found[seed] = np.frombuffer(signs.encode(), "uint8") - ord("0")
        return found

    def accuracies(self, row, column):
        """The accuracies of a row in percent, by seed."""
        return {
            seed: 100 * float(right.mean())
            for seed, right in self.right(row.key, column).items()
        }

    def best_baseline(self, column):
        """The baseline with the best mean accuracy, or `None`."""
        means = {}
        for number, row in enumerate(self.table.rows):
            accuracies = self.accuracies(row, column) if row.key else {}
            if row.is_baseline and accuracies:
                means[number] = np.mean([*accuracies.values()])
        return self.table.rows[max(means, key=means.get)] if means else None

    def p_values(self, row, column):
        """Of the one-tailed paired t-test against the best baseline.

        Returns:
            A pair of p-values, over items and over seeds, each `None` where
            there is nothing to test, as on the texts trained on.
        """
        if self.measured_on[column.name] in (None, "train"):
            return None, None
        baseline = self.best_baseline(column)
        tested = self.right(row.key, column) if row.key else {}
        if row.is_baseline or baseline is None or not tested:
            return None, None
        other = self.right(baseline.key, column)
        over_items = paired_t_test(
            np.mean([*tested.values()], axis=0),
            np.mean([*other.values()], axis=0),
        )
        seeds = [seed for seed in tested if seed in other]
        over_seeds = paired_t_test(
            [tested[seed].mean() for seed in seeds],
            [other[seed].mean() for seed in seeds],
        )
        return over_items, over_seeds

    def parameters(self, row, part):
        """The number of weights of a row's part, or `None`."""
        for run in self.runs.get(row.key, {}).values():
            return run["parameters"][part]
        return None

    def figure(self, row, column):
        """All that is known of a row and column, as plain data."""
        accuracies = self.accuracies(row, column) if row.key else {}
        mean, deviation = (
            mean_and_deviation([*accuracies.values()])
            if accuracies
            else (None, None)
        )
        over_items, over_seeds = self.p_values(row, column)
        return {
            "published": row.published.get(column.name),
            "mean": mean,
            "standard_deviation": deviation,
            "accuracies": accuracies,
            "p_over_items": over_items,
            "p_over_seeds": over_seeds,
            "is_best_baseline": (
                bool(accuracies) and row is self.best_baseline(column)
            ),
        }

    def as_dict(self):
        """All results, as plain data."""
        table = self.table
        return {
            "paper": table.paper,
            "name": table.name,
            "title": table.title,
            "corpus": self.corpus,
            "measured_on": self.measured_on,
            "notes": list(table.notes),
            "rows": [
                {
                    "row": row.name,
                    "key": row.key,
                    "is_ours": row.key is not None,
                    "is_baseline": row.is_baseline,
                    "figures": {
                        column.name: self.figure(row, column)
                        for column in table.columns
                    },
                    "parameters": {
                        part: {
                            "published": row.parameters.get(part),
                            "measured": self.parameters(row, part),
                        }
                        for part in table.parts
                    },
                    "dev_accuracies": {
                        seed: run["dev_accuracies"]
                        for seed, run in sorted(
                            self.runs.get(row.key, {}).items()
                        )
                    },
                }
                for row in table.rows
            ],
            "failures": [
                {"key": key, "seed": seed, "error": error}
                for (key, seed), error in self.failures.items()
            ],
        }
