"""The papers' equations in NumPy float64, by plain loops over the steps.

Each reference takes the layer's configuration, its weights in order, its
inputs and a mask for each input, and returns a `Result`.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Result:
    """What a layer should give for one batch."""

    outputs: list
    scores: list = dataclasses.field(default_factory=list)
    penalty: float = 0.0


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
    hidden_kernel, score_kernel, hidden_bias, score_bias = weights
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


def stacked_bilstm(config, weights, inputs, masks):
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
            states = np.concatenate(
                [lstm(below, *forward), lstm(below[::-1], *backward)[::-1]],
                axis=-1,
            )
            below = np.concatenate([words[b, kept], states], axis=-1)
        outputs[b, kept] = states
    return Result([outputs])


def masked_conv1d(config, weights, inputs, masks):
    (states,), (mask,) = inputs, masks
    kernel, bias = weights
    width = len(kernel)
    outputs = np.zeros((*states.shape[:2], kernel.shape[-1]))
    for b, t in np.ndindex(states.shape[:2]):
        if mask[b, t]:
            outputs[b, t] = bias
            for k in range(width):
                s = t + k - (width - 1) // 2
                if 0 <= s < states.shape[1] and mask[b, s]:
                    outputs[b, t] += states[b, s] @ kernel[k]
            outputs[b, t] = np.tanh(outputs[b, t])
    return Result([outputs])


def word_embedding(config, weights, inputs, masks):
    (ids,), (table,) = inputs, weights
    outputs = np.zeros((*ids.shape, table.shape[1]))
    for b, t in np.ndindex(ids.shape):
        if ids[b, t]:
            outputs[b, t] = table[ids[b, t]]
    return Result([outputs])
