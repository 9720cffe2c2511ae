from collections.abc import Sequence
from typing import Any

import keras

from keras_selfattn.models import checks
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.models.classifier_head import ClassifierHead
from keras_selfattn.models.construction import constructor
from keras_selfattn.models.ngrams import make_ngrams
from keras_selfattn.models.ngrams import wide_part
from keras_selfattn.models.sentence_encoder import as_matrix
from keras_selfattn.models.sentence_encoder import make_encoder
from keras_selfattn.models.sentence_encoder import make_pooling
from keras_selfattn.models.words import Words


@keras.saving.register_keras_serializable(package="keras_selfattn")
class SentenceClassifier(Classifier):
    """Word vectors, an encoder, a pooling and a classifier of sentences.

    Inputs are a dictionary of `token_ids`, of shape `(batch, n)`, where 0 is
    padding, and, with `character_vocabulary_size`, `char_ids`, of shape
    `(batch, n, characters)`. The output is float32, of shape
    `(batch, num_classes)`.

    1. Each word becomes a vector, and, if asked, a character CNN's output is
        joined to it.
    2. The encoder gives the states of the words, of shape `(batch, n, D)`.
    3. The pooling gives the sentence embedding, of shape
        `(batch, num_heads, D)`.
    4. Hidden ReLU layers give logits. With `ngram_buckets`, those of the
        n-grams are added: the model is wide and deep.
    5. A softmax gives the probabilities.

    What an argument asks of a part that the model does not have, such as
    `num_heads` with max pooling, raises an error; defaults, and penalties of
    0, go with all parts.

    Args:
        vocabulary_size: Integer, the number of token ids, padding included.
            Not needed beside `preprocessor`.
        num_classes: Integer, the number of classes. Not needed beside
            `labels`.
        embedding_dim: Integer, the width of a word vector. Defaults to `100`.
        embeddings_initializer: Initializer of the word vectors, those of words
            without a pretrained one included. Defaults to `"uniform"`.
        trainable_embeddings: Boolean, whether word vectors are tuned. Defaults
            to `True`.
        character_vocabulary_size: Integer, the number of character ids, or
            `None` for a model without characters. Defaults to `None`.
        character_cnn: Boolean, whether the encoder reads characters; without
            it, n-grams alone do. Defaults to `True`.
        ngram_buckets: Integer, the rows of the table of
            `keras_selfattn.layers.NGramLogits`, such as `2**18`, or `None`
            for a model without n-grams. They are of words and, with
            `character_vocabulary_size`, of characters within words. `fit` on
            raw texts, and training from files, begin with the log-count
            ratios of the training texts; with ids, the layer's `adapt` gives
            them. Defaults to `None`.
        ambiguity_penalty: Float, the factor of
            `keras_selfattn.regularizers.Ambiguity` on the logits of the
            embedding and of the n-grams (with `ngram_buckets`): with 1 each
            of the two learns by itself, with 0 they learn together. Defaults
            to `0.0`.
        encoder: `"bilstm"` or `"cnn"`. Defaults to `"bilstm"`.
        units: Integer, or a sequence of one integer a layer: the width of each
            direction of the BiLSTM. For the CNN an integer, its number of
            filters. Defaults to `300`.
        kernel_size: Integer, the number of words that a filter sees (CNN).
            Defaults to `3`.
        pooling: `"structured"`, `"generalized"`, `"max"`, `"mean"` or `"last"`.
            Defaults to `"structured"`.
        attention_dim: Integer, the hidden units of the attention (structured
            and generalized pooling). Defaults to `350`.
        num_heads: Integer, the number of attention heads (the same). Defaults
            to `30`.
        parameter_penalty: Float, the factor of the head diversity of the
            attention's kernels (generalized pooling). Defaults to `0.0`.
        attention_penalty: Float, the factor of the penalty on the attention
            scores: orthogonality for structured, head diversity for generalized
            pooling. Defaults to `1.0`.
        embedding_penalty: Float, the factor of the head diversity of the rows
            of the embedding (generalized pooling). Defaults to `0.0`.
        margin: Float, the margin of the head diversities (generalized pooling
            with a penalty). Defaults to `1.0`.
        hidden_units: Integer, or a sequence of integers: the widths of the
            hidden layers, where none is pruned. Defaults to `3000`.
        hidden_shortcut: Boolean, whether hidden layers after the first read the
            sentence embedding too. Defaults to `False`.
        row_units: Integer, the pruned hidden units of each row of the
            embedding. With `row_units` or `column_units`, the pruned layer
            takes the place of the hidden layers. Defaults to `None`.
        column_units: Integer, the pruned hidden units of each column. Defaults
            to `None`.
        dropout: Float, the dropout before each layer of the classifier; with
            `row_units` or `column_units`, before the last one alone.
            Defaults to `0.5`.
        encoder_dropout: Float, the dropout before each layer of the encoder.
            Defaults to `0.0`.
        l2: Float, the L2 factor of the classifier's kernels. Defaults to
            `0.0001`.
        activation: `"softmax"` for probabilities, `None` for logits. Defaults
            to `"softmax"`.
        lstm_implementation: `"auto"`, `"cudnn"` or `"keras"`, the
            `implementation` of `keras_selfattn.layers.StackedBiLSTM` (BiLSTM).
            Under TensorFlow on a CPU, models that are to be compiled with
            `jit_compile=True` take `"keras"`. Defaults to `"auto"`.
        **kwargs: `preprocessor`, the `keras_selfattn.text.TextPreprocessor`
            that the model reads texts with; `labels`, the list of the names
            of its classes; `name`; `dtype`, the dtype policy of all layers but
            the last, which is float32; and `trainable`, as in
            `keras.layers.Layer`.

    Raises:
        ValueError: if an argument is out of its range, if there is none of
            its name, or if it changes nothing beside the others.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130)
        - [Chen et al., 2018](https://arxiv.org/abs/1806.09828)
        - [Cheng et al., 2016](https://arxiv.org/abs/1606.07792), wide and
            deep

    Example:

    >>> import numpy as np
    >>> model = SentenceClassifier(
    ...     vocabulary_size=9, num_classes=2, embedding_dim=4, units=3,
    ...     attention_dim=5, num_heads=2, hidden_units=6)
    >>> token_ids = np.array([[3, 8, 1, 0], [5, 0, 0, 0]])
    >>> tuple(model({"token_ids": token_ids}).shape)
    (2, 2)
    >>> tuple(model.attention_model()({"token_ids": token_ids}).shape)
    (2, 2, 4)
    """

    @constructor
    def __init__(
        self,
        vocabulary_size: int,
        num_classes: int,
        embedding_dim: int = 100,
        embeddings_initializer: Any = "uniform",
        trainable_embeddings: bool = True,
        character_vocabulary_size: int | None = None,
        character_cnn: bool = True,
        ngram_buckets: int | None = None,
        ambiguity_penalty: float = 0.0,
        encoder: str = "bilstm",
        units: int | Sequence[int] = 300,
        kernel_size: int = 3,
        pooling: str = "structured",
        attention_dim: int = 350,
        num_heads: int = 30,
        parameter_penalty: float = 0.0,
        attention_penalty: float = 1.0,
        embedding_penalty: float = 0.0,
        margin: float = 1.0,
        hidden_units: int | Sequence[int] = 3000,
        hidden_shortcut: bool = False,
        row_units: int | None = None,
        column_units: int | None = None,
        dropout: float = 0.5,
        encoder_dropout: float = 0.0,
        l2: float = 0.0001,
        activation: str | None = "softmax",
        lstm_implementation: str = "auto",
        **kwargs: Any,
    ) -> None:
        config = checks.of_scope(locals())

        # === Layers ===
        words = Words(config)
        encoder_layer = make_encoder(config)
        pooling_layer = make_pooling(config)
        head = ClassifierHead(num_classes, activation, l2)
        ngrams = make_ngrams(config)

        # === Functional model ===
        inputs = words.inputs("")
        mask = words.mask(inputs, "")
        states = encoder_layer(words(inputs, ""), mask=mask)
        embedding, scores = pooling_layer(
            states, mask=mask, return_attention_scores=True
        )
        embedding = as_matrix(embedding)
        logits, views = wide_part(ngrams, inputs)
        outputs = head.sentence_scores(
            embedding, config, name="sentence_embedding", more_logits=logits
        )

        # === Config ===
        super().__init__(
            inputs=inputs,
            outputs=outputs,
            views={
                "attention_scores": scores,
                "sentence_embedding": embedding,
                **views,
            },
            groups={
                "word vectors": [words.vectors],
                "encoder": [*words.character_layers, encoder_layer],
                "pooling": [pooling_layer],
                "classifier": [*head.layers, *([ngrams] if ngrams else [])],
            },
            config=config,
            **kwargs,
        )
