"""A classifier's explanations for a stream of texts."""

import itertools

from keras_selfattn.visualization.explanation import Explanation


def explain(model, texts, gold=None, batch_size=32):
    """Yields an `Explanation` for each text, one batch in memory at a time.

    Args:
        model: a classifier with `preprocessor`, `labels` and
            `attention_model()`. Outputs that are no probabilities are taken
            as logits.
        texts: iterable of str.
        gold: iterable of the true labels, as long as `texts`, or None. They
            are compared with `model.labels` as text.
        batch_size: int, how many texts the model sees at once.

    Raises:
        ValueError: if `texts` is a single str, `batch_size` is not positive,
            `gold` is shorter or longer than `texts`, or the model has no
            preprocessor.
    """
    if isinstance(texts, str):
        raise ValueError(f"Expected an iterable of texts, got a str: {texts!r}")
    if batch_size < 1:
        raise ValueError(f"Expected a positive batch_size, got {batch_size}")
    if model.preprocessor is None:
        raise ValueError(
            "Expected a model with a preprocessor to read texts, got one whose "
            "preprocessor is None"
        )
    return _explain(model, texts, gold, batch_size)


def _explain(model, texts, gold, batch_size):
    import tensorflow as tf

    attention = model.attention_model()

    @tf.function(reduce_retracing=True)
    def run(features):
        return (
            model(features, training=False),
            attention(features, training=False),
        )

    pairs = _pairs(texts, gold)
    while batch := list(itertools.islice(pairs, batch_size)):
        strings = tf.constant(
            [text.encode("utf-8", "replace") for text, _ in batch]
        )
        rows = model.preprocessor.tokenize(strings).to_list()
        outputs, scores = run(model.preprocessor(strings))
        outputs = tf.cast(outputs, tf.float32)
        if not _are_probabilities(outputs.numpy()):
            outputs = tf.nn.softmax(outputs)
        labels = model.labels or [str(i) for i in range(outputs.shape[-1])]
        scores = tf.cast(scores, tf.float32).numpy()
        if scores.ndim == 4:
            # Generalized pooling weighs each feature by itself.
            scores = scores.mean(axis=-1)
        for (text, label), tokens, score, output in zip(
            batch, rows, scores, outputs.numpy(), strict=True
        ):
            yield Explanation(
                text=text,
                tokens=[token.decode("utf-8", "replace") for token in tokens],
                scores=score[:, : len(tokens)],
                probabilities=output,
                labels=list(labels),
                gold=label,
            )


def _pairs(texts, gold):
    if gold is None:
        yield from ((text, None) for text in texts)
        return
    missing = object()
    for text, label in itertools.zip_longest(texts, gold, fillvalue=missing):
        if text is missing or label is missing:
            short = "texts" if text is missing else "gold"
            raise ValueError(
                "Expected as many gold labels as texts, but there are fewer "
                f"{short}"
            )
        yield text, None if label is None else str(label)


def _are_probabilities(rows):
    return (rows >= 0).all() and (abs(rows.sum(axis=-1) - 1) < 1e-3).all()
