"""The papers' equations in NumPy float64, by plain loops over the steps.

Each reference takes the layer's configuration, its weights in order, its
inputs and a mask for each input, and returns a `Result`. Where training drops
inputs, `drop` says what becomes of them.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Result:
    """What a layer should give for one batch, in the order it returns it."""

    outputs: list
    scores: list = dataclasses.field(default_factory=list)
    penalty: float = 0.0


def identity(x):
    return x


ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
}


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def orthogonality(factor, scores):
    """`factor` times the batch mean of ‖A Aᵀ − I‖²_F."""
    total = 0.0
    for matrix in scores:
        overlap = matrix @ matrix.T - np.eye(len(matrix))
        total += (overlap**2).sum()
    return factor * total / len(scores)


def structured_self_attention(config, weights, inputs, masks):
    (states,), (mask,) = inputs, masks
    hidden_kernel, score_kernel, *biases = weights
    hidden_bias, score_bias = biases or (0, np.zeros(config["num_heads"]))
    batch, steps, features = states.shape
    heads = config["num_heads"]
    embedding = np.zeros((batch, heads, features))
    scores = np.zeros((batch, heads, steps))
    for b in range(batch):
        kept = np.flatnonzero(mask[b])
        if not len(kept):
            continue
        hidden = np.tanh(states[b, kept] @ hidden_kernel + hidden_bias)
        logits = hidden @ score_kernel + score_bias
        for head in range(heads):
            scores[b, head, kept] = softmax(logits[:, head])
            for t in kept:
                embedding[b, head] += scores[b, head, t] * states[b, t]
    penalty = orthogonality(config["attention_regularizer"].factor, scores)
    return Result([embedding], [scores], penalty)


def max_pooling(config, weights, inputs, masks):
    (states,), (mask,) = inputs, masks
    pooled = np.zeros((states.shape[0], states.shape[2]))
    scores = np.zeros((states.shape[0], 1, states.shape[1]))
    for b, kept in enumerate(map(np.flatnonzero, mask)):
        for d in range(states.shape[2] if len(kept) else 0):
            best = kept[states[b, kept, d].argmax()]
            pooled[b, d] = states[b, best, d]
            scores[b, 0, best] += 1 / states.shape[2]
    return Result([pooled], [scores])


def mean_pooling(config, weights, inputs, masks):
    (states,), (mask,) = inputs, masks
    pooled = np.zeros((states.shape[0], states.shape[2]))
    scores = np.zeros((states.shape[0], 1, states.shape[1]))
    for b, kept in enumerate(map(np.flatnonzero, mask)):
        for t in kept:
            pooled[b] += states[b, t] / len(kept)
            scores[b, 0, t] = 1 / len(kept)
    return Result([pooled], [scores])


def last_pooling(config, weights, inputs, masks):
    (states,), (mask,) = inputs, masks
    half = states.shape[2] // 2
    pooled = np.zeros((states.shape[0], states.shape[2]))
    scores = np.zeros((states.shape[0], 1, states.shape[1]))
    for b, kept in enumerate(map(np.flatnonzero, mask)):
        if len(kept):
            pooled[b, :half] = states[b, kept[-1], :half]
            pooled[b, half:] = states[b, kept[0], half:]
            scores[b, 0, kept[-1]] += 0.5
            scores[b, 0, kept[0]] += 0.5
    return Result([pooled], [scores])


def lstm(sequence, kernel, recurrent_kernel, bias):
    """The states of one LSTM over `(n, D)`; gates in order i, f, c, o."""
    units = len(recurrent_kernel)
    state, carry = np.zeros(units), np.zeros(units)
    states = []
    for x in sequence:
        gates = x @ kernel + state @ recurrent_kernel + bias
        i, f, c, o = np.split(gates, 4)
        carry = sigmoid(f) * carry + sigmoid(i) * np.tanh(c)
        state = sigmoid(o) * np.tanh(carry)
        states.append(state)
    return np.array(states)


def stacked_bilstm(config, weights, inputs, masks, drop=identity):
    (words,), (mask,) = inputs, masks
    batch, steps, _ = words.shape
    outputs = np.zeros((batch, steps, 2 * config["units"][-1]))
    for b, kept in enumerate(map(np.flatnonzero, mask)):
        if not len(kept):
            continue
        below = words[b, kept]
        for layer in range(len(config["units"])):
            forward, backward = (
                weights[6 * layer :][:3],
                weights[6 * layer :][3:6],
            )
            below = drop(below)
            states = np.concatenate(
                [lstm(below, *forward), lstm(below[::-1], *backward)[::-1]],
                axis=-1,
            )
            below = states
            if config.get("shortcut", True):
                below = np.concatenate([words[b, kept], states], axis=-1)
        outputs[b, kept] = states
    return Result([outputs])


def dropout(config, weights, inputs, masks):
    """Training alone drops."""
    return Result(list(inputs))


def masked_conv1d(config, weights, inputs, masks, drop=identity):
    (states,), (mask,) = inputs, masks
    kernel, bias = weights
    states = drop(states)
    activation = ACTIVATIONS[config["activation"]]
    width = len(kernel)
    outputs = np.zeros((*states.shape[:2], kernel.shape[-1]))
    for b, t in np.ndindex(states.shape[:2]):
        if mask[b, t]:
            outputs[b, t] = bias
            for k in range(width):
                s = t + k - (width - 1) // 2
                if 0 <= s < states.shape[1] and mask[b, s]:
                    outputs[b, t] += states[b, s] @ kernel[k]
            outputs[b, t] = activation(outputs[b, t])
    return Result([outputs])


def word_embedding(config, weights, inputs, masks):
    (ids,), (table,) = inputs, weights
    outputs = np.zeros((*ids.shape, table.shape[1]))
    for b, t in np.ndindex(ids.shape):
        if ids[b, t]:
            outputs[b, t] = table[ids[b, t]]
    return Result([outputs])


def with_biases(config, weights):
    """The weights with biases of zero, where the layer has none."""
    if config.get("use_bias", True):
        return weights
    return [
        weight
        for kernel in weights
        for weight in (kernel, np.zeros((len(kernel), kernel.shape[-1])))
    ]


def head_diversity(regularizer, heads):
    """`factor` times the batch mean of Σ_{i<j} max(margin − ‖x_i − x_j‖², 0).

    Heads of shape `(B, I, ...)`.
    """
    total = 0.0
    for sentence in heads:
        for j in range(len(sentence)):
            for i in range(j):
                distance = ((sentence[i] - sentence[j]) ** 2).sum()
                total += max(regularizer.margin - distance, 0.0)
    return regularizer.factor * total / len(heads)


def generalized_pooling(config, weights, inputs, masks):
    (states,), (mask,) = inputs, masks
    hidden_kernel, hidden_bias, score_kernel, score_bias = with_biases(
        config, weights
    )
    batch, steps, features = states.shape
    heads = config["num_heads"]
    activation = ACTIVATIONS[config["activation"]]
    embedding = np.zeros((batch, heads, features))
    scores = np.zeros((batch, heads, steps, features))
    for b, i, d in np.ndindex(batch, heads, features):
        kept = np.flatnonzero(mask[b])
        if not len(kept):
            continue
        hidden = activation(states[b, kept] @ hidden_kernel[i] + hidden_bias[i])
        logits = hidden @ score_kernel[i, :, d] + score_bias[i, d]
        scores[b, i, kept, d] = softmax(logits)
        for t in kept:
            embedding[b, i, d] += scores[b, i, t, d] * states[b, t, d]
    penalty = sum(
        head_diversity(config[f"{subject}_regularizer"], heads)
        for subject, heads in (
            ("parameter", hidden_kernel[np.newaxis]),
            ("attention", scores),
            ("embedding", embedding),
        )
    )
    return Result([embedding], [scores], penalty)


def feed_forward(x, weights, drop=identity):
    for kernel, bias in zip(weights[::2], weights[1::2], strict=True):
        x = np.maximum(drop(x) @ kernel + bias, 0)
    return x


def decomposable_attention(config, weights, inputs, masks, drop=identity):
    layers = 2 * len(config["attend_units"])
    attend, compare = weights[:layers], weights[layers:]
    batch, units = len(inputs[0]), config["compare_units"][-1]
    outputs = np.zeros((batch, 2 * units))
    lengths = [x.shape[1] for x in inputs]
    scores = [np.zeros((batch, *lengths)), np.zeros((batch, *lengths[::-1]))]
    for b in range(batch):
        kept = [np.flatnonzero(mask[b]) for mask in masks]
        words = [x[b, k] for x, k in zip(inputs, kept, strict=True)]
        hidden = [feed_forward(each, attend, drop) for each in words]
        for side in range(2):
            others = words[1 - side]
            for i, word in enumerate(words[side]):
                counterpart = np.zeros(len(word))
                if len(others):
                    row = softmax(hidden[1 - side] @ hidden[side][i])
                    scores[side][b, kept[side][i], kept[1 - side]] = row
                    counterpart = row @ others
                outputs[b, side * units : (side + 1) * units] += feed_forward(
                    np.concatenate([word, counterpart]), compare, drop
                )
    return Result([outputs], scores)


def intra_sentence_attention(config, weights, inputs, masks, drop=identity):
    (words,), (mask,) = inputs, masks
    *attention, distance_bias = weights
    longest = config["max_distance"]
    batch, steps, features = words.shape
    outputs = np.zeros((batch, steps, 2 * features))
    scores = np.zeros((batch, steps, steps))
    for b in range(batch):
        kept = np.flatnonzero(mask[b])
        hidden = feed_forward(words[b, kept], attention, drop)
        for i, t in enumerate(kept):
            logits = np.zeros(len(kept))
            for j in range(len(kept)):
                near = abs(i - j) <= longest
                bias = distance_bias[i - j + longest if near else -1]
                logits[j] = hidden[i] @ hidden[j] + bias
            scores[b, t, kept] = softmax(logits)
            aligned = scores[b, t, kept] @ words[b, kept]
            outputs[b, t] = np.concatenate([words[b, t], aligned])
    return Result([outputs], [scores])


def pruned_dense(config, weights, inputs, masks):
    (matrices,) = inputs
    weights = iter(with_biases(config, weights))
    batch, r, features = matrices.shape
    activation = ACTIVATIONS[config["activation"]]
    outputs = []
    if config["row_units"] is not None:
        kernel, bias = next(weights), next(weights)
        rows = np.zeros((batch, r, config["row_units"]))
        for b, i in np.ndindex(batch, r):
            rows[b, i] = activation(matrices[b, i] @ kernel[i] + bias[i])
        outputs.append(rows)
    if config["column_units"] is not None:
        kernel, bias = next(weights), next(weights)
        columns = np.zeros((batch, features, config["column_units"]))
        for b, j in np.ndindex(batch, features):
            column = matrices[b, :, j]
            columns[b, j] = activation(column @ kernel[j] + bias[j])
        outputs.append(columns)
    return Result(outputs)


def gated_encoder(config, weights, inputs, masks):
    left, right = inputs
    left_kernel, right_kernel = weights
    outputs = np.zeros((*left.shape[:2], config["units"]))
    for b, i in np.ndindex(left.shape[:2]):
        outputs[b, i] = (left[b, i] @ left_kernel[i]) * (
            right[b, i] @ right_kernel[i]
        )
    return Result([outputs])


def ambiguity(*parts):
    """How much less the logits' sum costs than the parts by themselves."""

    def costs(logits):
        # Of class 0: what the label is makes no difference.
        return -np.log([softmax(row)[0] for row in logits])

    alone = [costs(len(parts) * logits) for logits in parts]
    return (np.mean(alone, axis=0) - costs(sum(parts))).mean()


