import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable(package="keras_selfattn")
class WordEmbedding(keras.layers.Embedding):
    """Word vectors: learned, or pretrained and then fixed or tuned.

    A `keras.layers.Embedding` whose id 0 is padding: it is masked, and its
    vector is zero whatever the table holds.

    Args:
        input_dim: Integer, the number of ids, padding included.
        output_dim: Integer, the width of a word vector.
        **kwargs: Arguments of `keras.layers.Embedding`, such as
            `embeddings_initializer` and `trainable`. The mask of padding is
            always on.

    Call arguments:
        inputs: Integer tensor of shape `(batch, n)`.

    Returns:
        A tensor of shape `(batch, n, output_dim)`.

    Raises:
        ValueError: if the mask of padding is turned off.

    Example:

    >>> import numpy as np
    >>> layer = WordEmbedding(3, 2, trainable=False)
    >>> layer.build()
    >>> layer.load_vectors(np.array([[0, 0], [0, 0], [3, 4]]), [0, 0, 1])
    >>> np.array(layer(np.array([[2, 0]]))).tolist()
    [[[3.0, 4.0], [0.0, 0.0]]]
    """

    def __init__(self, input_dim, output_dim, **kwargs):
        if not kwargs.setdefault("mask_zero", True):
            raise ValueError(
                "The mask of padding is always on. "
                f"Received: mask_zero={kwargs['mask_zero']!r}"
            )
        super().__init__(input_dim, output_dim, **kwargs)

    def call(self, inputs):
        vectors = super().call(inputs)
        padding = ops.expand_dims(ops.equal(inputs, 0), -1)
        return ops.where(padding, ops.zeros_like(vectors), vectors)

    def load_vectors(self, vectors, found, normalize=False):
        """Put pretrained vectors into the table.

        Args:
            vectors: Array of shape `(input_dim, output_dim)`.
            found: Booleans of shape `(input_dim,)`: the rows to take over.
                The others keep their values.
            normalize: Boolean, whether to scale all rows of the table, those
                that keep their direction included, to an l2 norm of 1.

        Raises:
            ValueError: if a shape differs from the table's.
        """
        vectors = np.asarray(vectors)
        found = np.asarray(found, dtype=bool)
        expected = (self.input_dim, self.output_dim)
        if vectors.shape != expected or found.shape != expected[:1]:
            raise ValueError(
                f"The table of word vectors has shape {expected}. Received "
                f"vectors of shape {vectors.shape} and `found` of shape "
                f"{found.shape}"
            )
        table = ops.convert_to_numpy(self.embeddings)
        table = np.where(found[:, None], vectors, table)
        if normalize:
            norms = np.linalg.norm(table, axis=1, keepdims=True)
            table = table / np.maximum(norms, 1e-12)
        self.embeddings.assign(table)
