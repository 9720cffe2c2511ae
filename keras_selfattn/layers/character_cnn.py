import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import padding
from keras_selfattn.layers import shapes
from keras_selfattn.layers.kernel_layer import KernelLayer


@keras.saving.register_keras_serializable(package="keras_selfattn")
class CharacterCNN(KernelLayer):
    """Word vectors from characters: convolutions and a maximum.

    Inputs are the character ids of the words of a sentence. For each kernel
    size `k`, a window of `k` characters slides over a word, centered on each
    of its characters, with zeros beyond the word's ends:

    `outputs = max over the characters of
    relu(window of embeddings · kernel + bias)`

    Padding, id 0, counts as zeros in the windows and has no window of its
    own, so that further padding changes nothing. A word of padding alone
    gives zeros.

    Args:
        vocabulary_size: Integer, the number of character ids, padding
            included.
        embedding_dim: Integer, the width of a character's embedding. Defaults
            to `15`.
        filters: Integer, the number of filters of each kernel size. Defaults
            to `100`.
        kernel_sizes: Sequence of integers, the widths of the windows.
            Defaults to `(1, 3, 5)`.
        **kwargs: The initializers, regularizers and constraints of
            `keras.layers.Dense` (`kernel_initializer`, ...), for the kernels
            and the biases of the windows, and the arguments of
            `keras.layers.Layer`.

    Call arguments:
        inputs: Integer tensor of shape `(batch, n, characters)`, 0 where there
            is no character.

    Returns:
        A tensor of shape `(batch, n, filters * len(kernel_sizes))`, one
        kernel size after the other.

    Raises:
        ValueError: if an argument is out of its range, or if the inputs are
            not of rank 3.

    References:
        - [Chen et al., 2018](https://arxiv.org/abs/1806.09828), section 3.1

    Example:

    >>> import numpy as np
    >>> layer = CharacterCNN(vocabulary_size=30, filters=4)
    >>> words = layer(np.array([[[3, 1, 20], [4, 0, 0], [0, 0, 0]]]))
    >>> tuple(words.shape)
    (1, 3, 12)
    >>> keras.ops.convert_to_numpy(words)[0, 2].max().item()
    0.0
    """

    def __init__(
        self,
        vocabulary_size,
        embedding_dim=15,
        filters=100,
        kernel_sizes=(1, 3, 5),
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocabulary_size = validation.integer(
            vocabulary_size, "vocabulary_size"
        )
        self.embedding_dim = validation.integer(embedding_dim, "embedding_dim")
        self.filters = validation.integer(filters, "filters")
        self.kernel_sizes = validation.widths(kernel_sizes, "kernel_sizes")
        # Set to False where the ops that it takes are not known, as by the
        # converters to other formats.
        self.encodes_words_once = True

    def build(self, input_shape):
        shapes.rank(input_shape, ("batch", "steps", "characters"), self)
        self.input_spec = shapes.spec(input_shape)
        self.embeddings = self.add_weight(
            name="embeddings",
            shape=(self.vocabulary_size, self.embedding_dim),
            initializer="uniform",
            # Of 16 bits, the gradient of a frequent character would be too
            # small a sum.
            autocast=False,
        )
        self.kernels, self.biases = [], []
        for size in self.kernel_sizes:
            shape = (size, self.embedding_dim, self.filters)
            self.kernels.append(self.add_kernel(f"kernel_{size}", shape))
            self.biases.append(self.add_bias(f"bias_{size}", (self.filters,)))

    def call(self, inputs):
        if 0 in inputs.shape:
            # There is no maximum of nothing.
            shape = self.compute_output_shape(ops.shape(inputs))
            return ops.zeros(shape, dtype=self.compute_dtype)
        characters = ops.shape(inputs)[2]
        ids = ops.reshape(ops.cast(inputs, "int32"), (-1, characters))
        if self.encodes_words_once:
            words = padding.once_for_each_word(self.encode, ids)
        else:
            words = self.encode(ids)
        return ops.reshape(words, (*ops.shape(inputs)[:2], words.shape[-1]))

    def encode(self, ids):
        """The features `(words, D)` of words of ids `(words, characters)`."""
        # Zeros in place of the first row; cutting it off also makes the
        # gradient dense, which optimizers add up rightly for repeated ids.
        table = ops.pad(self.embeddings[1:], ((1, 0), (0, 0)))
        is_character = ops.expand_dims(ops.not_equal(ids, 0), -1)
        if self.encodes_words_once and padding.skips_padding():
            windows = padding.highest_windows(table, ids, self.kernels)
            # Of 16 bits, the gradient of a bias would be too small a sum.
            dtype = keras.backend.result_type(windows.dtype, "float32")
            biases = ops.cast(ops.concatenate(self.biases), dtype)
            words = ops.relu(ops.cast(windows, dtype) + biases)
            words = ops.cast(words, self.compute_dtype)
            has_characters = ops.any(is_character, axis=1)
            return ops.where(has_characters, words, ops.zeros_like(words))
        embedded = ops.cast(ops.take(table, ids, axis=0), self.compute_dtype)
        words = [
            self.convolve(embedded, is_character, kernel, bias)
            for kernel, bias in zip(self.kernels, self.biases, strict=True)
        ]
        return ops.concatenate(words, axis=-1)

    def convolve(self, embedded, is_character, kernel, bias):
        """The `(words, filters)` maxima of one kernel's windows."""
        windows = ops.conv(
            embedded, kernel, padding="same", data_format="channels_last"
        )
        windows = ops.where(
            is_character, windows + bias, ops.zeros_like(windows)
        )
        # After the maximum, where there is less to do: it never changes which
        # window is the highest.
        return ops.relu(ops.max(windows, axis=1))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:2], self.filters * len(self.kernel_sizes))

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "embedding_dim": self.embedding_dim,
            "filters": self.filters,
            "kernel_sizes": self.kernel_sizes,
        }
