from collections.abc import Sequence
from typing import Any

import keras

from keras_selfattn import layers
from keras_selfattn import validation
from keras_selfattn.models import checks
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.models.classifier_head import ClassifierHead
from keras_selfattn.models.construction import constructor
from keras_selfattn.models.ngrams import make_ngrams
from keras_selfattn.models.ngrams import wide_part
from keras_selfattn.models.words import Words
from keras_selfattn.sides import PAIR


@keras.saving.register_keras_serializable(package="keras_selfattn")
class DecomposableClassifier(Classifier):
    """Decomposable attention: a pair classified by its aligned words.

    Inputs are a dictionary of `premise_token_ids` and
    `hypothesis_token_ids`, of shapes `(batch, n_p)` and `(batch, n_h)`, where
    0 is padding; each sentence starts with a NULL token. The output is
    float32, of shape `(batch, num_classes)`.

    1. Each word becomes a vector, with `exact_match` one that also says
        whether the word stands in the other sentence, and is projected,
        without a bias.
    2. With `intra_sentence`, each word is joined to what it looks at in its
        own sentence.
    3. Attend, compare and aggregate give `[v_1; v_2]`.
    4. Hidden ReLU layers give logits. With `ngram_buckets`, those of the
        n-grams are added: the model is wide and deep.
    5. A softmax gives the probabilities.

    Args:
        vocabulary_size: Integer, the number of token ids, padding included.
            Not needed beside `preprocessor`.
        num_classes: Integer, the number of classes. Not needed beside
            `labels`.
        embedding_dim: Integer, the width of a word vector. Defaults to `300`.
        embeddings_initializer: Initializer of the word vectors, those of words
            without a pretrained one included. Defaults to `"uniform"`.
        trainable_embeddings: Boolean, whether word vectors are tuned. Defaults
            to `False`.
        character_vocabulary_size: Integer, the number of character ids, or
            `None` for a model without characters. Defaults to `None`.
        exact_match: Boolean, whether a word's vector has a last number that
            is 1 where the word stands in the other sentence too, as
            `keras_selfattn.layers.ExactMatch` gives it. It spares learning
            from the pairs which words are the same, and pays with few of
            them. Defaults to `False`.
        ngram_buckets: Integer, the rows of the table of
            `keras_selfattn.layers.PairNGramLogits`, such as `2**18`, or `None`
            for a model without n-grams. They are of the hypothesis, and tell
            which words the premise has too. `fit` on raw texts, and training
            from files, begin with a logistic regression of the training pairs;
            with ids, the layer's `adapt` gives it. Defaults to `None`.
        ambiguity_penalty: Float, the factor of
            `keras_selfattn.regularizers.Ambiguity` on the logits of the
            alignment and of the n-grams (with `ngram_buckets`): with 1 each
            of the two learns by itself, with 0 they learn together. Defaults
            to `0.0`.
        projection_dim: Integer, the width of a projected word. Defaults to
            `200`.
        attend_units: Sequence of integers, the widths of `F`, and of the
            network of the intra-sentence attention. Defaults to `(200, 200)`.
        compare_units: Sequence of integers, the widths of `G`. Defaults to
            `(200, 200)`.
        aggregate_units: Sequence of integers, the widths of the hidden layers
            of `H`. Defaults to `(200, 200)`.
        intra_sentence: Boolean, whether words look at their own sentence.
            Defaults to `False`.
        max_distance: Integer, the longest distance within a sentence with a
            bias of its own (with `intra_sentence`). Defaults to `10`.
        dropout: Float, the dropout of each ReLU layer. Defaults to `0.2`.
        initializer_stddev: Float, the spread of the normal distribution that
            kernels start from, or `None` for Glorot's uniform distribution. The
            published 0.01 stays at chance for the first epochs on a part of
            SNLI, where Glorot's learns at once. Defaults to `None`.
        activation: `"softmax"` for probabilities, `None` for logits. Defaults
            to `"softmax"`.
        **kwargs: `preprocessor`, the `keras_selfattn.text.TextPreprocessor`
            that the model reads texts with; `labels`, the list of the names
            of its classes; `name`; `dtype`, the dtype policy of all layers but
            the last, which is float32; and `trainable`, as in
            `keras.layers.Layer`.

    Raises:
        ValueError: if an argument is out of its range, if there is none of
            its name, or if it changes nothing beside the others.

    References:
        - [Parikh et al., 2016](https://arxiv.org/abs/1606.01933)
        - [Chen et al., 2017](https://arxiv.org/abs/1704.00051), exact match
        - [Cheng et al., 2016](https://arxiv.org/abs/1606.07792), wide and
            deep

    Example:

    >>> import numpy as np
    >>> model = DecomposableClassifier(
    ...     vocabulary_size=9, num_classes=3, embedding_dim=4,
    ...     projection_dim=5, attend_units=[6], compare_units=[7],
    ...     aggregate_units=[8])
    >>> batch = {"premise_token_ids": np.array([[3, 8, 1, 0]]),
    ...          "hypothesis_token_ids": np.array([[3, 2]])}
    >>> tuple(model(batch).shape)
    (1, 3)
    >>> [tuple(x.shape) for x in model.attention_model()(batch)]
    [(1, 4, 2), (1, 2, 4)]
    """

    sides = PAIR
    has_heads = False

    @constructor
    def __init__(
        self,
        vocabulary_size: int,
        num_classes: int,
        embedding_dim: int = 300,
        embeddings_initializer: Any = "uniform",
        trainable_embeddings: bool = False,
        character_vocabulary_size: int | None = None,
        exact_match: bool = False,
        ngram_buckets: int | None = None,
        ambiguity_penalty: float = 0.0,
        projection_dim: int = 200,
        attend_units: Sequence[int] = (200, 200),
        compare_units: Sequence[int] = (200, 200),
        aggregate_units: Sequence[int] = (200, 200),
        intra_sentence: bool = False,
        max_distance: int = 10,
        dropout: float = 0.2,
        initializer_stddev: float | None = None,
        activation: str | None = "softmax",
        **kwargs: Any,
    ) -> None:
        config = checks.of_scope(locals())

        def initializer():
            if initializer_stddev is None:
                return keras.initializers.GlorotUniform()
            return keras.initializers.RandomNormal(0.0, initializer_stddev)

        for name in ("attend_units", "compare_units"):
            validation.widths(config[name], name)

        # === Layers ===
        words = Words(config)
        projection = keras.layers.Dense(
            projection_dim,
            use_bias=False,
            kernel_initializer=initializer(),
            name="projection",
        )
        intra = layers.IntraSentenceAttention(
            attend_units,
            max_distance=max_distance,
            dropout=dropout,
            kernel_initializer=initializer(),
            name="intra_sentence_attention",
        )
        attention = layers.DecomposableAttention(
            attend_units,
            compare_units,
            dropout=dropout,
            kernel_initializer=initializer(),
            name="decomposable_attention",
        )
        head = ClassifierHead(
            num_classes, activation, stddev=initializer_stddev
        )
        ngrams = make_ngrams(config, layers.PairNGramLogits)

        # === Functional model ===
        inputs, vectors, masks = {}, [], []
        for side in self.sides:
            inputs.update(words.inputs(side))
            vectors.append(words(inputs, side))
            masks.append(words.mask(inputs, side))
        if exact_match:
            vectors = _with_exact_match(inputs, self.sides, vectors)
        sides, within = [], []
        for each, mask in zip(vectors, masks, strict=True):
            sentence = projection(each)
            if intra_sentence:
                sentence, scores = intra(
                    sentence, mask=mask, return_attention_scores=True
                )
                within.append(scores)
            sides.append(sentence)
        compared, scores = attention(
            tuple(sides), mask=tuple(masks), return_attention_scores=True
        )
        hidden = head.hidden_layers(
            compared, aggregate_units, "aggregate_units", dropout
        )
        logits, views = wide_part(ngrams, inputs)
        outputs = head.scores(
            hidden, more_logits=logits, ambiguity_penalty=ambiguity_penalty
        )

        # === Config ===
        super().__init__(
            inputs=inputs,
            outputs=outputs,
            views={
                "attention_scores": tuple(scores),
                "alignment_scores": tuple(scores),
                "intra_sentence_scores": tuple(within),
                "sentence_embedding": compared,
                **views,
            },
            groups={
                "word vectors": [words.vectors],
                "encoder": [
                    *words.character_layers,
                    projection,
                    *([intra] if intra_sentence else []),
                ],
                "pooling": [attention],
                "classifier": [*head.layers, *([ngrams] if ngrams else [])],
            },
            config=config,
            **kwargs,
        )

    def explanation_model(self) -> keras.Model:
        """A model of the same inputs that answers and shows where it looked.

        Returns:
            A `keras.Model` that gives a dictionary of `"outputs"`;
            `"alignment_scores"`, a pair of `(B, n_p, n_h)`, how the premise
            looks at the hypothesis, and `(B, n_h, n_p)`; and, with
            `intra_sentence`, `"intra_sentence_scores"`, a pair of
            `(B, n, n)`, how the words of each sentence look at each other.
        """
        names = ["alignment_scores"]
        if self._views["intra_sentence_scores"]:
            names.append("intra_sentence_scores")
        return self._views_model(*names)


def _with_exact_match(inputs, sides, vectors):
    """Word vectors with a last number: whether the other sentence has it."""
    ids = tuple(inputs[f"{side}token_ids"] for side in sides)
    matches = layers.ExactMatch(name="exact_match")(ids)
    return [
        keras.layers.Concatenate(name=f"{side}matched_words")(list(each))
        for side, *each in zip(sides, vectors, matches, strict=True)
    ]
