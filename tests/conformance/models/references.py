"""The classifiers in NumPy float64, from ids to the whole loss.

Each takes the model's arguments, its weights by the name of their layer, a
batch of ids, and what becomes of what training drops: `drop(rate)` is a
function of the inputs of a layer.
"""

import dataclasses
import types

import numpy as np

from tests.conformance import references


@dataclasses.dataclass
class Answer:
    """What a model should give for one batch.

    Attributes:
        outputs: Probabilities, or logits.
        scores: The attention scores, as `attention_model` gives them.
        embeddings: The sentence embeddings, as `embedding_model` gives them.
        penalty: What is added to the cross-entropy.
    """

    outputs: np.ndarray
    scores: list
    embeddings: list
    penalty: float


def nothing(rate):
    """What becomes of a layer's inputs outside of training."""
    return references.identity


def cross_entropy(config, outputs, labels):
    """The mean over the batch."""
    total = 0.0
    for row, label in zip(outputs, labels, strict=True):
        if config["activation"] is None:
            row = references.softmax(row)
        total -= np.log(row[label])
    return total / len(labels)


def words_of(config, weights, batch, side=""):
    """The word vectors `(B, n, D)` of a sentence, and the mask `(B, n)`."""
    ids = batch[f"{side}token_ids"]
    words = references.word_embedding(
        {}, weights["word_vectors"], [ids], None
    ).outputs
    if "character_cnn" in weights:
        words += references.character_cnn(
            {"filters": 100, "kernel_sizes": (1, 3, 5)},
            weights["character_cnn"],
            [batch[f"{side}char_ids"]],
            None,
        ).outputs
    return np.concatenate(words, axis=-1), ids != 0


def states_of(config, weights, words, mask, drop):
    """The states `(B, n, D)` of the words."""
    drop = drop(config["encoder_dropout"])
    if config["encoder"] == "cnn":
        encoder, name = references.masked_conv1d, "convolution"
        arguments = {"activation": "relu"}
    else:
        encoder, name = references.stacked_bilstm, "bilstm"
        arguments = {"units": as_list(config["units"])}
    (states,) = encoder(arguments, weights[name], [words], [mask], drop).outputs
    return states


def as_list(units):
    return [units] if isinstance(units, int) else units


def pooled(config, weights, states, mask):
    """The embedding `(B, heads, D)`, the scores and the penalty."""

    def regularizer(target):
        return types.SimpleNamespace(
            factor=config[f"{target}_penalty"], margin=config.get("margin", 1.0)
        )

    pooling = config["pooling"]
    if pooling == "structured":
        result = references.structured_self_attention(
            {
                "num_heads": config["num_heads"],
                "attention_regularizer": regularizer("attention"),
            },
            weights,
            [states],
            [mask],
        )
    elif pooling == "generalized":
        result = references.generalized_pooling(
            {
                "num_heads": config["num_heads"],
                "activation": "relu",
                "parameter_regularizer": regularizer("parameter"),
                "attention_regularizer": regularizer("attention"),
                "embedding_regularizer": regularizer("embedding"),
            },
            weights,
            [states],
            [mask],
        )
    else:
        result = getattr(references, f"{pooling}_pooling")(
            {}, [], [states], [mask]
        )
        result.outputs = [result.outputs[0][:, np.newaxis]]
    return (*result.outputs, *result.scores, result.penalty)


def classified(config, weights, matrix, drop, more_logits=0.0):
    """The outputs for embeddings `(B, r, D)`, and the penalties."""
    rows, columns = config["row_units"], config["column_units"]
    flat = matrix.reshape(len(matrix), -1)
    kernels = []
    if rows is None and columns is None:
        hidden = flat
        for number, _ in enumerate(as_list(config["hidden_units"]), start=1):
            if number > 1 and config["hidden_shortcut"]:
                hidden = np.concatenate([flat, hidden], axis=-1)
            kernel, bias = weights[f"hidden_{number}"]
            dropped = drop(config["dropout"])(hidden)
            hidden = np.maximum(dropped @ kernel + bias, 0)
            kernels.append(kernel)
    else:
        parts = references.pruned_dense(
            {"activation": "relu", "row_units": rows, "column_units": columns},
            weights["pruned_hidden"],
            [matrix],
            None,
        ).outputs
        hidden = np.concatenate(
            [part.reshape(len(part), -1) for part in parts], axis=-1
        )
        kernels += weights["pruned_hidden"][::2]
    hidden = drop(config["dropout"])(hidden)
    outputs, kernel = last_layer(config, weights, hidden, more_logits)
    kernels.append(kernel)
    penalty = config["l2"] * sum((each**2).sum() for each in kernels)
    penalty += ambiguity_of(config, weights, hidden, more_logits)
    return outputs, penalty