def summed_logits(config, weights, inputs, masks):
    penalty = config["ambiguity_regularizer"]
    factor = 0.0 if penalty is None else penalty.factor
    return Result([sum(inputs)], [], factor * ambiguity(*inputs))


def character_cnn(config, weights, inputs, masks):
    (ids,) = inputs
    embeddings, *windows = weights
    filters = config["filters"]
    outputs = np.zeros((*ids.shape[:2], filters * len(config["kernel_sizes"])))
    for b, t, place in np.ndindex(*ids.shape[:2], len(config["kernel_sizes"])):
        kernel, bias = windows[2 * place : 2 * place + 2]
        best = outputs[b, t, place * filters : (place + 1) * filters]
        word = ids[b, t]
        for c in np.flatnonzero(word):
            value = bias.copy()
            for k in range(len(kernel)):
                at = c + k - (len(kernel) - 1) // 2
                if 0 <= at < len(word) and word[at]:
                    value += embeddings[word[at]] @ kernel[k]
            # ReLU, because `best` starts from 0.
            np.maximum(best, value, out=best)
    return Result([outputs])


def ngram_logits(config, weights, inputs, masks):
    words, *characters = inputs
    (table,) = weights
    logits = np.zeros((len(words), table.shape[1]))
    for b, text in enumerate(words):
        kinds = [(size, [text]) for size in config["word_ngrams"]]
        for ids in characters:
            spelled = [
                [1, *(ids[b, t][ids[b, t] > 0] + 1), 1]
                for t in np.flatnonzero(text)
                if ids[b, t].any()
            ]
            kinds += [(size, spelled) for size in config["character_ngrams"]]
        logits[b] = sum_of_rows(kinds, table)
    return Result([logits])


