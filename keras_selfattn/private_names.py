"""Names of Keras and TensorFlow that are not public, and what for.

No other file of the package uses one of theirs, and none uses KerasTuner's.
Each has a test of what is relied on.
"""

from collections.abc import Callable
from typing import Any

import keras


class Clipping:
    """An optimizer whose `clip` decides how gradients are clipped.

    No public method is called between `apply` and the clipping.
    """

    def _clip_gradients(self, grads):
        return self.clip(grads, super()._clip_gradients)


class Reducing:
    """An optimizer whose gradients are those of all replicas already.

    Keras's own add them up behind the clipping, within the update step.
    """

    def _all_reduce_sum_gradients(self, grads_and_vars):
        return grads_and_vars


class UpdatingTogether:
    """An optimizer on torch whose `update_together` updates all weights.

    Keras's own on torch has a method for it, which is not public.
    """

    def _parallel_update_step(self, grads, variables, learning_rate):
        self.update_together(grads, variables, learning_rate)


def slot(optimizer: Any, name: str, variable: Any) -> Any:
    """The backend's variable that an optimizer keeps for one of a model.

    Args:
        optimizer: A Keras optimizer.
        name: What it is called: `"momentums"`, `"velocities"`,
            `"velocity_hats"` or `"accumulators"`.
        variable: The variable of the model.
    """
    # That of `keras.optimizers.SGD` is public.
    slots = getattr(optimizer, name, None) or getattr(optimizer, f"_{name}")
    return slots[optimizer._get_variable_index(variable)].value


class Cloning:
    """A functional model whose `run_for_clone` makes the graph of a clone.

    `keras.models.clone_model` runs a model through a method that is not
    public, and calls the model's class with what comes out.
    """

    def _run_through_graph(
        self, inputs, operation_fn=lambda operation: operation, call_fn=None
    ):
        if call_fn is None and all(
            isinstance(tensor, keras.KerasTensor)
            for tensor in keras.tree.flatten(inputs)
        ):
            return self.run_for_clone(inputs, operation_fn)
        return super()._run_through_graph(inputs, operation_fn, call_fn)


def run_graph(function: Any, inputs: Any, operation_fn: Callable) -> Any:
    """What a `keras.Function` gives, with operations in place of its own."""
    return function._run_through_graph(inputs, operation_fn)


class Clearing:
    """A layer whose `keeps_penalties` says when Keras is to clear none.

    Keras clears those of a layer, and of all within it, where a call begins.
    """

    def _clear_losses(self):
        if not self.keeps_penalties():
            # Of steps before: some of this one's may be at their addresses.
            self._loss_ids.clear()
            super()._clear_losses()


def collecting_scope() -> Any:
    """The `keras.StatelessScope` that collects penalties, or `None`.

    A scope remembers the one that it is within, under a name that is not
    documented.
    """
    with keras.StatelessScope(initialize_variables=False) as probe:
        scope = probe.original_scope
    return scope if scope is not None and scope.collect_losses else None


def xla_is_compiling() -> bool:
    """Whether what TensorFlow traces is for XLA to compile.

    TensorFlow has no public name for it, but this one for Keras.
    """
    import tensorflow as tf

    return tf.__internal__.get_enclosing_xla_context() is not None
