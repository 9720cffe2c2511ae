import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers import dropping
from keras_selfattn.layers.attention_layer import AttentionLayer


class FeedForwardLayer(AttentionLayer):
    """A layer with networks of ReLU layers, and dropout before each."""

    def __init__(self, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.dropout = validation.fraction(dropout, "dropout")
        self.seed = validation.seed(seed)
        if self.dropout:
            self.seed_generator = keras.random.SeedGenerator(seed)

    def add_network(self, name, features, units):
        """The kernels and biases of a network, one pair a ReLU layer."""
        kernels, biases = [], []
        for index, width in enumerate(units):
            kernels.append(
                self.add_kernel(f"{name}_kernel_{index}", (features, width))
            )
            biases.append(self.add_bias(f"{name}_bias_{index}", (width,)))
            features = width
        return kernels, biases

    def dropout_factors(self, runs, training):
        """What dropout multiplies the inputs of ReLU layers by.

        Args:
            runs: List of pairs of inputs `(..., features)` and the network
                that is to run on them or on others of their `...`.
            training: Boolean, whether dropout is on.

        Returns:
            For each run a list of a tensor, or `None`, for each of its layers.
        """
        depths = [len(kernels) for _, (kernels, _) in runs]
        if not training or not self.dropout:
            return [[None] * depth for depth in depths]
        shapes = [
            (*ops.shape(inputs)[:-1], kernel.shape[0])
            for inputs, (kernels, _) in runs
            for kernel in kernels
        ]
        factors = iter(
            dropping.factors(
                shapes, self.dropout, self.seed_generator, self.hidden_dtype
            )
        )
        return [[next(factors) for _ in range(depth)] for depth in depths]

    def run_network(self, inputs, network, factors):
        """Inputs `(..., features)` through the ReLU layers of a network."""
        for kernel, bias, factor in zip(*network, factors, strict=True):
            if factor is not None:
                inputs = inputs * factor
            inputs = ops.relu(self.affine(inputs, kernel, bias))
        return inputs

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "seed": self.seed,
        }
