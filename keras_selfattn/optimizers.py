"""Keras's optimizers, with steps that cost what the touched weights cost.

On TensorFlow the gradient of a table of word vectors names a row once for
each time a batch uses it. Keras feeds Adagrad and Adam these parts one by
one, so a word that occurs twice is not updated by its gradient, and most of
its updates pass over the whole table. `SGD`, `Adam` and `Adagrad` take
Keras's place in any script. They have its arguments, configs and variables,
so that a state saved by the one loads into the other, and differ so:

- Repeated rows are added up first, before clipping too. Where a step only
  subtracts them, as that of plain `SGD`, it does so one by one.
- Of a table that the gradient names rows of, and of its slots (momentums,
  accumulators), only these rows are read and written. For `Adagrad` and for
  `SGD` without momentum the outcome is that of the dense gradient, which
  moves no other row. With momentum, `Adam`'s included, it is not: see there.
- Under a `tf.distribute` strategy the gradients of all replicas are added up
  before they are clipped, where Keras clips those of each.
- Dense weights take a fused op where TensorFlow has one of the same
  arithmetic: `Adam` without `amsgrad`, and `SGD`.

What concerns the whole table stays Keras's, and costs the whole table:
`weight_decay`, `use_ema`, `gradient_accumulation_steps`, whose sums are
dense, so that the update is too, and a constraint of the table.
`keras.optimizers.LossScaleOptimizer`, which float16 needs, looks through the
whole gradient for what is not finite.

On JAX and torch, where no gradient is sparse, the moves are those of Keras's
optimizers. On torch all weights are updated together, by `Adam` in PyTorch's
fused op, which reads and writes each weight once.
"""

import inspect
import math
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from keras_selfattn import validation
from keras_selfattn.private_names import Clipping
from keras_selfattn.private_names import Reducing
from keras_selfattn.private_names import UpdatingTogether
from keras_selfattn.private_names import slot
from keras_selfattn.private_names import xla_is_compiling


def add_up_rows(gradient: Any) -> Any:
    """A sparse gradient that names each row once; others as they are."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, position = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(
        gradient.values, position, tf.size(rows)
    )
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


def _sum_over_replicas(gradients):
    """The gradients of all replicas of a `tf.distribute` strategy, added up.

    Keras adds up what each replica has clipped. The norm that clipping looks
    at, and the words that a batch repeats, are those of the whole batch.
    """
    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync == 1:
        return gradients
    there = [each for each in gradients if each is not None]
    added = iter(replica.all_reduce(tf.distribute.ReduceOp.SUM, there))
    return [None if each is None else next(added) for each in gradients]


class _DivisibleSlices(tf.IndexedSlices):
    """A sparse gradient that Keras can divide by a `loss_scale_factor`."""

    def __truediv__(self, number):
        return tf.IndexedSlices(
            self.values / number, self.indices, self.dense_shape
        )


def _divisible(gradient):
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    return _DivisibleSlices(
        gradient.values, gradient.indices, gradient.dense_shape
    )


class _TouchedRows(Reducing, Clipping):
    """Has Keras's optimizers update the rows that a gradient names."""

    def apply(self, grads, trainable_variables=None):
        if keras.backend.backend() == "tensorflow":
            grads = _sum_over_replicas(grads)
        if not self._takes_repeated_rows():
            grads = [add_up_rows(gradient) for gradient in grads]
        if self.loss_scale_factor is not None:
            grads = [_divisible(gradient) for gradient in grads]
        if keras.backend.backend() != "tensorflow":
            return super().apply(grads, trainable_variables)
        if trainable_variables is not None and not self.built:
            # What must wait for a gradient can't be made once for all steps.
            trainable_variables = list(trainable_variables)
            with keras.name_scope(self.name, caller=self):
                self.build(trainable_variables)
        # TensorFlow copies a weight to update it while something reads it, as
        # the gradient of the layer below may until all gradients are there.
        ready = [each for each in grads if each is not None]
        with tf.control_dependencies(ready):
            return super().apply(grads, trainable_variables)

    def _takes_repeated_rows(self):
        return False

    def clip(self, grads, clip):
        # The rows that are not there are zero: no clipping needs them, and
        # Keras would make them to take a norm.
        clipped = clip(
            [g.values if isinstance(g, tf.IndexedSlices) else g for g in grads]
        )
        return [
            tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
            if isinstance(gradient, tf.IndexedSlices)
            else values
            for gradient, values in zip(grads, clipped, strict=True)
        ]

    def update_step(self, gradient, variable, learning_rate):
        if not isinstance(gradient, tf.IndexedSlices):
            self._update_whole(gradient, variable, learning_rate)
            return
        self._update_rows(
            ops.cast(gradient.values, variable.dtype),
            gradient.indices,
            variable,
            ops.cast(learning_rate, variable.dtype),
        )
        # An op on rows leaves the variable in a mode in which each reading
        # of it, such as an Embedding's, copies the whole table. XLA has
        # neither the mode nor the op that ends it.
        if not xla_is_compiling():
            tf.raw_ops.DisableCopyOnRead(resource=variable.handle)

    def _update_whole(self, gradient, variable, learning_rate):
        super().update_step(gradient, variable, learning_rate)

    def _set_rows(self, variable, rows, values):
        self.assign(variable, tf.IndexedSlices(values, rows))

    def _add_to_rows(self, variable, rows, values):
        self.assign_add(variable, tf.IndexedSlices(values, rows))