def ambiguity_of(config, weights, hidden, more_logits):
    """The penalty on the logits of both parts of a wide and deep model."""
    if not config.get("ambiguity_penalty"):
        return 0.0
    logits, _ = last_layer({"activation": None}, weights, hidden)
    return config["ambiguity_penalty"] * references.ambiguity(
        logits, more_logits
    )


def last_layer(config, weights, hidden, more_logits=0.0):
    """The outputs and the kernel."""
    name = "logits" if "logits" in weights else "probabilities"
    kernel, bias = weights[name]
    logits = hidden @ kernel + bias + more_logits
    if config["activation"] is None:
        return logits, kernel
    return np.stack(list(map(references.softmax, logits))), kernel


def sentence_classifier(config, weights, batch, drop=nothing):
    words, mask = words_of(config, weights, batch)
    states = states_of(config, weights, words, mask, drop)
    matrix, scores, penalty = pooled(
        config, weights.get(POOLINGS[config["pooling"]], []), states, mask
    )
    logits = 0.0
    if config.get("ngram_buckets") is not None:
        ids = [
            batch[name] for name in ("token_ids", "char_ids") if name in batch
        ]
        (logits,) = references.ngram_logits(
            {"word_ngrams": (1, 2), "character_ngrams": (3, 4, 5)},
            weights["ngram_logits"],
            ids,
            None,
        ).outputs
    outputs, more = classified(config, weights, matrix, drop, logits)
    return Answer(outputs, [scores], [matrix], penalty + more)


POOLINGS = {
    "structured": "structured_self_attention",
    "generalized": "generalized_pooling",
    "max": "max_pooling",
    "mean": "mean_pooling",
    "last": "last_pooling",
}


def sentence_pair_classifier(config, weights, batch, drop=nothing):
    pooling = weights.get(f"{config['pooling']}_pooling_of_both", [])
    matrices, scores, total = [], [], 0.0
    for side in ("premise_", "hypothesis_"):
        words, mask = words_of(config, weights, batch, side)
        states = states_of(config, weights, words, mask, drop)
        # The kernels, which both share, count once.
        once = {} if side == "premise_" else {"parameter_penalty": 0.0}
        matrix, score, penalty = pooled(
            {**config, **once}, pooling, states, mask
        )
        matrices.append(matrix)
        scores.append(score)
        total += penalty
    premise, hypothesis = matrices
    if config["interaction"] == "gated":
        # F_r = F_h ⊙ F_p, each with a matrix of its own for every row.
        kernel_h, kernel_p = weights["gated_encoder"]
        factors = np.zeros((*premise.shape[:2], kernel_h.shape[-1]))
        for b, i in np.ndindex(premise.shape[:2]):
            factor_h = hypothesis[b, i] @ kernel_h[i]
            factor_p = premise[b, i] @ kernel_p[i]
            factors[b, i] = factor_h * factor_p
        matrix = factors
    else:
        matrix = np.concatenate(
            [
                premise,
                hypothesis,
                np.abs(premise - hypothesis),
                premise * hypothesis,
            ],
            axis=-1,
        )
    outputs, l2 = classified(config, weights, matrix, drop)
    return Answer(outputs, scores, matrices, total + l2)


def decomposable_classifier(config, weights, batch, drop=nothing):
    drop = drop(config["dropout"])
    sides, masks = [], []
    names = ("premise_", "hypothesis_")
    ids = [batch[f"{side}token_ids"] for side in names]
    matches = references.exact_match({}, [], ids, None).outputs
    for side, match in zip(names, matches, strict=True):
        words, mask = words_of(config, weights, batch, side)
        if config["exact_match"]:
            words = np.concatenate([words, match], axis=-1)
        (projection,) = weights["projection"]
        sentence = words @ projection
        if config["intra_sentence"]:
            (sentence,) = references.intra_sentence_attention(
                {"max_distance": config["max_distance"]},
                weights["intra_sentence_attention"],
                [sentence],
                [mask],
                drop,
            ).outputs
        sides.append(sentence)
        masks.append(mask)
    result = references.decomposable_attention(
        {
            "attend_units": config["attend_units"],
            "compare_units": config["compare_units"],
        },
        weights["decomposable_attention"],
        sides,
        masks,
        drop,
    )
    (compared,) = result.outputs
    aggregate = [
        weight
        for number, _ in enumerate(config["aggregate_units"], start=1)
        for weight in weights[f"hidden_{number}"]
    ]
    hidden = references.feed_forward(compared, aggregate, drop)
    logits = 0.0
    if config["ngram_buckets"] is not None:
        (logits,) = references.pair_ngram_logits(
            {"word_ngrams": (1, 2), "match_ngrams": (1, 2, 3)},
            weights["ngram_logits"],
            ids,
            None,
        ).outputs
    outputs, _ = last_layer(config, weights, hidden, logits)
    penalty = ambiguity_of(config, weights, hidden, logits)
    return Answer(outputs, result.scores, [compared], penalty)
