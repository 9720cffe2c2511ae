import keras
from keras import ops

from keras_selfattn import validation
from keras_selfattn.layers.attention_layer import AttentionLayer


class FeedForwardLayer(AttentionLayer):
    """A layer with networks of ReLU layers, and dropout before each."""

    def __init__(self, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.dropout = validation.fraction(dropout, "dropout")
        self.seed = seed
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

    def run_network(self, inputs, network, training):
        """Inputs `(..., features)` through the ReLU layers of a network."""
        for kernel, bias in zip(*network, strict=True):
            if training and self.dropout:
                inputs = keras.random.dropout(
                    inputs, self.dropout, seed=self.seed_generator
                )
            inputs = ops.relu(self.affine(inputs, kernel, bias))
        return inputs

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "seed": self.seed,
        }
