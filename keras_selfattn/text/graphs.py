"""The graphs of a preprocessor that is called over and over."""

import itertools

import tensorflow as tf

# Calls op by op before a graph is made, which takes as long as a hundred, and
# the texts up to which starting each op is what takes the time.
_CALLS_WITHOUT = 16
_FEW_TEXTS = 64


class Graphs:
    """What answers few texts when a preprocessor has been called often.

    It is no trackable object, so that a model that holds a preprocessor
    neither saves nor exports the graphs.
    """

    def __init__(self):
        self._calls = itertools.count()
        self._by_limit = {}

    def are_worth_it(self, texts):
        """Whether a graph is to answer a call, which is counted."""
        return (
            tf.executing_eagerly()
            and texts.shape.rank == 1
            and texts.shape[0] <= _FEW_TEXTS
            and next(self._calls) >= _CALLS_WITHOUT
        )

    def answer(self, preprocessor, texts):
        """What `preprocessor.call(texts)` gives."""
        # A limit may be set later on.
        limit = preprocessor.max_tokens
        if limit not in self._by_limit:
            signature = [tf.TensorSpec([None], tf.string)]
            graph = tf.function(preprocessor.call, signature, autograph=False)
            self._by_limit[limit] = graph.get_concrete_function()
        return self._by_limit[limit](texts)
