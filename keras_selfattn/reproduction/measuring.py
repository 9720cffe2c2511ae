"""What is measured of a trained model."""

import re

from keras_selfattn import evaluation


def measure(model, splits):
    """A result as plain data.

    Returns:
        A dictionary of the best `"epoch"`; the `"parameters"` by part; and,
        in `"right"`, for each split and class a string with a `1` for each
        text answered rightly and a `0` for the others, in their order.
    """
    return {
        "epoch": model.training_record["epoch"],
        "parameters": count_parameters(model),
        "right": {
            split: right_answers(model, texts)
            for split, texts in splits.items()
        },
    }


def right_answers(model, records):
    """Which texts of each class are answered rightly, as ones and zeros."""
    right = [[] for _ in model.labels]
    for label_ids, probabilities in evaluation.answers(records, model):
        found = probabilities.argmax(axis=-1)
        for label_id, answer in zip(label_ids, found, strict=True):
            right[label_id].append("01"[int(answer == label_id)])
    return {
        str(label): "".join(signs)
        for label, signs in zip(model.labels, right, strict=True)
    }


def count_parameters(model):
    """The numbers of weights without word vectors, by the papers' parts."""
    counts = {"hidden layer": 0, "softmax": 0}
    for layer in model.layers:
        if layer.name in ("probabilities", "logits"):
            counts["softmax"] += layer.count_params()
        elif re.fullmatch(r"hidden_\d+|pruned_hidden", layer.name):
            counts["hidden layer"] += layer.count_params()
    by_group = model.parameter_counts()
    total = sum(by_group.values()) - by_group["word vectors"]
    counts["other parts"] = total - sum(counts.values())
    counts["total"] = total
    return counts
