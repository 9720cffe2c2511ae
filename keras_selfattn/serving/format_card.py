"""What the card of a model in another format says: how it is asked."""

from keras_selfattn import sides
from keras_selfattn.text.preprocessor import first_word_id

CARD_FILE = "model_card.md"


def format_card(card, model, file, runs_in):
    """A model card with the inputs and the output of a format.

    Args:
        card: String, the model card in Markdown.
        model: A classifier with a `preprocessor` and `labels`.
        file: String, the name of the file that is loaded.
        runs_in: String, the name of what runs it.

    Returns:
        A string.
    """
    inputs = [
        f"| input | `{tensor.name}` | int32 | ({', '.join(axes)}) |"
        for tensor in model.inputs
        for axes in [_axes(tensor, model.preprocessor)]
    ]
    classes = len(model.labels)
    return "\n".join(
        [
            card.rstrip("\n"),
            "",
            "## Format",
            "",
            f"`{file}` runs in {runs_in} and takes batches of one text or "
            "more, of any length.",
            "",
            "| | name | type | shape |",
            "| --- | --- | --- | --- |",
            *inputs,
            f"| output | `probabilities` | float32 | (batch, {classes}) |",
            "",
            "Its columns are the labels in the order of `labels.json`.",
            "",
            _ids(model.preprocessor),
            "",
            "In Python "
            "`keras_selfattn.text.TextPreprocessor.load(folder)(texts)` gives "
            "the inputs" + _of_sides(model) + ".",
            "",
        ]
    )


def _axes(tensor, preprocessor):
    if tensor.name.endswith("char_ids"):
        return "batch", "words", str(preprocessor.max_characters)
    return "batch", "words"


def _ids(preprocessor):
    buckets = preprocessor.num_oov_indices
    unknown = "1" if buckets == 1 else f"1 to {buckets}, by a hash,"
    first = first_word_id(preprocessor)
    null = ""
    if preprocessor.prepend_null:
        null = f" {first - 1} is `[NULL]`, which comes before each text;"
    parts = [
        "The inputs are ids, not text: the files beside split a text into "
        "words (Penn Treebank, with the settings in `preprocessor.json`) and "
        f"number them. 0 is padding on the right; {unknown} a word out of the "
        f"vocabulary;{null} {first} is the word of the first line of "
        "`vocabulary.txt`."
    ]
    if preprocessor.characters is not None:
        parts.append(
            "Of the characters 0 is padding, 1 any that is not in "
            "`characters.txt`, and 2 that of its first line."
        )
    return " ".join(parts)


def _of_sides(model):
    if len(model.sides) == 1:
        return ""
    names = " or ".join(f"`{side}`" for side in sides.PAIR)
    return f" of a side; {names} comes before their names"
