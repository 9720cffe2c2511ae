"""A model's answers as rows of a table, and as they are shown."""


class Answers:
    """Names and values of what is added to the columns of the input.

    Args:
        labels: The labels of the model.
        digits: How many digits of a probability are kept, `None` for all.
    """

    def __init__(self, labels, digits=None):
        self._labels = labels
        self._digits = digits
        self._names = {}
        self._as_columns = True

    def columns(self, given, as_columns=True, with_errors=True):
        """The columns of the table, in order.

        Args:
            given: Dictionary of the types of the input's columns, by name.
            as_columns: Boolean, whether each label's probability has a column
                of its own. Otherwise a dictionary holds them.
            with_errors: Boolean, whether there may be rows without an answer.

        Returns:
            A dictionary of types by name. An added column that the input has
            already gets `predicted_` in front, as often as it takes.
        """
        added = {"label": str, "probability": float}
        self._as_columns = as_columns
        if as_columns:
            added |= dict.fromkeys(map(_of_label, self._labels), float)
        else:
            added["probabilities"] = None
        if with_errors:
            added["error"] = str
        self._names = {name: _free(name, given) for name in added}
        return given | {self._names[name]: added[name] for name in added}

    def row(self, text, probabilities):
        """What is added to a row.

        Args:
            text: The text, or the `ValueError` that says what is wrong.
            probabilities: Array of the probability of each label, or `None`.
        """
        if probabilities is None:
            return {self._names["error"]: str(text)}
        by_label = self._by_label(probabilities)
        label = self._labels[probabilities.argmax()]
        added = {
            "label": str(label) if self._as_columns else label,
            "probability": self._number(probabilities.max()),
        }
        if self._as_columns:
            added |= {_of_label(name): p for name, p in by_label.items()}
        else:
            added["probabilities"] = by_label
        return {self._names[name]: value for name, value in added.items()}

    def shown(self, text, probabilities):
        """The answer to a text as it is shown; the arguments are `row`'s."""
        if probabilities is None:
            return {"error": str(text)}
        return {
            "label": self._labels[probabilities.argmax()],
            "probabilities": self._by_label(probabilities),
            "text": text,
        }

    def _by_label(self, probabilities):
        return {
            label: self._number(p)
            for label, p in zip(self._labels, probabilities, strict=True)
        }

    def _number(self, probability):
        if self._digits is None:
            # As many digits as tell a float32 from its neighbors.
            return float(str(probability))
        return round(float(probability), self._digits)


def _of_label(label):
    return f"probability_{label}"


def _free(name, taken):
    """The name, with `predicted_` in front as long as it is taken."""
    while name in taken:
        name = f"predicted_{name}"
    return name
