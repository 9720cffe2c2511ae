"""PyTorch's LSTM in `StackedBiLSTM` against the loops of Keras."""

import keras
import numpy as np
import pytest

if keras.backend.backend() != "torch":
    pytest.skip("torch's own", allow_module_level=True)

import torch
from keras import ops

from keras_selfattn.layers._torch import aligned_lstm
from tests.layers.padded_batches import MASKS
from tests.layers.padded_batches import stacks
from tests.layers.padded_batches import words


@pytest.fixture
def calls(monkeypatch):
    """Notes the shapes of what PyTorch's LSTM is given."""
    noted = []
    function = torch.lstm

    def noting(inputs, *arguments, **options):
        noted.append(tuple(inputs.shape))
        return function(inputs, *arguments, **options)

    monkeypatch.setattr(torch, "lstm", noting)
    return noted


def states_and_gradients(stack, inputs, mask, training):
    inputs = ops.convert_to_tensor(inputs).requires_grad_()
    states = stack(inputs, mask=mask, training=training)
    factors = np.random.default_rng(2).normal(size=tuple(states.shape))
    total = (states * ops.convert_to_tensor(factors, states.dtype)).sum()
    weights = [weight.value for weight in stack.weights]
    gradients = torch.autograd.grad(total, [inputs, *weights])
    return [ops.convert_to_numpy(each) for each in (states, *gradients)]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", MASKS)
def test_states_and_gradients_are_those_of_keras(name, training, calls):
    ours, stock = stacks()
    inputs, mask = words(MASKS[name])
    received = states_and_gradients(ours, inputs, mask, training)
    # No longer than the longest row, both directions of both layers.
    longest = max(mask.sum(axis=1).max(), 1)
    assert [shape[:2] for shape in calls] == [(len(mask), longest)] * 4
    expected = states_and_gradients(stock, inputs, mask, training)
    assert len(calls) == 4
    for x, y in zip(received, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)
    assert not received[0][~mask].any()
    assert not received[1][~mask].any()


def test_without_gradients_they_are_the_same(calls):
    ours, stock = stacks()
    inputs, mask = words(MASKS["holes"])
    with torch.no_grad():
        received, expected = (
            ops.convert_to_numpy(stack(inputs, mask=mask))
            for stack in (ours, stock)
        )
    assert len(calls) == 4
    np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [{"dtype": "mixed_float16"}, {"dtype": "float64"}],
)
def test_other_types_take_the_loops_of_keras(arguments, calls):
    ours, stock = stacks(**arguments)
    inputs, mask = words(MASKS["holes"])
    received, expected = (
        ops.convert_to_numpy(stack(inputs, mask=mask))
        for stack in (ours, stock)
    )
    np.testing.assert_array_equal(received, expected)
    assert not calls


def test_a_device_that_is_waited_for_computes_all_steps():
    # "meta" stands for a device whose numbers the CPU would wait for.
    mask = torch.ones((3, 6), dtype=torch.bool, device="meta")
    steps = aligned_lstm.AlignedSteps(mask)
    inputs = torch.ones((3, 6, 5), device="meta")
    assert steps.pack(inputs).shape == (3, 6, 5)
    assert steps.unpack(steps.pack(inputs)).shape == (3, 6, 5)


def test_a_gpu_finds_the_weights_of_a_direction_in_one_chunk(monkeypatch):
    offsets = []

    def noting(inputs, states, weights, **options):
        offsets.append([weight.storage_offset() for weight in weights])
        return (inputs.new_zeros((*inputs.shape[:2], states[0].shape[-1])),)

    monkeypatch.setattr(torch, "lstm", noting)
    inputs = torch.ones((3, 6, 5), device="meta")
    steps = aligned_lstm.AlignedSteps(inputs[..., 0] > 0)
    shapes = ((5, 8), (2, 8), (8,))
    direction = [torch.ones(shape, device="meta") for shape in shapes]
    aligned_lstm.bidirectional_lstm(inputs, steps, direction, direction)
    assert offsets == [[0, 40, 56, 64]] * 2


def test_a_chunk_holds_the_weights_and_takes_their_gradients():
    kernel = torch.arange(6.0).reshape(2, 3).requires_grad_()
    bias = torch.tensor([7.0, 8.0, 9.0, 10.0], requires_grad=True)
    chunk = aligned_lstm.in_one_chunk([kernel.t(), bias])
    assert [part.tolist() for part in chunk] == [
        [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]],
        [7.0, 8.0, 9.0, 10.0],
    ]
    assert len({part.untyped_storage().data_ptr() for part in chunk}) == 1
    (chunk[0][2, 0] * 5 + chunk[1][1] * 3).backward()
    assert kernel.grad.tolist() == [[0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
    assert bias.grad.tolist() == [0.0, 3.0, 0.0, 0.0]
