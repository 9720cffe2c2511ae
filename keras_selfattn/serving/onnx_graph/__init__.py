"""Classifiers as ONNX graphs, each layer by a rule of its own.

Converters follow the code of Keras, whose LSTM is a loop over steps. The rules
take ONNX's own `LSTM`, and what depends on a word alone is computed once, when
the graph is made.
"""
