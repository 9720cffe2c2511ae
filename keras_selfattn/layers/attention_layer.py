from keras import ops

from keras_selfattn.layers.kernel_layer import KernelLayer
from keras_selfattn.layers.scoring_layer import ScoringLayer


class AttentionLayer(ScoringLayer, KernelLayer):
    """A layer whose attention is right under every dtype policy.

    float16 holds numbers up to 65,504, which hidden units, and much sooner
    their products, can exceed: under it, attention runs in float32. Under
    bfloat16 hidden units have 16 bits and logits 32, because a difference of
    1 between two logits counts however large they are. Weights are read in
    the type that they are stored in.
    """

    def add_kernel(self, name, shape, matrices=None):
        return super().add_kernel(name, shape, matrices, autocast=False)

    def add_bias(self, name, shape, vectors=None):
        return super().add_bias(name, shape, vectors, autocast=False)

    def affine(self, inputs, kernel, bias=None, dtype=None):
        """`inputs kernel + bias`, in the type of the hidden units or another.

        Args:
            inputs: Tensor of shape `(..., features)`.
            kernel: Tensor of shape `(features, units)`.
            bias: Tensor of shape `(units,)`, or `None`.
            dtype: Type of the outputs. Defaults to `hidden_dtype`.
        """
        dtype = dtype or self.hidden_dtype
        outputs = ops.matmul(ops.cast(inputs, dtype), ops.cast(kernel, dtype))
        if bias is None:
            return outputs
        if dtype == "bfloat16":
            # The fused one's gradient is a sum in 16 bits, of 256 at most.
            return outputs + ops.cast(bias, dtype)
        # By name: TensorFlow fuses it with the product.
        return ops.add(outputs, ops.cast(bias, dtype))
