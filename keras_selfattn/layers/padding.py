"""What layers may leave out: padding, and words that repeat in a batch.

Under TensorFlow on a CPU that saves time. Elsewhere everything is computed, on
torch by its own LSTM. The results are the same.
"""

import keras

ON_TENSORFLOW = keras.backend.backend() == "tensorflow"
_ON_TORCH = keras.backend.backend() == "torch"

if _ON_TORCH:
    from keras_selfattn.layers._torch import aligned_lstm
if ON_TENSORFLOW:
    from keras_selfattn.layers._tensorflow import character_windows
    from keras_selfattn.layers._tensorflow import distinct_words
    from keras_selfattn.layers._tensorflow import packed_lstm
    from keras_selfattn.layers._tensorflow import packed_steps


def skips_padding():
    """Whether leaving out padding, and words that repeat, saves time here."""
    return ON_TENSORFLOW and packed_steps.is_faster()


class AllSteps:
    """Computes the masked steps too."""

    def pack(self, inputs):
        """The inputs `(batch, n, D)` as they are."""
        return inputs

    def unpack(self, outputs):
        """The outputs `(batch, n, D)` as they are, at masked steps too."""
        return outputs


def kept_steps(mask, training):
    """The steps that a layer runs its dense products on.

    Args:
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
        training: Boolean, whether the layer is being trained. Only then
            does leaving out the masked steps save time.

    Returns:
        An object with two methods: `pack` gives the steps to run on, and
        `unpack` puts the results back in their places.
    """
    if training and skips_padding():
        return packed_steps.KeptSteps(mask)
    return AllSteps()


def once_for_each_word(encode, ids):
    """The features of words, computed once where a word repeats.

    Args:
        encode: Function from ids `(words, characters)` to features
            `(words, D)`, each row by itself.
        ids: Integer tensor of shape `(words, characters)`.
    """
    if skips_padding():
        ids, rows = distinct_words.find(ids)
        return distinct_words.spread(encode(ids), rows)
    return encode(ids)


def highest_windows(table, ids, kernels):
    """The highest products of kernels with windows of each word's characters.

    Args:
        table: Tensor of shape `(vocabulary, D)`, zeros for padding.
        ids: Integer tensor of shape `(words, characters)`, 0 where there is
            no character.
        kernels: List of variables of shape `(size, D, filters)`.

    Returns:
        A tensor of shape `(words, filters of all kernels)`, zeros for a word
        without characters.
    """
    kernels = [keras.ops.convert_to_tensor(kernel) for kernel in kernels]
    return character_windows.highest(table, ids, kernels)


def packs_lstm(dtype):
    """Whether an LSTM is run by the backend's own means, by `packed_bilstms`.

    Args:
        dtype: String, the type that the LSTM computes in.
    """
    if _ON_TORCH:
        return dtype in aligned_lstm.TYPES
    return ON_TENSORFLOW and packed_lstm.is_faster(dtype)


def packed_bilstms(stack, inputs, mask, training):
    """Bidirectional LSTMs on top of each other, over the kept steps.

    Under TensorFlow over them alone, and on torch over as many steps as the
    longest row has.

    Args:
        stack: Function of `run` and packed inputs `(kept, D)`, on torch
            `(batch, longest, D)`, that gives the packed states of the last
            layer, where `run(layer, inputs)` gives those of a
            `keras.layers.Bidirectional` of an LSTM.
        inputs: Tensor of shape `(batch, n, D)`.
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
        training: Boolean, whether gradients will be asked for.

    Returns:
        The states, of shape `(batch, n, D)`, zeros at masked steps.
    """
    if _ON_TORCH:
        steps = aligned_lstm.AlignedSteps(mask)
    else:
        steps = packed_lstm.PackedSteps(mask)

    def run(layer, below):
        weights = [
            [weight.value for weight in direction.weights]
            for direction in (layer.forward_layer, layer.backward_layer)
        ]
        if _ON_TORCH:
            return aligned_lstm.bidirectional_lstm(below, steps, *weights)
        return packed_lstm.bidirectional_lstm(
            below, steps.rows, *weights, bool(training)
        )

    return steps.unpack(stack(run, steps.pack(inputs)))
