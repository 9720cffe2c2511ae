import keras

from keras_selfattn.layers.masking import check_mask_shape


class ScoringLayer(keras.layers.Layer):
    """A layer that can return scores of steps, which leave it no mask."""

    def compute_mask(self, inputs, mask=None):
        # The steps are summed up: nothing is left to mask.
        return None

    def compute_output_spec(
        self, inputs, mask=None, training=None, return_attention_scores=False
    ):
        # Of shapes, as tracing the layer takes longer than all else that
        # building a model does; and here, as Keras would give the scores the
        # type of the outputs.
        self.check_masks(mask, inputs)
        outputs = super().compute_output_spec(inputs)
        if not return_attention_scores:
            return outputs
        shapes = keras.tree.map_structure(lambda each: each.shape, inputs)
        return outputs, keras.tree.map_shape_structure(
            keras.KerasTensor, self.compute_scores_shape(shapes)
        )

    def check_masks(self, mask, inputs):
        """`ValueError` unless the mask, if any, is of the inputs' steps."""
        check_mask_shape(mask, inputs)

    def compute_scores_shape(self, input_shape):
        """The shape of the attention scores, or a tuple of such shapes."""
        raise NotImplementedError
