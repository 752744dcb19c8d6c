"""The three things the bots do with an LSTM: encode messages, walk through the rounds, speak.

All take a stock `nn.LSTM` (gate order i, f, g, o) for its weights. A state is a pair (h, c), each
[layers, batch, hidden]; the states of a walk are two of [layers, batch, rounds, hidden].
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding as rows_of
from torch.nn.functional import linear
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from cooperation.bots.lstm import Layer, Step

State = tuple[Tensor, Tensor]


def weights(lstm: nn.LSTM, layer: int) -> tuple[Tensor, Tensor, Tensor]:
    """A layer's weights of the input and of the hidden state, and the sum of its two biases."""
    named = dict(lstm.named_parameters())
    bias = named[f"bias_ih_l{layer}"] + named[f"bias_hh_l{layer}"]
    return named[f"weight_ih_l{layer}"], named[f"weight_hh_l{layer}"], bias


def zero_state(lstm: nn.LSTM, batch: int) -> State:
    """The state before anything was read."""
    zeros = weights(lstm, 0)[0].new_zeros(lstm.num_layers, batch, lstm.hidden_size)
    return zeros, zeros


def pack(inputs: Tensor, lengths: Tensor) -> PackedSequence:
    """Pack [messages, length, …] by lengths [messages]; positions past the longest message may be there."""
    return pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)


def input_gates(lstm: nn.LSTM, layer: int, inputs: Tensor) -> Tensor:
    """The input's share of a layer's gates, biases included: [..., inputs] → [..., 4·hidden]."""
    weight, _, bias = weights(lstm, layer)
    return linear(inputs, weight, bias)


def word_gates(lstm: nn.LSTM, embedding: nn.Embedding, words: Tensor) -> Tensor:
    """The words' share of the first layer's gates, [words] → [words, 4·hidden]; a word that is repeated costs once."""
    distinct, where = torch.unique(words, return_inverse=True)
    # Widened before rows are repeated, for their gradients are summed up.
    return rows_of(where, input_gates(lstm, 0, embedding(distinct)).to(embedding.weight.dtype))


