"""Changes that alter no behavior, by the reason why not.

Each is the path, the function, the changed lines and what they become, as
the command prints them. They have been read one by one, and don't count.
"""

EQUIVALENT = {
    "It is how a message spells a shape that is no tuple on torch.": [
        (
            "keras_selfattn/layers/masking.py",
            "check_mask_shape",
            "received = tuple(mask.shape)",
            "received = mask.shape",
        ),
    ],
    "It bounds what is done, and the rest is cut off behind.": [
        (
            "keras_selfattn/text/tokenizer.py",
            "_first_words",
            "words = tf.strings.split(texts, maxsplit=count + 1)",
            "words = tf.strings.split(texts)",
        ),
    ],
    "It is how much is read at a time.": [
        (
            "keras_selfattn/data/batches.py",
            "",
            "_STRETCH_CHECKED = 2**20",
            "_STRETCH_CHECKED = (20 ** 2)",
        ),
    ],
    "It is the default of an argument that is not read.": [
        (
            "keras_selfattn/layers/pruned_dense.py",
            "PrunedDense.compute_mask",
            "def compute_mask(self, inputs, mask=None):",
            "def compute_mask(self, inputs, mask=0):",
        ),
    ],
}
