"""The same models as a careful user writes them in PyTorch.

Variants: `"eager"` runs the LSTMs over padded batches and masks the attention
alone, so that padding is read by the backward LSTM; `"packed"` packs the
rows, which is exact; `"compile"` is `"eager"` through `torch.compile`.
"""

import itertools

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence
from torch.nn.utils.rnn import pad_packed_sequence

from benchmarks.peers.workloads import make_rows
from benchmarks.peers.workloads import read_corpus

_MASKED = -1e9


def _network(width, units, dropout):
    layers = []
    for below, above in itertools.pairwise([width, *units]):
        layers += [nn.Dropout(dropout), nn.Linear(below, above), nn.ReLU()]
    return nn.Sequential(*layers)


class BiLSTM(nn.LSTM):
    def __init__(self, width, units, packed):
        super().__init__(width, units, batch_first=True, bidirectional=True)
        self.packed = packed

    def forward(self, words, kept):
        if not self.packed:
            return super().forward(words)[0]
        rows = pack_padded_sequence(
            words, kept.sum(1), batch_first=True, enforce_sorted=False
        )
        states, _ = super().forward(rows)
        return pad_packed_sequence(
            states, batch_first=True, total_length=words.shape[1]
        )[0]


class StructuredAttention(nn.Module):
    def __init__(self, width, units, heads, penalty):
        super().__init__()
        self.hidden = nn.Linear(width, units, bias=False)
        self.scores = nn.Linear(units, heads, bias=False)
        self.penalty = penalty

    def forward(self, states, kept):
        scores = self.scores(torch.tanh(self.hidden(states)))
        scores = scores.masked_fill(~kept[:, :, None], _MASKED)
        scores = scores.softmax(1).transpose(1, 2)
        excess = scores @ scores.transpose(1, 2) - torch.eye(scores.shape[1])
        penalty = self.penalty * excess.square().sum((1, 2)).mean()
        return scores @ states, penalty


class GeneralizedAttention(nn.Module):
    def __init__(self, width, units, heads, penalty):
        super().__init__()
        self.hidden = nn.Linear(width, heads * units)
        self.scores = nn.Parameter(torch.empty(heads, units, width))
        nn.init.xavier_uniform_(self.scores)
        self.bias = nn.Parameter(torch.zeros(heads, 1, width))
        self.heads, self.penalty = heads, penalty

    def forward(self, states, kept):
        batch, steps, width = states.shape
        hidden = functional.relu(self.hidden(states))
        hidden = hidden.view(batch * steps, self.heads, -1).transpose(0, 1)
        scores = torch.bmm(hidden, self.scores) + self.bias
        scores = scores.view(self.heads, batch, steps, width)
        scores = scores.masked_fill(~kept[None, :, :, None], _MASKED)
        embedding = (scores.softmax(2) * states).sum(2).transpose(0, 1)
        kernels = self.hidden.weight.view(self.heads, -1)
        penalty = sum(
            functional.relu(1 - (left - right).square().sum())
            for left, right in itertools.combinations(kernels, 2)
        )
        # Added for each of the two sentences.
        return embedding, self.penalty / 2 * penalty


class CharacterNetwork(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.vectors = nn.Embedding(characters, 15)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(15, 100, size, padding="same") for size in (1, 3, 5)
        )

    def forward(self, ids):
        embedded = self.vectors(ids.flatten(0, 1)).transpose(1, 2)
        found = [layer(embedded).relu().amax(2) for layer in self.convolutions]
        return torch.cat(found, 1).view(*ids.shape[:2], -1)


def _word_vectors(work):
    of = work.arguments
    trainable = of.get("trainable_embeddings", True)
    vectors = nn.Embedding(
        of["vocabulary_size"],
        of["embedding_dim"],
        padding_idx=0,
        # Most of a table is in no batch; Adam takes dense gradients alone.
        sparse=trainable and work.optimizer == "adagrad",
    )
    nn.init.uniform_(vectors.weight, -0.05, 0.05)
    return vectors.requires_grad_(trainable)


