"""Classifiers that keep their weights in fewer bits than they compute in."""

import keras


class ReducedClassifier:
    """Answers as a classifier does, with weights that are kept elsewhere.

    Args:
        model: A built classifier, whose own weights are not read where
            others are kept for them.
        origin: The classifier it is a copy of.

    Attributes:
        precision: Str, of the weights, set by subclasses.
        weights: List of all variables, for subclasses to fill.
    """

    def __init__(self, model, origin):
        self.model = model
        self.model.set_weights(origin.get_weights())
        for attribute in ("preprocessor", "labels", "training_record"):
            setattr(self.model, attribute, getattr(origin, attribute))
        self.weights = []
        # Pairs of a weight and of what gives its values.
        self._kept = []

    def __getattr__(self, name):
        if name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def __call__(self, inputs, training=False):
        return self._run(self.model, inputs)

    def attention_model(self):
        return _View(self, self.model.attention_model())

    def embedding_model(self):
        return _View(self, self.model.embedding_model())

    def explanation_model(self):
        return _View(self, self.model.explanation_model())

    def count_params(self):
        return self.model.count_params()

    def _run(self, view, inputs):
        values = [(weight, kept.in_float32()) for weight, kept in self._kept]
        with keras.StatelessScope(values):
            return view(inputs, training=False)


class _View:
    def __init__(self, classifier, view):
        self.classifier = classifier
        self.view = view
        self.output = view.output

    def __call__(self, inputs, training=False):
        return self.classifier._run(self.view, inputs)