def _of_backend(optimizer):
    """An optimizer of Keras as the backend has it.

    On torch that is a class which updates all weights together. Keras makes it
    in the place of its own, but not in that of one derived from this.
    """
    if keras.backend.backend() != "torch":
        return optimizer
    return type(optimizer())


_SGD: Any = _of_backend(keras.optimizers.SGD)
_Adam: Any = _of_backend(keras.optimizers.Adam)
_Adagrad: Any = _of_backend(keras.optimizers.Adagrad)


@keras.saving.register_keras_serializable(package="keras_selfattn")
class SGD(_TouchedRows, _SGD):
    """`keras.optimizers.SGD` that updates a table's touched rows only.

    Without momentum it moves all weights as Keras does. With momentum, rows
    that are not in the batch stay where they are and keep their momentum,
    where Keras goes on moving them and lets it decay: `Adam` says why.

    The arguments are those of `keras.optimizers.SGD`.
    """

    def _takes_repeated_rows(self):
        # Moves add up as gradients do, unless these are clipped first.
        clipping = (self.clipnorm, self.global_clipnorm, self.clipvalue)
        return self.momentum == 0 and clipping == (None, None, None)

    def _update_whole(self, gradient, variable, learning_rate):
        if keras.backend.backend() != "tensorflow":
            super()._update_whole(gradient, variable, learning_rate)
            return
        learning_rate = ops.cast(learning_rate, variable.dtype)
        if self.momentum == 0:
            tf.raw_ops.ResourceApplyGradientDescent(
                var=variable.handle,
                alpha=learning_rate,
                delta=ops.cast(gradient, variable.dtype),
            )
        else:
            tf.raw_ops.ResourceApplyKerasMomentum(
                var=variable.handle,
                accum=slot(self, "momentums", variable).handle,
                lr=learning_rate,
                grad=ops.cast(gradient, variable.dtype),
                momentum=self.momentum,
                use_nesterov=self.nesterov,
            )

    def _update_rows(self, gradient, rows, variable, learning_rate):
        move = -learning_rate * gradient
        if self.momentum != 0:
            momentums = slot(self, "momentums", variable)
            momentum = self.momentum * tf.gather(momentums, rows) + move
            self._set_rows(momentums, rows, momentum)
            if self.nesterov:
                move += self.momentum * momentum
            else:
                move = momentum
        self._add_to_rows(variable, rows, move)


class _FusedOnTorch(UpdatingTogether):
    """Has PyTorch's fused op make the moves of Keras's Adam."""

    def update_together(self, grads, variables, learning_rate):
        import torch
        from torch.optim.adam import adam

        def slots(name):
            return [slot(self, name, variable) for variable in variables]

        weights = [variable.value for variable in variables]
        pairs = zip(grads, weights, strict=True)
        # The fused code reads them as they lie.
        grads = [grad.to(weight.dtype).contiguous() for grad, weight in pairs]
        step = int(ops.convert_to_numpy(self.iterations))
        # PyTorch adds epsilon to roots that are bias-corrected already.
        correction = math.sqrt(1 - self.beta_2 ** (step + 1))
        adam(
            weights,
            grads,
            slots("momentums"),
            slots("velocities"),
            slots("velocity_hats") if self.amsgrad else [],
            # Where the weight is, as `torch.optim.Adam` keeps them.
            [
                torch.tensor(float(step), device=weight.device)
                for weight in weights
            ],
            fused=True,
            amsgrad=self.amsgrad,
            beta1=self.beta_1,
            beta2=self.beta_2,
            lr=float(learning_rate),
            weight_decay=0.0,
            eps=self.epsilon / correction,
            maximize=False,
        )


