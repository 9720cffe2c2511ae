"""A bidirectional LSTM by PyTorch's own op, which knows no mask.

The kept steps of each row come first, in their order, and padding after them:
what follows a row's last step changes none before it. The backward direction
is another forward one, over the kept steps of each row in reverse.
"""

import torch

TYPES = ("float32",)


class AlignedSteps:
    """Where the kept steps of a batch lie, when they come first in each row.

    Args:
        mask: Boolean tensor of shape `(batch, n)`, True where a step counts.
    """

    def __init__(self, mask):
        self._mask = mask
        lengths = mask.sum(dim=1, keepdim=True)
        count = mask.shape[1]
        self._order = torch.argsort(~mask, dim=1, stable=True)
        self._places = torch.argsort(self._order, dim=1)
        if mask.device.type == "cpu":
            # Elsewhere to ask for a number is to wait for it.
            count = max(int(lengths.max()), 1)
            self._order = self._order[:, :count]
            self._places = self._places.clamp(max=count - 1)
        steps = torch.arange(count, device=mask.device)
        self._kept = steps < lengths
        self._reverse = torch.where(
            self._kept, lengths - 1 - steps, steps.expand_as(self._kept)
        )

    def pack(self, inputs):
        """Steps of shape `(batch, longest, D)`, with zeros behind a row's."""
        return _where(self._kept, _take(inputs, self._order))

    def unpack(self, packed):
        """Undoes `pack`, with zeros at masked steps."""
        return _where(self._mask, _take(packed, self._places))

    def reverse(self, packed):
        """The kept steps of each row in reverse."""
        return _take(packed, self._reverse)


def bidirectional_lstm(inputs, steps, forward, backward):
    """What `keras.layers.Bidirectional` of an `LSTM` gives for aligned steps.

    Args:
        inputs: Tensor of shape `(batch, longest, D)`.
        steps: The `AlignedSteps`.
        forward: The kernel of the forward LSTM, its recurrent kernel and its
            bias.
        backward: The same for the backward LSTM.

    Returns:
        The states, of shape `(batch, longest, 2 * units)`.
    """
    ahead = _lstm(inputs, *forward)
    back = steps.reverse(_lstm(steps.reverse(inputs), *backward))
    return torch.cat([ahead, back], dim=-1)


def _lstm(inputs, kernel, recurrent_kernel, bias):
    # Keras's gates have PyTorch's order. It has one bias where PyTorch has
    # two.
    state = inputs.new_zeros((1, len(inputs), len(recurrent_kernel)))
    weights = [kernel.t(), recurrent_kernel.t(), bias, torch.zeros_like(bias)]
    if inputs.device.type == "cpu":
        weights = [weight.contiguous() for weight in weights]
    else:
        # cuDNN would copy them itself, and warn.
        weights = in_one_chunk(weights)
    outputs, *_ = torch.lstm(
        inputs,
        (state, state),
        weights,
        has_biases=True,
        num_layers=1,
        dropout=0.0,
        # Whether to keep what a gradient needs.
        train=torch.is_grad_enabled(),
        bidirectional=False,
        batch_first=True,
    )
    return outputs


def in_one_chunk(weights):
    """The same weights, one behind the other, as cuDNN reads them."""
    chunk = torch.cat([weight.reshape(-1) for weight in weights])
    parts = chunk.split([weight.numel() for weight in weights])
    return [
        part.view(weight.shape)
        for part, weight in zip(parts, weights, strict=True)
    ]


def _take(values, places):
    places = places.unsqueeze(-1).expand(-1, -1, values.shape[-1])
    return torch.gather(values, 1, places)


def _where(kept, values):
    return torch.where(kept.unsqueeze(-1), values, torch.zeros_like(values))
