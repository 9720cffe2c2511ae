"""The parts of a classifier, by name; readable without Keras."""

GROUPS = ("word vectors", "encoder", "pooling", "classifier")
