"""A sentence classifier small enough to be exported in every test."""

import keras

from keras_selfattn.models.arguments import applying
from keras_selfattn.models.sentence_classifier import SentenceClassifier
from keras_selfattn.text import TextPreprocessor


def tiny_classifier(
    vocabulary=("good", "bad", "food", "n't", "."),
    labels=("1", "two", "gütig"),
    characters=None,
    implementation="tensorflow",
    **overrides,
):
    """Returns a `SentenceClassifier` with a preprocessor and labels.

    Args:
        vocabulary: The words of its preprocessor.
        labels: The names of its classes.
        characters: The characters of its preprocessor.
        implementation: See `TextPreprocessor`.
        **overrides: Arguments of the model.
    """
    keras.utils.set_random_seed(3)
    preprocessor = TextPreprocessor(
        list(vocabulary),
        characters=characters,
        max_characters=6,
        implementation=implementation,
    )
    arguments = {
        "vocabulary_size": preprocessor.vocabulary_size(),
        "character_vocabulary_size": preprocessor.character_vocabulary_size(),
        "num_classes": len(labels),
        "embedding_dim": 5,
        "encoder": "cnn",
        "units": 4,
        "attention_dim": 3,
        "num_heads": 2,
        "hidden_units": 6,
    }
    arguments = applying(
        SentenceClassifier, {**arguments, **overrides}, given=overrides
    )
    model = SentenceClassifier(**arguments)
    model.preprocessor = preprocessor
    model.labels = list(labels)
    return model
