from keras import ops

from keras_selfattn.layers import shapes
from keras_selfattn.layers.masking import validate_mask
from keras_selfattn.layers.masking import zero_masked
from keras_selfattn.layers.scoring_layer import ScoringLayer

_AXES = ("batch", "steps", "features")


class MaskedPooling(ScoringLayer):
    """A pooling of `(batch, n, D)` over the steps that the mask keeps.

    Subclasses say how to `pool` and which share each step has in the result.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        shapes.rank(input_shape, _AXES, self)
        self.input_spec = shapes.spec(input_shape)

    def call(self, inputs, mask=None, return_attention_scores=False):
        mask = validate_mask(mask, inputs)
        inputs = zero_masked(inputs, mask, self.compute_dtype)
        pooled = self.pool(inputs, mask)
        if not return_attention_scores:
            return pooled
        shares = ops.cast(self.compute_shares(inputs, mask), "float32")
        return pooled, ops.expand_dims(shares, 1)

    def pool(self, inputs, mask):
        raise NotImplementedError

    def compute_shares(self, inputs, mask):
        """The share `(batch, n)` of each step in the result."""
        raise NotImplementedError

    def get_config(self):
        # Without it Keras keeps no regularizer that is an object.
        return super().get_config()

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])

    def compute_scores_shape(self, input_shape):
        return (input_shape[0], 1, input_shape[1])
