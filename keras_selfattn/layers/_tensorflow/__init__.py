"""How TensorFlow on a CPU passes over padding.

The layers reach this room through `keras_selfattn.layers.padding` alone.
"""
