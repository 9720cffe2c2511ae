"""Whether what was exported answers as the model does."""

import numpy as np

from keras_selfattn.serving.checks import compute_types
from keras_selfattn.serving.endpoints import answers
from keras_selfattn.serving.served_model import ServedModel
from keras_selfattn.serving.served_model import string_tensors

TOLERANCE = 1e-5
# bfloat16 keeps 8 bits, and the order of a sum depends on the batch.
REDUCED_TOLERANCE = 5e-2


def probes(model):
    """Texts that a loaded model must answer like the Keras model.

    Empty and blank rows, punctuation, other scripts, emoji, bytes that are no
    text, and a long row. Its words differ: of two equal ones, either could
    have the maximum.
    """
    words = dict.fromkeys(model.preprocessor.get_vocabulary()[-60:])
    return (
        b"",
        b" \t\n",
        b"It isn't bad at all, is it?",
        "Größe 中文 \U0001f600!".encode(),
        b"\xff\xfe a\x00b",
        " ".join(words).encode(),
    )


def check(model, folder, names):
    """Compare a loaded SavedModel with the model, in a batch and row by row.

    Raises:
        ValueError: if the model does not give probabilities.
        RuntimeError: if an answer differs.
    """
    texts = probes(model)
    # The two texts of a pair differ in length.
    rows = list(zip(*[texts, texts[::-1]][: len(names)], strict=True))
    expected = {
        name: {key: value.numpy() for key, value in outputs.items()}
        for name, outputs in answers(model)(
            *string_tensors(rows, len(names))
        ).items()
    }
    sums = expected["serving_default"]["probabilities"].sum(axis=-1)
    if not np.allclose(sums, 1, atol=1e-2):
        raise ValueError(
            "A served model must give probabilities. Received: outputs that "
            f"sum to {sums[0]}"
        )
    halves = compute_types(model) & {"float16", "bfloat16"}
    tolerance = REDUCED_TOLERANCE if halves else TOLERANCE
    served = ServedModel(folder)
    for part in (slice(None), *(slice(i, i + 1) for i in range(len(rows)))):
        for name, references in expected.items():
            outputs = served.run(name, rows[part])
            for key, output in outputs.items():
                # A row alone is shorter than the same row in a batch.
                crop = tuple(slice(size) for size in output.shape)
                reference = references[key][part][crop]
                if output.dtype == np.float32:
                    equal = np.allclose(
                        output, reference, rtol=tolerance, atol=tolerance
                    )
                elif key == "label" and tolerance == REDUCED_TOLERANCE:
                    # Two labels may be as good as equal.
                    equal = True
                else:
                    equal = np.array_equal(output, reference)
                if not equal:
                    raise RuntimeError(
                        f"The SavedModel's `{name}` gives other `{key}` than "
                        f"the Keras model, for texts {rows[part]}"
                    )
