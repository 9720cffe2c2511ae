"""The words of a sentence: their inputs, their mask and their vectors."""

import keras
from keras import ops

from keras_selfattn import layers


class Words:
    """The word vectors, joined by the character CNN's where there is one.

    Args:
        arguments: Dictionary of a classifier's arguments.

    Attributes:
        vectors: The layer of the word vectors.
        character_layers: List of the character CNN, empty without one.
        has_characters: Whether characters are among the inputs.
    """

    def __init__(self, arguments):
        self.vectors = layers.WordEmbedding(
            arguments["vocabulary_size"],
            arguments["embedding_dim"],
            embeddings_initializer=arguments["embeddings_initializer"],
            trainable=arguments["trainable_embeddings"],
            name="word_vectors",
        )
        self.has_characters = arguments["character_vocabulary_size"] is not None
        self.character_layers = []
        if arguments.get("character_cnn", True) and self.has_characters:
            self.character_layers.append(
                layers.CharacterCNN(
                    arguments["character_vocabulary_size"],
                    name="character_cnn",
                )
            )

    def inputs(self, prefix):
        """The inputs of a sentence, by names that start with a prefix."""
        inputs = {
            f"{prefix}token_ids": keras.Input(
                (None,), dtype="int32", name=f"{prefix}token_ids"
            )
        }
        if self.has_characters:
            inputs[f"{prefix}char_ids"] = keras.Input(
                (None, None), dtype="int32", name=f"{prefix}char_ids"
            )
        return inputs

    def mask(self, inputs, prefix):
        """True where a step holds a word, computed from the ids once."""
        return ops.not_equal(inputs[f"{prefix}token_ids"], 0)

    def __call__(self, inputs, prefix):
        words = self.vectors(inputs[f"{prefix}token_ids"])
        if not self.character_layers:
            return words
        (character_cnn,) = self.character_layers
        characters = character_cnn(inputs[f"{prefix}char_ids"])
        return keras.layers.Concatenate(name=f"{prefix}words")(
            [words, characters]
        )