class Recurrent(nn.Module):
    def __init__(self, work, packed):
        super().__init__()
        of = work.arguments
        self.sides = work.sides
        self.vectors = _word_vectors(work)
        width, self.characters = of["embedding_dim"], None
        if of.get("character_vocabulary_size"):
            self.characters = CharacterNetwork(of["character_vocabulary_size"])
            width += 300
        self.encoder = nn.ModuleList()
        states = 0
        for units in np.atleast_1d(of["units"]).tolist():
            self.encoder.append(BiLSTM(width + states, units, packed))
            states = 2 * units
        self.encoder_dropout = nn.Dropout(of.get("encoder_dropout", 0.0))
        heads = of["num_heads"]
        generalized = of.get("pooling") == "generalized"
        self.attention = (
            GeneralizedAttention if generalized else StructuredAttention
        )(
            states,
            of["attention_dim"],
            heads,
            of["parameter_penalty" if generalized else "attention_penalty"],
        )
        self.gates, features = None, heads * states
        if of.get("interaction") == "gated":
            shape = (2, heads, states, of["interaction_units"])
            self.gates = nn.Parameter(torch.empty(shape))
            nn.init.xavier_uniform_(self.gates)
            features = heads * of["interaction_units"]
        elif len(self.sides) == 2:
            features *= 4
        self.hidden, below = nn.ModuleList(), features
        for units in np.atleast_1d(of["hidden_units"]).tolist():
            self.hidden.append(nn.Linear(below, units))
            below = features + units
        self.dropout = nn.Dropout(of["dropout"])
        self.logits = nn.Linear(units, of["num_classes"])

    def embed(self, batch, side):
        ids = batch[f"{side}token_ids"]
        kept = ids != 0
        words = self.vectors(ids)
        if self.characters is not None:
            more = self.characters(batch[f"{side}char_ids"])
            words = torch.cat([words, more], -1)
        states = below = words
        for number, lstm in enumerate(self.encoder):
            if number:
                below = torch.cat([words, states], -1)
            states = lstm(self.encoder_dropout(below), kept)
        return self.attention(states, kept)

    def forward(self, batch):
        sides, penalties = zip(
            *(self.embed(batch, side) for side in self.sides), strict=True
        )
        if len(sides) == 1:
            features = sides[0]
        elif self.gates is not None:
            left, right = (
                torch.bmm(side.transpose(0, 1), gate)
                for side, gate in zip(sides, self.gates, strict=True)
            )
            features = (left * right).transpose(0, 1)
        else:
            left, right = sides
            features = torch.cat(
                [left, right, (left - right).abs(), left * right], -1
            )
        features = hidden = features.flatten(1)
        for number, layer in enumerate(self.hidden):
            if number:
                hidden = torch.cat([features, hidden], -1)
            hidden = layer(self.dropout(hidden)).relu()
        return self.logits(self.dropout(hidden)), sum(penalties)


class Decomposable(nn.Module):
    def __init__(self, work, packed):
        super().__init__()
        of = work.arguments
        self.sides = work.sides
        self.vectors = _word_vectors(work)
        width = of["projection_dim"]
        self.project = nn.Linear(of["embedding_dim"], width, bias=False)
        self.within = None
        if of["intra_sentence"]:
            self.longest = of["max_distance"]
            self.within = _network(width, of["attend_units"], of["dropout"])
            self.distances = nn.Parameter(torch.zeros(2 * self.longest + 2))
            width *= 2
        self.attend = _network(width, of["attend_units"], of["dropout"])
        self.compare = _network(2 * width, of["compare_units"], of["dropout"])
        compared = 2 * of["compare_units"][-1]
        self.aggregate = _network(
            compared, of["aggregate_units"], of["dropout"]
        )
        self.logits = nn.Linear(of["aggregate_units"][-1], of["num_classes"])

    def with_own_sentence(self, words, kept):
        hidden, steps = self.within(words), torch.arange(words.shape[1])
        distance = steps[:, None] - steps
        place = (distance + self.longest).masked_fill(
            distance.abs() > self.longest, 2 * self.longest + 1
        )
        scores = hidden @ hidden.transpose(1, 2) + self.distances[place]
        scores = scores.masked_fill(~kept[:, None], _MASKED).softmax(-1)
        return torch.cat([words, scores @ words], -1)

    def forward(self, batch):
        ids = [batch[f"{side}token_ids"] for side in self.sides]
        kept_left, kept_right = (side != 0 for side in ids)
        left, right = (self.project(self.vectors(side)) for side in ids)
        if self.within is not None:
            left = self.with_own_sentence(left, kept_left)
            right = self.with_own_sentence(right, kept_right)
        scores = self.attend(left) @ self.attend(right).transpose(1, 2)
        sides = []
        for words, others, kept, others_kept, logits in (
            (left, right, kept_left, kept_right, scores),
            (right, left, kept_right, kept_left, scores.transpose(1, 2)),
        ):
            logits = logits.masked_fill(~others_kept[:, None], _MASKED)
            aligned = logits.softmax(-1) @ others
            compared = self.compare(torch.cat([words, aligned], -1))
            sides.append((compared * kept[:, :, None]).sum(1))
        return self.logits(self.aggregate(torch.cat(sides, -1))), 0.0


