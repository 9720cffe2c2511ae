"""A bidirectional LSTM over kept steps alone, for TensorFlow on a CPU.

The rows of a batch are sorted by length and their kept steps packed one after
the other: the first of every row, then the second of the rows that have one,
and so on. What doesn't depend on the states before, the products with the
inputs and the gradients of all weights, is one large product over the packed
steps. The loops over the steps do the rest, each for the rows that are still
there, one loop for each direction, which run side by side. Both directions
read the packed steps as they lie: the backward one from the last step to the
first, with rows joining where their texts end.
"""

import tensorflow as tf

from keras_selfattn.layers._tensorflow import packed_steps


def is_faster(dtype):
    """Whether it is faster here than the LSTMs of Keras."""
    return dtype in ("float32", "bfloat16") and packed_steps.is_faster()


class PackedSteps(packed_steps.KeptSteps):
    """Where the kept steps of a batch lie, packed step by step.

    Args:
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.

    Attributes:
        rows: Integer tensor: how many rows have a first kept step, a second,
            and so on, falling. It has at least one entry.
    """

    def __init__(self, mask):
        super().__init__(mask)
        lengths = tf.math.count_nonzero(mask, axis=1, dtype="int32")
        order = tf.argsort(lengths, direction="DESCENDING", stable=True)
        # A loop without a step would leave nothing to concatenate.
        steps = tf.range(tf.maximum(tf.reduce_max(lengths), 1))[:, None]
        # Of shape (steps, batch), rows in order of length.
        there = steps < tf.gather(lengths, order)
        firsts = tf.gather(tf.cumsum(lengths, exclusive=True), order)
        self.rows = tf.math.count_nonzero(there, axis=1, dtype="int32")
        # Kept steps are numbered along the rows, and padding has no number.
        self._places = tf.gather(
            self._places, tf.boolean_mask(firsts + steps, there)
        )


def bidirectional_lstm(inputs, rows, forward, backward, training):
    """What `keras.layers.Bidirectional` of an `LSTM` gives, packed.

    Args:
        inputs: Packed steps of shape `(kept, D)`, of type float32 or
            bfloat16. The products are computed in this type, and what the
            states carry on in float32.
        rows: As in `PackedSteps`.
        forward: The kernel of the forward LSTM, its recurrent kernel and its
            bias, tensors or variables of the type of the inputs.
        backward: The same for the backward LSTM.
        training: Boolean, whether to keep what the gradient needs. Without
            it a gradient can still be taken, more slowly.

    Returns:
        Packed states of shape `(kept, 2 * units)`.
    """
    lstm = _trained_lstm if training else _lstm
    directions = [
        lstm(inputs, rows, *map(tf.convert_to_tensor, weights), go_backwards)
        for weights, go_backwards in ((forward, False), (backward, True))
    ]
    return tf.concat(directions, axis=1)


def _lstm(inputs, rows, kernel, recurrent_kernel, bias, go_backwards):
    def step_by_step(inputs, kernel, recurrent_kernel, bias):
        # The gradient of `bias_add` is a sum in 16 bits, of 256 at most.
        projected = tf.matmul(inputs, kernel) + bias
        states, *_ = _run(
            projected, rows, recurrent_kernel, go_backwards, False
        )
        return states.concat()

    @tf.custom_gradient
    def in_one_op(*arguments):
        # TensorFlow's own gradient of this op is wrong.
        def gradient(upstream):
            with tf.GradientTape() as tape:
                tape.watch(arguments)
                states = step_by_step(*arguments)
            return tape.gradient(states, arguments, upstream)

        return _one_row(*arguments, go_backwards), gradient

    arguments = inputs, kernel, recurrent_kernel, bias
    if inputs.dtype != "float32":
        return step_by_step(*arguments)
    # Of a single text, most of the time would go by between the steps' ops.
    return tf.cond(
        tf.equal(rows[0], 1),
        lambda: in_one_op(*arguments),
        lambda: step_by_step(*arguments),
    )


def _one_row(inputs, kernel, recurrent_kernel, bias, go_backwards):
    if go_backwards:
        inputs = tf.reverse(inputs, [0])
    units = recurrent_kernel.shape[0]
    no_peephole = tf.zeros([units])
    states = tf.raw_ops.BlockLSTMV2(
        seq_len_max=tf.shape(inputs, out_type="int64")[0],
        x=inputs[:, tf.newaxis],
        cs_prev=tf.zeros([1, units]),
        h_prev=tf.zeros([1, units]),
        w=tf.concat([kernel, recurrent_kernel], axis=0),
        wci=no_peephole,
        wcf=no_peephole,
        wco=no_peephole,
        b=bias,
        cell_clip=0.0,
    ).h[:, 0]
    return tf.reverse(states, [0]) if go_backwards else states


def _trained_lstm(inputs, rows, kernel, recurrent_kernel, bias, go_backwards):
    @tf.custom_gradient
    def lstm(inputs, kernel, recurrent_kernel, bias):
        projected = tf.nn.bias_add(tf.matmul(inputs, kernel), bias)
        states, before, *gates = _run(
            projected, rows, recurrent_kernel, go_backwards, True
        )

        @tf.custom_gradient
        def gradient(upstream):
            slopes = _run_back(
                upstream, rows, recurrent_kernel, gates, go_backwards
            )
            total = tf.reduce_sum(tf.cast(slopes, "float32"), axis=0)
            return (
                tf.matmul(slopes, kernel, transpose_b=True),
                tf.matmul(inputs, slopes, transpose_a=True),
                tf.matmul(before.concat(), slopes, transpose_a=True),
                tf.cast(total, bias.dtype),
            ), _refuse

        return states.concat(), gradient

    return lstm(inputs, kernel, recurrent_kernel, bias)