@keras.saving.register_keras_serializable(package="keras_selfattn")
class Adam(_TouchedRows, _FusedOnTorch, _Adam):
    """`keras.optimizers.Adam` that updates a table's touched rows only.

    Rows that are not in the batch stay where they are and keep their
    moments, as with `torch.optim.SparseAdam`; the bias correction counts all
    steps. Keras decays all moments in each step and moves all rows by them.
    A row that is in every batch moves as with Keras, and so does one at its
    first occurrence. Otherwise a row moves less: under a steady gradient a
    word of each k-th batch moves by three learning rates an occurrence at
    first and by one in the long run, with Keras by about sqrt(k) of them,
    most of it in the steps after.

    The moments could be decayed when a row is next touched, by the steps it
    missed. They are not: that needs the last step of each row, which Keras's
    saved states don't have, and would leave out the moves all the same,
    which the forward pass must see before any update can make them up.

    Dense weights move as with Keras within 1e-5 of a move: in float32
    TensorFlow's op takes `1 - beta_2` of the rounded `beta_2`.

    The arguments are those of `keras.optimizers.Adam`.
    """

    def _update_whole(self, gradient, variable, learning_rate):
        if self.amsgrad or keras.backend.backend() != "tensorflow":
            super()._update_whole(gradient, variable, learning_rate)
            return
        beta_1_power, beta_2_power = self._powers(variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=slot(self, "momentums", variable).handle,
            v=slot(self, "velocities", variable).handle,
            beta1_power=beta_1_power,
            beta2_power=beta_2_power,
            lr=ops.cast(learning_rate, variable.dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=ops.cast(gradient, variable.dtype),
        )

    def _update_rows(self, gradient, rows, variable, learning_rate):
        momentums = slot(self, "momentums", variable)
        velocities = slot(self, "velocities", variable)
        momentum = tf.gather(momentums, rows)
        momentum += (gradient - momentum) * (1 - self.beta_1)
        self._set_rows(momentums, rows, momentum)
        velocity = tf.gather(velocities, rows)
        velocity += (tf.square(gradient) - velocity) * (1 - self.beta_2)
        self._set_rows(velocities, rows, velocity)
        if self.amsgrad:
            velocity_hats = slot(self, "velocity_hats", variable)
            velocity = tf.maximum(tf.gather(velocity_hats, rows), velocity)
            self._set_rows(velocity_hats, rows, velocity)
        beta_1_power, beta_2_power = self._powers(variable.dtype)
        alpha = learning_rate * tf.sqrt(1 - beta_2_power) / (1 - beta_1_power)
        move = -alpha * momentum / (tf.sqrt(velocity) + self.epsilon)
        self._add_to_rows(variable, rows, move)

    def _powers(self, dtype):
        step = ops.cast(self.iterations + 1, dtype)
        return (
            ops.power(ops.cast(self.beta_1, dtype), step),
            ops.power(ops.cast(self.beta_2, dtype), step),
        )


@keras.saving.register_keras_serializable(package="keras_selfattn")
class Adagrad(_TouchedRows, _Adagrad):
    """`keras.optimizers.Adagrad` that updates a table's touched rows only.

    It moves all weights as Keras does with the dense gradient.

    The arguments are those of `keras.optimizers.Adagrad`.
    """

    def _update_rows(self, gradient, rows, variable, learning_rate):
        accumulators = slot(self, "accumulators", variable)
        accumulator = tf.gather(accumulators, rows) + tf.square(gradient)
        self._set_rows(accumulators, rows, accumulator)
        move = -learning_rate * gradient / tf.sqrt(accumulator + self.epsilon)
        self._add_to_rows(variable, rows, move)


OPTIMIZERS = {"sgd": SGD, "adam": Adam, "adagrad": Adagrad}


def get(name: str, /, **arguments: Any) -> keras.optimizers.Optimizer:
    """An optimizer by its name.

    Args:
        name: `"sgd"`, `"adam"` or `"adagrad"`.
        **arguments: Arguments of the Keras optimizer.

    Raises:
        ValueError: if there is no optimizer of that name.
    """
    return _get_class(name)(**arguments)


# Arguments that a recipe has other words for.
_NOT_FOR_RECIPES = {"name", "kwargs", "use_ema", "ema_overwrite_frequency"}


def argument_names(name: str) -> set[str]:
    """The set of the names of those arguments that `defaults` gives."""
    return set(defaults(name))


def defaults(name: str) -> dict[str, Any]:
    """The arguments of an optimizer that a recipe may set, and their defaults.

    Args:
        name: `"sgd"`, `"adam"` or `"adagrad"`.

    Returns:
        A dictionary of the defaults by name.

    Raises:
        ValueError: if there is no optimizer of that name.

    Example:

    >>> defaults("adam")["beta_1"]
    0.9
    """
    arguments = inspect.signature(_get_class(name)).parameters
    return {
        argument: parameter.default
        for argument, parameter in arguments.items()
        if argument not in _NOT_FOR_RECIPES
    }


def _get_class(name):
    return OPTIMIZERS[validation.one_of(name, OPTIMIZERS, "optimizer")]