def pair_ngram_logits(config, weights, inputs, masks):
    (table,) = weights
    logits = np.zeros((len(inputs[0]), table.shape[1]))
    for b, (premise, hypothesis) in enumerate(zip(*inputs, strict=True)):
        known = set(premise.tolist()) - {0, 1}
        marked, signs = [], []
        for word in hypothesis.tolist():
            marked.append(word and 2 * word + (word in known))
            signs.append(word and 1 + (word in known))
        logits[b] = sum_of_rows(
            [(size, [marked]) for size in config["word_ngrams"]]
            + [(size, [signs]) for size in config["match_ngrams"]],
            table,
        )
    return Result([logits])


def sum_of_rows(kinds, table):
    """The rows of the n-grams of a text, over the root of their number."""
    found = []
    for kind, (size, sequences) in enumerate(kinds, start=1):
        for sequence in sequences:
            for start in range(len(sequence) - size + 1):
                gram = sequence[start : start + size]
                row = kind
                for each in gram:
                    row = (997 * row + int(each)) % len(table)
                found += [row] * bool(np.all(gram))
    return table[found].sum(axis=0) / max(len(found), 1) ** 0.5


def exact_match(config, weights, inputs, masks):
    matches = []
    for words, others in (inputs, inputs[::-1]):
        found = np.zeros((*words.shape, 1))
        for b, i in np.argwhere(words > 1):
            found[b, i] = words[b, i] in others[b].tolist()
        matches.append(found)
    return Result(matches)


def both_sides(config, weights, inputs, masks):
    left, right = (
        structured_self_attention(config, weights, [side], [mask])
        for side, mask in zip(inputs, masks, strict=True)
    )
    return Result(
        left.outputs + left.scores + right.outputs + right.scores,
        penalty=left.penalty + right.penalty,
    )