def _refuse(*_):
    raise NotImplementedError(
        "`StackedBiLSTM` called with `training=True` has gradients of the "
        "first order only. Pass `training=False` or `implementation='keras'` "
        "for gradients of gradients."
    )


def _run(projected, rows, recurrent_kernel, go_backwards, training):
    """Runs one direction, from inputs times kernel plus bias.

    Returns an array of the states at each step and, in training, arrays of
    the states before each step, of the cells before it, of the four gates and
    of the tanh of the cells.
    """
    dtype = projected.dtype
    units = recurrent_kernel.shape[0]
    steps = tf.size(rows)
    projected = _split(projected, rows)
    # Going backwards rows join, and otherwise rows leave.
    start = 0 if go_backwards else rows[0]
    state = tf.zeros([start, units], dtype)
    cell = tf.zeros([start, units])
    kept = [_array(dtype, steps, units)]
    if training:
        kept += [_array(dtype, steps, units)]
        kept += [_array(tf.float32, steps, units) for _ in range(6)]

    def step(t, state, cell, *kept):
        x = projected.read(t)
        state_before = _with_rows(state, tf.shape(x)[0], go_backwards)
        cell_before = _with_rows(cell, tf.shape(x)[0], go_backwards)
        z = tf.cast(x + tf.matmul(state_before, recurrent_kernel), "float32")
        i, f, c, o = tf.split(z, 4, axis=1)
        i, f, c, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(c), tf.sigmoid(o)
        cell = f * cell_before + i * c
        squashed = tf.tanh(cell)
        state = tf.cast(o * squashed, dtype)
        values = state, state_before, cell_before, i, f, c, o, squashed
        return (
            _next(t, go_backwards),
            state,
            cell,
            *(
                array.write(t, value)
                for array, value in zip(kept, values, strict=False)
            ),
        )

    _, _, _, *kept = _loop(step, steps, go_backwards, state, cell, *kept)
    return kept


def _run_back(upstream, rows, recurrent_kernel, gates, go_backwards):
    """The gradient in the gates, before they are squashed, at each step."""
    dtype = upstream.dtype
    units = recurrent_kernel.shape[0]
    steps = tf.size(rows)
    upstream = _split(upstream, rows)
    # Transposed once, and not in the product of each step.
    recurrent_kernel = tf.transpose(recurrent_kernel)
    start = rows[0] if go_backwards else 0
    zeros = tf.zeros([start, units])
    slopes = _array(dtype, steps, 4 * units)

    def step(t, d_state, d_cell, slopes):
        d_out = tf.cast(upstream.read(t), "float32")
        d_state = _with_rows(d_state, tf.shape(d_out)[0], not go_backwards)
        d_cell = _with_rows(d_cell, tf.shape(d_out)[0], not go_backwards)
        d_state += d_out
        cell_before, i, f, c, o, squashed = (gate.read(t) for gate in gates)
        d_cell += _through_tanh(squashed, d_state * o)
        d_gates = tf.concat(
            [
                _through_sigmoid(i, d_cell * c),
                _through_sigmoid(f, d_cell * cell_before),
                _through_tanh(c, d_cell * i),
                _through_sigmoid(o, d_state * squashed),
            ],
            axis=1,
        )
        d_gates = tf.cast(d_gates, dtype)
        return (
            _next(t, not go_backwards),
            tf.cast(tf.matmul(d_gates, recurrent_kernel), "float32"),
            d_cell * f,
            slopes.write(t, d_gates),
        )

    *_, slopes = _loop(step, steps, not go_backwards, zeros, zeros, slopes)
    return slopes.concat()


def _through_sigmoid(y, gradient):
    return tf.raw_ops.SigmoidGrad(y=y, dy=gradient)


def _through_tanh(y, gradient):
    return tf.raw_ops.TanhGrad(y=y, dy=gradient)


def _loop(step, steps, go_backwards, *variables):
    """`tf.while_loop` over the steps; the number of rows may change."""
    return tf.while_loop(
        (lambda t, *_: t >= 0) if go_backwards else (lambda t, *_: t < steps),
        step,
        (steps - 1 if go_backwards else 0, *variables),
        shape_invariants=(
            tf.TensorShape([]),
            *(
                tf.TensorShape([None, variable.shape[1]])
                if tf.is_tensor(variable)
                else tf.TensorShape(None)
                for variable in variables
            ),
        ),
    )


def _next(t, go_backwards):
    return t - 1 if go_backwards else t + 1


def _with_rows(states, rows, joining):
    """States of so many rows; those that join the others are zero."""
    if joining:
        return tf.pad(states, [[0, rows - tf.shape(states)[0]], [0, 0]])
    return states[:rows]


def _array(dtype, steps, units):
    """An array of tensors `(rows, units)` that are read twice."""
    return tf.TensorArray(
        dtype,
        steps,
        clear_after_read=False,
        infer_shape=False,
        element_shape=[None, units],
    )


def _split(packed, rows):
    array = _array(packed.dtype, tf.size(rows), packed.shape[1])
    return array.split(packed, rows)
