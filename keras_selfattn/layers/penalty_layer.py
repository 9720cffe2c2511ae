import weakref

import keras

from keras_selfattn.private_names import Clearing
from keras_selfattn.private_names import collecting_scope

# Keras tells penalties apart by their address in memory, which must not be
# given to another one as long as their scope lasts; and no longer, as a whole
# traced step hangs on each of them.
_seen_losses = weakref.WeakKeyDictionary()


class KeepsPenalties(Clearing):
    """What makes the penalties of a layer, or a model, count in each call.

    On JAX, Keras trains by `stateless_call`, in which each call of a layer, or
    of a model that holds it, drops the penalties of its calls before, and of
    the layers within it. This one keeps them, so that one which two sentences
    share adds both.
    """

    _seen_scope = None

    def keeps_penalties(self):
        """Whether there are some of an earlier call in the same step."""
        scope = collecting_scope()
        seen = self._seen_scope
        return scope is not None and seen is not None and seen() is scope

    def __call__(self, *args, **kwargs):
        scope = collecting_scope()
        if scope is None:
            return super().__call__(*args, **kwargs)
        before = list(scope.losses)
        outputs = super().__call__(*args, **kwargs)
        for loss in before:
            if not any(loss is kept for kept in scope.losses):
                # A functional model refuses it, meant for its making.
                keras.layers.Layer.add_loss(self, loss)
        _seen_losses.setdefault(scope, []).extend(scope.losses)
        self._seen_scope = weakref.ref(scope)
        return outputs


class PenaltyLayer(KeepsPenalties, keras.layers.Layer):
    """A layer whose penalties count once for each of its calls."""