def in_order(sizes: Sequence[int]) -> list[Step]:
    """The steps of packed rows: step t holds the first sizes[t] rows of the step before, in their order."""
    return [Step(end - size, end, slice(size)) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def run(lstm: nn.LSTM, gates: Tensor, state: State, steps: Sequence[Step]) -> list[State]:
    """Run all layers over the rows of all steps: hidden and cell states [total, hidden] of each layer.

    gates: the input's share of the first layer's gates [total, 4·hidden]; state: what the first step goes on from.
    """
    states: list[State] = []
    for layer, (hidden, cell) in enumerate(zip(*state, strict=True)):
        if layer:
            gates = input_gates(lstm, layer, states[-1][0])
        recurrence = weights(lstm, layer)[1].to(_product_type(gates))
        states.append(Layer.apply(gates.to(hidden.dtype), recurrence, hidden, cell, steps))
    return states


def _product_type(gates: Tensor) -> torch.dtype:
    """What matrix products are made in: where autocast is on, its type."""
    kind = gates.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else gates.dtype


class Prefixes(NamedTuple):
    """What messages have in common: every beginning of a message that differs from all others, once.

    words: the last token of each beginning [total]; steps: the beginnings of 1, 2, … tokens; ends: each message's row
    among all [messages].
    """

    words: Tensor
    steps: list[Step]
    ends: Tensor


def prefixes(tokens: Tensor, lengths: Tensor) -> Prefixes:
    """Find the beginnings of messages [messages, length], PAD past lengths [messages], none of which is 0."""
    # A bot may say PAD, so the length is part of what makes a message.
    sorted_messages, where = torch.unique(torch.cat([tokens, lengths[:, None]], 1), dim=0, return_inverse=True)
    tokens, lengths = sorted_messages[:, :-1], sorted_messages[:, -1]
    tokens = tokens[:, : int(lengths.max())]
    # Sorted messages that begin alike are neighbours; so many tokens a message has in common with the one before it.
    common = torch.cat([lengths.new_zeros(1), (tokens[1:] == tokens[:-1]).cumprod(1).sum(1)])
    positions = torch.arange(tokens.shape[1])[:, None]
    real = positions < lengths
    groups = (common <= positions).cumsum(1) + positions * len(tokens)
    row = torch.unique_consecutive(groups[real], return_inverse=True)[1]
    rows = torch.zeros_like(groups).masked_scatter_(real, row)
    ends = rows.amax(1) + 1
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    before = torch.cat([torch.zeros_like(rows[:1]), rows[:-1] - starts[:-1, None]])
    words, earlier = (tokens.new_empty(int(ends[-1])) for _ in range(2))
    words[row], earlier[row] = tokens.t()[real], before[real]
    steps = [Step(a, b, earlier[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    return Prefixes(words, steps, rows[lengths - 1, torch.arange(len(tokens))][where])


def encode(lstm: nn.LSTM, embedding: nn.Embedding, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Top layer's last hidden state of each message: [messages, hidden].

    tokens: [messages, length], PAD past lengths [messages]. A message without tokens is encoded as zeros.
    """
    read = (encode_messages if tokens.is_cuda else encode_prefixes)(lstm, embedding, tokens, lengths.clamp(min=1))
    return torch.where((lengths > 0).to(read.device)[:, None], read, 0.0)


def encode_messages(lstm: nn.LSTM, embedding: nn.Embedding, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Message by message by the stock LSTM, which is cuDNN's on a GPU; no message is empty."""
    packed = pack(tokens, lengths)
    _, (hidden, _) = lstm(packed._replace(data=embedding(packed.data)))
    return hidden[-1]  # type: ignore[no-any-return]


def encode_prefixes(lstm: nn.LSTM, embedding: nn.Embedding, tokens: Tensor, lengths: Tensor) -> Tensor:
    """By our layers, what messages begin with only once (“START is there a …”); no message is empty.

    Of the tokens of a batch of genuine dialogs that leaves seven in ten in facts, half in questions.
    """
    found = prefixes(tokens, lengths)
    gates = word_gates(lstm, embedding, found.words)
    return run(lstm, gates, zero_state(lstm, 1), found.steps)[-1][0][found.ends]


def decode(lstm: nn.LSTM, embedding: nn.Embedding, words: PackedSequence, state: State) -> Tensor:
    """Top layer's hidden states [total, hidden] over packed words; state: in the order before packing."""
    return (decode_by_stock if words.data.is_cuda else decode_by_layers)(lstm, embedding, words, state)


def decode_by_stock(lstm: nn.LSTM, embedding: nn.Embedding, words: PackedSequence, state: State) -> Tensor:
    """By the stock LSTM, which is cuDNN's on a GPU."""
    packed: PackedSequence = lstm(words._replace(data=embedding(words.data)), state)[0]
    return packed.data


def decode_by_layers(lstm: nn.LSTM, embedding: nn.Embedding, words: PackedSequence, state: State) -> Tensor:
    """By our layers, which are the faster ones on a CPU."""
    order = words.sorted_indices
    begun = state[0][:, order], state[1][:, order]
    gates = word_gates(lstm, embedding, words.data)
    return run(lstm, gates, begun, in_order(words.batch_sizes.tolist()))[-1][0]


def walk(lstm: nn.LSTM, gates: Tensor, state: State) -> State:
    """Walk through the rounds and keep every state.

    gates: the input's share of the first layer's gates, [batch, rounds, 4·hidden].
    """
    batch, rounds, width = gates.shape
    states = run(lstm, gates.transpose(0, 1).reshape(-1, width), state, in_order([batch] * rounds))
    hidden, cell = (torch.stack(parts).reshape(-1, rounds, batch, width // 4) for parts in zip(*states, strict=True))
    return hidden.transpose(1, 2), cell.transpose(1, 2)


def speak(
    lstm: nn.LSTM, embedding: nn.Embedding, generator: nn.Linear, state: State, start: int, eos: int, limit: int
) -> tuple[Tensor, Tensor]:
    """Greedy decoding from a state: tokens [batch, limit] and lengths [batch], EOS included where it was reached.

    The batch shrinks as messages end, so the cost is that of the tokens said.
    """
    batch, device = state[0].shape[1], state[0].device
    said = torch.zeros(batch, limit, dtype=torch.long, device=device)
    lengths = torch.zeros(batch, dtype=torch.long, device=device)
    speaking = torch.arange(batch, device=device)
    word = torch.full((batch,), start, dtype=torch.long, device=device)
    for position in range(limit):
        states = run(lstm, word_gates(lstm, embedding, word), state, in_order([len(word)]))
        word = generator(states[-1][0]).argmax(-1)
        said[speaking, position] = word
        lengths[speaking] = position + 1
        going = (word != eos).nonzero().squeeze(1)
        if not len(going):
            break
        speaking, word = speaking[going], word[going]
        state = torch.stack([h[going] for h, _ in states]), torch.stack([c[going] for _, c in states])
    return said, lengths
