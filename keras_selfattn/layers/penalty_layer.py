import keras


class PenaltyLayer(keras.layers.Layer):
    """A layer whose penalties count once for each of its calls.

    Keras's `stateless_call`, which its JAX trainer trains by, takes each
    layer of a functional model for a model of its own, and each call of a
    layer then forgets the penalties of the call before. This one keeps them.
    """

    def __call__(self, *args, **kwargs):
        scope = _collecting_scope()
        if scope is None:
            return super().__call__(*args, **kwargs)
        before = list(scope.losses)
        outputs = super().__call__(*args, **kwargs)
        for loss in before:
            if not any(loss is kept for kept in scope.losses):
                self.add_loss(loss)
        # Keras tells penalties apart by their address in memory, which must
        # not be given to another one as long as Keras remembers it.
        self._seen_losses = list(scope.losses)
        return outputs


def _collecting_scope():
    """The `keras.StatelessScope` that collects penalties, or `None`."""
    with keras.StatelessScope(initialize_variables=False) as probe:
        scope = probe.original_scope
    return scope if scope is not None and scope.collect_losses else None
