import keras


class ScoringLayer(keras.layers.Layer):
    """A layer that can return scores of steps, which leave it no mask."""

    def compute_mask(self, inputs, mask=None):
        # The steps are summed up: nothing is left to mask.
        return None

    def compute_output_spec(self, *args, **kwargs):
        # Traced, because the scores are float32 under every dtype policy.
        return keras.Operation.compute_output_spec(self, *args, **kwargs)
