import tensorflow as tf

from keras_selfattn.layers._tensorflow import xla


def test_what_xla_compiles_is_told_apart():
    seen = []

    def traced(x):
        seen.append(xla.is_compiling())
        return x + 1

    assert not xla.is_compiling()
    tf.function(traced)(tf.constant(1))
    tf.function(traced, jit_compile=True)(tf.constant(1))
    # What a function for XLA calls is compiled with it.
    inner = tf.function(traced)
    tf.function(lambda x: inner(x), jit_compile=True)(tf.constant(1))
    assert seen == [False, True, True]
