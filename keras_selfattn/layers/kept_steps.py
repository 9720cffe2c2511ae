"""What a step decides alone is computed for kept steps only."""

import keras


def steps_of(mask, training):
    """The steps that a layer which treats each by itself computes.

    Skipping the masked ones takes TensorFlow on a CPU, and pays in training.
    Elsewhere all steps are computed, and the outcome is the same.

    Args:
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
        training: Boolean, whether the layer is being trained.

    Returns:
        `AllSteps` or `packed_steps.KeptSteps`, which have the same methods.
    """
    if training and keras.backend.backend() == "tensorflow":
        from keras_selfattn.layers import packed_steps

        if packed_steps.is_faster():
            return packed_steps.KeptSteps(mask)
    return AllSteps()


class AllSteps:
    """Computes the masked steps too."""

    def pack(self, inputs):
        """The inputs `(batch, n, D)` as they are."""
        return inputs

    def unpack(self, outputs):
        """The outputs `(batch, n, D)` as they are, at masked steps too."""
        return outputs
