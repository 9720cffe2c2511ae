from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_selfattn import layers
from keras_selfattn import validation
from keras_selfattn.models import checks
from keras_selfattn.models.classifier import Classifier
from keras_selfattn.models.classifier_head import ClassifierHead
from keras_selfattn.models.construction import constructor
from keras_selfattn.models.sentence_encoder import as_matrix
from keras_selfattn.models.sentence_encoder import make_encoder
from keras_selfattn.models.sentence_encoder import make_pooling
from keras_selfattn.models.words import Words
from keras_selfattn.sides import PAIR

INTERACTIONS = ("gated", "heuristic")


@keras.saving.register_keras_serializable(package="keras_selfattn")
class SentencePairClassifier(Classifier):
    """A siamese encoder of two sentences, and a classifier of the pair.

    Inputs are a dictionary of `premise_token_ids` and
    `hypothesis_token_ids`, of shapes `(batch, n_p)` and `(batch, n_h)`, where
    0 is padding, and, with `character_vocabulary_size`, `premise_char_ids`
    and `hypothesis_char_ids`. The output is float32, of shape
    `(batch, num_classes)`.

    1. Word vectors, encoder and pooling, with one set of weights for both
        sentences, give two embeddings of shape `(batch, num_heads, D)`.
    2. The interaction joins them: `"gated"` is the gated encoder
        `F_r = F_h ⊙ F_p`; `"heuristic"` is
        `[v_a; v_b; |v_a - v_b|; v_a ⊙ v_b]`.
    3. Hidden ReLU layers and a softmax give the probabilities.

    Args:
        vocabulary_size: Integer, the number of token ids, padding included.
            Not needed beside `preprocessor`.
        num_classes: Integer, the number of classes. Not needed beside
            `labels`.
        interaction: `"gated"` or `"heuristic"`. Defaults to `"gated"`.
        interaction_units: Integer, the width of the gated encoder
            (`"gated"`). Defaults to `600`.
        **kwargs: The other arguments are those of
            `keras_selfattn.models.SentenceClassifier` but for those of
            n-grams, `ngram_buckets`, `character_cnn` and `ambiguity_penalty`;
            so are their defaults but for `embedding_dim=300`,
            `attention_dim=150`,
            `attention_penalty=0.3`, `hidden_units=4000`, `dropout=0.0` and
            `l2=0.0`.

    Raises:
        ValueError: if an argument is out of its range, if there is none of
            its name, or if it changes nothing beside the others.

    References:
        - [Lin et al., 2017](https://arxiv.org/abs/1703.03130), appendix B
        - [Chen et al., 2018](https://arxiv.org/abs/1806.09828), equation 10

    Example:

    >>> import numpy as np
    >>> model = SentencePairClassifier(
    ...     vocabulary_size=9, num_classes=3, interaction="heuristic",
    ...     embedding_dim=4, units=3, attention_dim=5, num_heads=2,
    ...     hidden_units=6)
    >>> probabilities = model({
    ...     "premise_token_ids": np.array([[3, 8, 1, 0]]),
    ...     "hypothesis_token_ids": np.array([[5, 2]])})
    >>> tuple(probabilities.shape)
    (1, 3)
    """

    sides = PAIR

    @constructor
    def __init__(
        self,
        vocabulary_size: int,
        num_classes: int,
        interaction: str = "gated",
        interaction_units: int = 600,
        embedding_dim: int = 300,
        embeddings_initializer: Any = "uniform",
        trainable_embeddings: bool = True,
        character_vocabulary_size: int | None = None,
        encoder: str = "bilstm",
        units: int | Sequence[int] = 300,
        kernel_size: int = 3,
        pooling: str = "structured",
        attention_dim: int = 150,
        num_heads: int = 30,
        parameter_penalty: float = 0.0,
        attention_penalty: float = 0.3,
        embedding_penalty: float = 0.0,
        margin: float = 1.0,
        hidden_units: int | Sequence[int] = 4000,
        hidden_shortcut: bool = False,
        row_units: int | None = None,
        column_units: int | None = None,
        dropout: float = 0.0,
        encoder_dropout: float = 0.0,
        l2: float = 0.0,
        activation: str | None = "softmax",
        lstm_implementation: str = "auto",
        **kwargs: Any,
    ) -> None:
        config = checks.of_scope(locals())
        validation.one_of(interaction, INTERACTIONS, "interaction")

        # === Layers ===
        words = Words(config)
        encoder_layer = make_encoder(config)
        pooling_layer = layers.BothSides(
            # The penalty on parameters is added at each of the two calls,
            # where the equation has it once.
            make_pooling(
                {**config, "parameter_penalty": parameter_penalty / 2}
            ),
            name=f"{pooling}_pooling_of_both",
        )
        gated = []
        if interaction == "gated":
            gated.append(
                layers.GatedEncoder(interaction_units, name="gated_encoder")
            )
        head = ClassifierHead(num_classes, activation, l2)

        # === Functional model ===
        inputs, states, masks = {}, [], []
        for side in self.sides:
            inputs.update(words.inputs(side))
            mask = words.mask(inputs, side)
            states.append(encoder_layer(words(inputs, side), mask=mask))
            masks.append(mask)
        sides = pooling_layer(
            tuple(states), mask=tuple(masks), return_attention_scores=True
        )
        premise, hypothesis = (as_matrix(embedding) for embedding, _ in sides)
        if interaction == "gated":
            # The hypothesis comes first, as in F_r = F_h ⊙ F_p.
            matrix = gated[0]((hypothesis, premise))
        else:
            matrix = _heuristic_matching(premise, hypothesis)
        outputs = head.sentence_scores(matrix, config, name="pair_embedding")

        # === Config ===
        super().__init__(
            inputs=inputs,
            outputs=outputs,
            views={
                "attention_scores": tuple(scores for _, scores in sides),
                "sentence_embedding": (premise, hypothesis),
            },
            groups={
                "word vectors": [words.vectors],
                "encoder": [*words.character_layers, encoder_layer],
                "pooling": [pooling_layer],
                "classifier": [*gated, *head.layers],
            },
            config=config,
            **kwargs,
        )


def _heuristic_matching(left, right):
    """`[v_a; v_b; |v_a - v_b|; v_a ⊙ v_b]`, head by head."""
    return ops.concatenate(
        [left, right, ops.abs(left - right), left * right], axis=-1
    )
