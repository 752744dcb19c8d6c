"""What a bot does with an LSTM, by `Layer`: read messages as a prefix tree, decode packed messages, walk the rounds.

All take a stock `nn.LSTM` for its weights (gate order i, f, g, o). Letters in the shapes as in `networks`; "gates"
are a layer's pre-activations [..., 4H], which the part of its input is computed of before the steps begin.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding as rows_of
from torch.nn.functional import linear
from torch.nn.utils.rnn import PackedSequence

from cooperation.bots.fast.layer import Layer, Step
from cooperation.bots.networks import State


def layer_weights(lstm: nn.LSTM, layer: int) -> tuple[Tensor, Tensor, Tensor]:
    """A layer's weights of the input [4H, inputs] and of the hidden state [4H, H], and its two biases' sum [4H]."""
    named = dict(lstm.named_parameters())
    bias = named[f"bias_ih_l{layer}"] + named[f"bias_hh_l{layer}"]
    return named[f"weight_ih_l{layer}"], named[f"weight_hh_l{layer}"], bias


def input_gates(lstm: nn.LSTM, layer: int, inputs: Tensor) -> Tensor:
    """The input's part of a layer's gates, biases included: [..., inputs] → [..., 4H]."""
    weight, _, bias = layer_weights(lstm, layer)
    return linear(inputs, weight, bias)


def word_gates(lstm: nn.LSTM, embedding: nn.Embedding, words: Tensor) -> Tensor:
    """The words' part of the first layer's gates: [T] → [T, 4H]. A word that is repeated is multiplied once."""
    distinct, where = torch.unique(words, return_inverse=True)
    # To float32 before rows are repeated, since their gradients are summed.
    return rows_of(where, input_gates(lstm, 0, embedding(distinct)).to(embedding.weight.dtype))


def packed_steps(sizes: Sequence[int]) -> list[Step]:
    """The steps of packed messages: step t continues the first sizes[t] rows of the step before, in their order."""
    return [Step(end - size, end, slice(size)) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def run(lstm: nn.LSTM, gates: Tensor, state: State, steps: Sequence[Step]) -> list[State]:
    """Run all layers over the rows of all steps: hidden and cell states [T, H] of each layer.

    gates: the input's part of the first layer's gates [T, 4H], which is overwritten (see `Layer`);
    state: what the first step continues, two of [L, N, H].
    """
    states: list[State] = []
    for layer, (hidden, cell) in enumerate(zip(*state, strict=True)):
        if layer:
            gates = input_gates(lstm, layer, states[-1][0])
        recurrence = layer_weights(lstm, layer)[1].to(product_type(gates))
        states.append(Layer.apply(gates.to(hidden.dtype), recurrence, hidden, cell, steps))
    return states


def product_type(tensor: Tensor) -> torch.dtype:
    """What a tensor's matrix products are computed in: under autocast, its type."""
    kind = tensor.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else tensor.dtype


class PrefixTree(NamedTuple):
    """Every distinct prefix of some messages once, each a row below its own prefix that is one token shorter.

    words: the last token of each prefix [T]; steps: the prefixes of 1, 2, … tokens; ends: each message's row [N].
    """

    words: Tensor
    steps: list[Step]
    ends: Tensor


def prefix_tree(tokens: Tensor, lengths: Tensor) -> PrefixTree:
    """Find the prefixes of messages [N, length], PAD past lengths [N], none of which is 0."""
    # A bot may say PAD, so the length is part of what makes a message.
    sorted_messages, where = torch.unique(torch.cat([tokens, lengths[:, None]], 1), dim=0, return_inverse=True)
    tokens, lengths = sorted_messages[:, :-1], sorted_messages[:, -1]
    tokens = tokens[:, : int(lengths.max())]
    # Sorted messages with a common prefix are neighbours; so many tokens each has in common with the one before it.
    common = torch.cat([lengths.new_zeros(1), (tokens[1:] == tokens[:-1]).cumprod(1).sum(1)])  # [N]
    positions = torch.arange(tokens.shape[1])[:, None]  # [length, 1]
    real = positions < lengths  # [length, N]
    groups = (common <= positions).cumsum(1) + positions * len(tokens)  # [length, N]: a number for each prefix
    row = torch.unique_consecutive(groups[real], return_inverse=True)[1]
    rows = torch.zeros_like(groups).masked_scatter_(real, row)  # [length, N]: the row of each prefix
    ends = rows.amax(1) + 1  # [length]
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    before = torch.cat([torch.zeros_like(rows[:1]), rows[:-1] - starts[:-1, None]])
    words, earlier = (tokens.new_empty(int(ends[-1])) for _ in range(2))  # [T]
    words[row], earlier[row] = tokens.t()[real], before[real]
    steps = [Step(a, b, earlier[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    return PrefixTree(words, steps, rows[lengths - 1, torch.arange(len(tokens))][where])


def encode_prefix_tree(lstm: nn.LSTM, embedding: nn.Embedding, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Top layer's hidden state after each message's last token, each distinct prefix being read once.

    tokens: [N, length], PAD past lengths [N], none of which is 0 → [N, H]. Of the tokens of a batch of genuine dialogs
    the tree keeps seven in ten in facts and half in questions ("START is there a …").
    """
    tree = prefix_tree(tokens, lengths)
    zeros = embedding.weight.new_zeros(lstm.num_layers, 1, lstm.hidden_size)
    gates = word_gates(lstm, embedding, tree.words)
    return run(lstm, gates, (zeros, zeros), tree.steps)[-1][0][tree.ends]


def decode_packed(lstm: nn.LSTM, embedding: nn.Embedding, words: PackedSequence, state: State) -> Tensor:
    """Top layer's hidden states [T, H] over packed words; state: two of [L, N, H], in the order before packing."""
    order = words.sorted_indices
    begun = state[0][:, order], state[1][:, order]
    gates = word_gates(lstm, embedding, words.data)
    return run(lstm, gates, begun, packed_steps(words.batch_sizes.tolist()))[-1][0]


def walk_rounds(lstm: nn.LSTM, gates: Tensor, state: State) -> State:
    """Walk through the rounds and keep every state.

    gates: the input's part of the first layer's gates [B, R, 4H]; state: two of [L, B, H] → two of [L, B, R, H].
    """
    batch, rounds, width = gates.shape
    states = run(lstm, gates.transpose(0, 1).reshape(-1, width), state, packed_steps([batch] * rounds))
    hidden, cell = (torch.stack(parts).reshape(-1, rounds, batch, width // 4) for parts in zip(*states, strict=True))
    return hidden.transpose(1, 2), cell.transpose(1, 2)