def _optimizer(work, parameters):
    if work.optimizer == "adam":
        # A loop over the weights by default, a tenth as fast.
        return torch.optim.Adam(parameters, work.learning_rate, fused=True)
    return torch.optim.Adagrad(
        parameters,
        work.learning_rate,
        # Where Keras starts.
        initial_accumulator_value=0.1,
        eps=1e-7,
    )


def _tensors(features, labels):
    features = {k: torch.from_numpy(v).long() for k, v in features.items()}
    return features, torch.from_numpy(labels).long()


class Steps:
    """Steps on one batch; see `running_keras.Steps`."""

    def __init__(self, work, precision, variant="eager"):
        torch.manual_seed(0)
        kind = Decomposable if "projection_dim" in work.arguments else Recurrent
        self.model = kind(work, variant == "packed")
        self.run = self.model
        if variant == "compile":
            self.run = torch.compile(self.model)
        self.autocast = torch.autocast(
            "cpu", torch.bfloat16, enabled=precision == "bfloat16"
        )
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = _optimizer(work, trained)
        self.batches = [_tensors(*make_rows(work))]
        self.facts = {
            "trainable": sum(weight.numel() for weight in trained),
            "version": f"PyTorch {torch.__version__}",
        }

    def step(self, features, labels):
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast:
            logits, penalty = self.run(features)
            logits = logits.float()
            loss = functional.cross_entropy(logits, labels) + penalty
        loss.backward()
        self.optimizer.step()
        # As Keras keeps both.
        self.correct += (logits.argmax(1) == labels).sum()
        return loss.detach()

    def train(self, times):
        """Trains on all batches, and returns the mean loss."""
        self.model.train()
        self.correct = torch.zeros((), dtype=torch.int64)
        total = torch.zeros(())
        for _ in range(times):
            for place in torch.randperm(len(self.batches)):
                total += self.step(*self.batches[place])
        return float(total) / len(self.batches) / times

    def infer(self, batches):
        self.model.eval()
        with torch.inference_mode(), self.autocast:
            for _ in range(batches):
                self.run(self.batches[0][0])


class Epochs(Steps):
    """Epochs of batches that are ready, each padded to its longest row."""

    def __init__(self, work, precision, corpus=None, variant="eager"):
        super().__init__(work, precision, variant)
        features, labels = read_corpus(work, corpus)
        order = np.random.default_rng(0).permutation(len(labels))
        cuts = range(work.batch_size, len(labels), work.batch_size)
        self.batches = [
            _tensors(_cut(features, rows), labels[rows])
            for rows in np.split(order, cuts)
        ]


def _cut(features, rows):
    cut = {}
    for name, ids in features.items():
        side = name.removesuffix("token_ids").removesuffix("char_ids")
        longest = (features[f"{side}token_ids"][rows] != 0).sum(1).max()
        cut[name] = ids[rows, :longest]
    return cut
