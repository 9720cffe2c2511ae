import keras

from keras_selfattn.layers.pairs import TakesPair
from keras_selfattn.layers.pairs import pair
from keras_selfattn.layers.pairs import pair_of_masks
from keras_selfattn.layers.penalty_layer import PenaltyLayer
from keras_selfattn.layers.scoring_layer import ScoringLayer


@keras.saving.register_keras_serializable(package="keras_selfattn")
class BothSides(TakesPair, PenaltyLayer, ScoringLayer, keras.layers.Wrapper):
    """One layer, with one set of weights, on both sentences of a pair.

    A penalty of the layer is added to the loss once for each side.

    Args:
        layer: The `keras.layers.Layer` to share.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Pair of tensors, each as the shared layer takes it.
        mask: Pair of masks, or `None`. A layer whose `call` takes none is
            called without.
        return_attention_scores: Boolean, handed on where it is `True`.

    Returns:
        A pair of what the shared layer returns for each side.

    Raises:
        ValueError: if the inputs are not a pair.

    Example:

    >>> import numpy as np
    >>> both = BothSides(keras.layers.Dense(2))
    >>> left, right = both((np.ones((3, 4)), np.ones((3, 5, 4))))
    >>> tuple(left.shape), tuple(right.shape)
    ((3, 2), (3, 5, 2))
    """

    input_names = ("left", "right")

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        left, _ = pair(input_shape, self.input_names, self)
        if not self.layer.built:
            self.layer.build(left)
        one = self.layer.input_spec
        if isinstance(one, keras.layers.InputSpec):
            self.input_spec = [one, one]
        if not self.trainable:
            # Keras tells layers within others only where it changes.
            self.layer.trainable = False

    def call(self, inputs, mask=None, return_attention_scores=False):
        return self._on_both(self.layer, inputs, mask, return_attention_scores)

    def compute_output_spec(
        self, inputs, mask=None, return_attention_scores=False
    ):
        return self._on_both(
            self.layer.compute_output_spec,
            inputs,
            mask,
            return_attention_scores,
        )

    def _on_both(self, function, inputs, mask, return_attention_scores):
        sides = pair(inputs, self.input_names, self)
        masks = pair_of_masks(mask, self.input_names, self)
        takes_mask = "mask" in self.layer.call_signature_parameters
        results = []
        for side, side_mask in zip(sides, masks, strict=True):
            # Only what is asked for: not every layer knows both arguments.
            # Keras gives the masks of the inputs unasked.
            kwargs = {}
            if side_mask is not None and takes_mask:
                kwargs["mask"] = side_mask
            if return_attention_scores:
                kwargs["return_attention_scores"] = True
            results.append(function(side, **kwargs))
        return tuple(results)

    def compute_output_shape(self, input_shape):
        return tuple(map(self.layer.compute_output_shape, input_shape))

    @classmethod
    def from_config(cls, config, custom_objects=None):
        # A layer that is built by itself has its weights under its own name,
        # not under that of this one.
        layer = dict(config["layer"])
        layer.pop("build_config", None)
        return super().from_config({**config, "layer": layer}, custom_objects)
