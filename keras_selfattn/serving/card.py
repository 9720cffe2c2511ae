"""The model card of an export."""

import pathlib


def model_card(model):
    """A Markdown text on a model: what it is, and how it was trained.

    Args:
        model: A classifier with a `preprocessor` and `labels`.

    Returns:
        Str. Of a file of word vectors it has the name, without the folder.
    """
    facts = {
        "Class": f"`{type(model).__name__}`",
        "Labels": ", ".join(map(str, model.labels)),
        "Vocabulary": f"{model.preprocessor.vocabulary_size():,} ids",
        "Weights": f"{model.count_params():,}",
    }
    if hasattr(model, "precision"):
        facts["Precision"] = model.precision
    record = getattr(model, "training_record", None) or {}
    if record.get("vectors"):
        record = {**record, "vectors": pathlib.Path(record["vectors"]).name}
    training = {
        name.replace("_", " ").capitalize(): f"`{value}`"
        for name, value in record.items()
    }
    lines = [f"# {model.name}", "", *_table(facts), "", "## Training", ""]
    lines += _table(training) if training else ["Nothing is known of it."]
    return "\n".join(lines) + "\n"


def _table(rows):
    lines = ["| | |", "|---|---|"]
    for name, value in rows.items():
        escaped = value.replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {name} | {escaped} |")
    return lines
