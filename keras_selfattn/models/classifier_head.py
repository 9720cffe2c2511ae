"""From an embedding to the scores of the classes."""

import keras

from keras_selfattn import layers
from keras_selfattn import validation
from keras_selfattn.models.loss_type_l2 import LossTypeL2
from keras_selfattn.regularizers import Ambiguity


class ClassifierHead:
    """Hidden layers, and a last one of a score for each class.

    Args:
        num_classes: Integer.
        activation: `"softmax"` for probabilities, `None` for logits.
        l2: Float, the L2 factor of the kernels. Defaults to `0.0`.
        stddev: Float, the spread of the normal distribution that kernels
            start from, or `None` for Glorot's uniform one. Defaults to
            `None`.

    Attributes:
        layers: List of the layers that have weights, in order.
    """

    def __init__(self, num_classes, activation, l2=0.0, stddev=None):
        # Whoever reads the outputs takes them for one of the two.
        self.activation = validation.one_of(
            activation, ("softmax", None), "activation"
        )
        self.num_classes = num_classes
        self.l2 = l2
        self.stddev = stddev
        self.layers = []

    def hidden_layers(self, features, units, name, dropout=0.0, shortcut=False):
        """ReLU layers on an embedding `(B, D)`.

        Args:
            features: The embedding.
            units: Integer, or a sequence of integers: their widths.
            name: The name of the argument that `units` are.
            dropout: Float, the dropout before each of them.
            shortcut: Boolean, whether each layer after the first reads
                `features` as well as the layer below.
        """
        units = [units] if isinstance(units, int) else units
        below = features
        for number, width in enumerate(
            validation.integers(units, name), start=1
        ):
            if number > 1 and shortcut:
                below = keras.layers.Concatenate(name=f"shortcut_{number}")(
                    [features, below]
                )
            if dropout:
                below = layers.Dropout(
                    dropout, name=f"hidden_{number}_dropout"
                )(below)
            below = self._dense(
                width, activation="relu", name=f"hidden_{number}"
            )(below)
        return below

    def pruned_hidden(self, matrix, row_units, column_units):
        """The hidden layer of pruned weights on an embedding `(B, r, D)`."""
        pruned = self._kept(
            layers.PrunedDense(
                row_units,
                column_units,
                kernel_regularizer=self._regularizer(),
                name="pruned_hidden",
            )
        )
        parts = pruned(matrix)
        parts = parts if isinstance(parts, (list, tuple)) else [parts]
        flat = [
            keras.layers.Flatten(name=f"pruned_hidden_flat_{number}")(part)
            for number, part in enumerate(parts, start=1)
        ]
        if len(flat) == 1:
            return flat[0]
        return keras.layers.Concatenate(name="pruned_hidden_units")(flat)

    def sentence_scores(self, matrix, arguments, name, more_logits=None):
        """The scores of an embedding `(B, r, D)`, as the arguments say.

        Args:
            matrix: The embedding.
            arguments: Dictionary of a sentence classifier's arguments.
            name: The name of the layer that makes a vector of the embedding.
            more_logits: Logits to add to those of the embedding, or `None`.
        """
        pruned = arguments["row_units"], arguments["column_units"]
        if pruned == (None, None):
            hidden = self.hidden_layers(
                keras.layers.Flatten(name=name)(matrix),
                arguments["hidden_units"],
                "hidden_units",
                arguments["dropout"],
                arguments["hidden_shortcut"],
            )
        else:
            hidden = self.pruned_hidden(matrix, *pruned)
        return self.scores(
            hidden,
            arguments["dropout"],
            more_logits,
            arguments.get("ambiguity_penalty", 0.0),
        )

    def scores(
        self, hidden, dropout=0.0, more_logits=None, ambiguity_penalty=0.0
    ):
        """The last layer, in float32: probabilities, or logits."""
        if dropout:
            hidden = layers.Dropout(dropout, name="classifier_dropout")(hidden)
        alone = more_logits is None
        activation = self.activation if alone else None
        outputs = self._dense(
            self.num_classes,
            activation=activation,
            dtype="float32",
            name="probabilities" if activation else "logits",
        )(hidden)
        if alone:
            return outputs
        outputs = layers.SummedLogits(
            Ambiguity(ambiguity_penalty) if ambiguity_penalty else None,
            dtype="float32",
            name="summed_logits",
        )([outputs, more_logits])
        if self.activation is None:
            return outputs
        return keras.layers.Softmax(dtype="float32", name="probabilities")(
            outputs
        )

    def _dense(self, units, **options):
        initializer = keras.initializers.GlorotUniform()
        if self.stddev is not None:
            initializer = keras.initializers.RandomNormal(0.0, self.stddev)
        return self._kept(
            keras.layers.Dense(
                units,
                kernel_initializer=initializer,
                kernel_regularizer=self._regularizer(),
                **options,
            )
        )

    def _regularizer(self):
        return LossTypeL2(self.l2) if self.l2 else None

    def _kept(self, layer):
        self.layers.append(layer)
        return layer
