"""Batches, cut by TensorFlow from what Python has gathered for many of them."""

import tensorflow as tf

# Of integers, one for each batch or row.
WHOLE = tf.TensorSpec((None,), tf.int64)


def cut_batches(stretches, signature, plan):
    """The dataset of the batches of a plan.

    Args:
        stretches: Function that returns an iterable of dictionaries: the
            `"starts"` and `"ends"` of some batches, the targets of their
            rows, flat arrays of ids in `"sides"`, and, where several workers
            share the batches, how many rows are the worker's `"own"`.
        signature: The `tf.TypeSpec`s of a dictionary.
        plan: The `BatchPlan`, which the dataset gets as an attribute.
    """
    dataset = tf.data.Dataset.from_generator(
        stretches, output_signature=signature
    )
    # Python gathers the rows of many batches at once; TensorFlow cuts the
    # batches from them, so that small ones cost little.
    dataset = dataset.prefetch(1).flat_map(_cut)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(plan)))
    dataset = prefetch_batches(dataset)
    dataset.plan = plan
    return dataset


def prefetch_batches(dataset):
    """A dataset whose next batches are made while one is worked on.

    Without autotuning: when an epoch ends, its iterator sometimes waits for
    the thread that tunes to wake. That sleeps 10 ms, and then twice as long
    each time, up to a minute: an epoch of 6 s may take 10.2 s.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(tf.data.AUTOTUNE).with_options(options)


def _cut(stretch):
    """The dataset of the batches of a stretch."""

    def batch(number):
        start, end = stretch["starts"][number], stretch["ends"][number]
        features = {}
        for side in stretch["sides"].values():
            splits = side["row_splits"][start : end + 1]
            for name, flat in side["ids"].items():
                rows = tf.RaggedTensor.from_row_splits(
                    tf.cast(flat[splits[0] : splits[-1]], tf.int32),
                    splits - splits[0],
                    validate=False,
                )
                inner = flat.shape[1:]
                shape = tf.stack([end - start, side["widths"][number], *inner])
                padded = rows.to_tensor(shape=shape)
                features[name] = tf.ensure_shape(padded, (None, None, *inner))
        targets = [
            stretch[name][start:end]
            for name in ("labels", "weights")
            if name in stretch
        ]
        if "own" in stretch:
            targets.append(stretch["own"][number])
        return features, *targets

    count = tf.size(stretch["ends"], tf.int64)
    return tf.data.Dataset.range(count).map(batch)
