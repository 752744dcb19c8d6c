"""The three things the bots do with an LSTM: encode messages, walk through the rounds, speak.

All take a stock `nn.LSTM` (gate order i, f, g, o) for its weights. A state is a pair (h, c), each
[layers, batch, hidden]; the states of a walk are two of [layers, batch, rounds, hidden].
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from cooperation.bots.lstm import Layer

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
    return pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)


def _order(indices: Tensor | None) -> Tensor:
    if indices is None:
        raise ValueError("packed without sorting; use `pack`")
    return indices


def input_gates(lstm: nn.LSTM, layer: int, inputs: Tensor) -> Tensor:
    """The input's share of a layer's gates, biases included: [..., inputs] → [..., 4·hidden]."""
    weight, _, bias = weights(lstm, layer)
    return linear(inputs, weight, bias)


def run(lstm: nn.LSTM, gates: Tensor, state: State, sizes: Sequence[int]) -> list[State]:
    """Run all layers over packed rows: hidden and cell states [total, hidden] of each layer.

    gates: the input's share of the first layer's gates [total, 4·hidden]; state: of the sorted rows.
    """
    states: list[State] = []
    for layer, (hidden, cell) in enumerate(zip(*state, strict=True)):
        if layer:
            gates = input_gates(lstm, layer, states[-1][0])
        recurrence = weights(lstm, layer)[1].to(_product_type(gates))
        states.append(Layer.apply(gates.to(hidden.dtype), recurrence, hidden, cell, sizes))
    return states


def _product_type(gates: Tensor) -> torch.dtype:
    """What matrix products are made in: where autocast is on, its type."""
    kind = gates.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else gates.dtype


def outputs(lstm: nn.LSTM, inputs: PackedSequence, state: State) -> Tensor:
    """Top layer's hidden states [total, hidden] over packed inputs; state: in the order before packing."""
    return (outputs_of_stock if inputs.data.is_cuda else outputs_of_layers)(lstm, inputs, state)


def outputs_of_stock(lstm: nn.LSTM, inputs: PackedSequence, state: State) -> Tensor:
    """By the stock LSTM, which is cuDNN's on a GPU."""
    packed: PackedSequence = lstm(inputs, state)[0]
    return packed.data


def outputs_of_layers(lstm: nn.LSTM, inputs: PackedSequence, state: State) -> Tensor:
    """By our layers, which are the faster ones on a CPU."""
    order = _order(inputs.sorted_indices)
    begun = state[0][:, order], state[1][:, order]
    return run(lstm, input_gates(lstm, 0, inputs.data), begun, inputs.batch_sizes.tolist())[-1][0]


def encode(lstm: nn.LSTM, embedding: nn.Embedding, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Top layer's last hidden state of each message: [messages, hidden].

    tokens: [messages, length], PAD past lengths [messages]. A message without tokens is encoded as zeros.
    """
    # Batches repeat their messages a lot (“is it big ?”, “no”): each distinct one is read once.
    # A bot may say PAD, so the length is part of what makes a message.
    both, where = torch.unique(torch.cat([tokens, lengths[:, None]], 1), dim=0, return_inverse=True)
    distinct, counts = both[:, :-1], both[:, -1]
    packed = pack(distinct, counts.clamp(min=1))
    hidden = outputs(lstm, packed._replace(data=embedding(packed.data)), zero_state(lstm, len(distinct)))
    starts = (packed.batch_sizes.cumsum(0) - packed.batch_sizes).to(tokens.device)
    last = hidden[starts[counts.clamp(min=1) - 1] + _order(packed.unsorted_indices)]
    return torch.where(counts[:, None] > 0, last, 0.0)[where]


def walk(lstm: nn.LSTM, gates: Tensor, state: State) -> State:
    """Walk through the rounds and keep every state.

    gates: the input's share of the first layer's gates, [batch, rounds, 4·hidden].
    """
    batch, rounds, width = gates.shape
    states = run(lstm, gates.transpose(0, 1).reshape(-1, width), state, [batch] * rounds)
    hidden, cell = (torch.stack(parts).reshape(-1, rounds, batch, width // 4) for parts in zip(*states, strict=True))
    return hidden.transpose(1, 2), cell.transpose(1, 2)


def speak(
    lstm: nn.LSTM, embedding: nn.Embedding, generator: nn.Linear, state: State, start: int, eos: int, limit: int
) -> tuple[Tensor, Tensor]:
    """Greedy decoding from a state: tokens [batch, limit] and lengths [batch], EOS included where it was reached.

    The batch shrinks as messages end, so the cost is that of the tokens said.
    """
    batch, device = state[0].shape[1], state[0].device
    # The first layer's input gates depend on the word alone: one table for the whole vocabulary.
    table = input_gates(lstm, 0, embedding.weight)
    said = torch.zeros(batch, limit, dtype=torch.long, device=device)
    lengths = torch.zeros(batch, dtype=torch.long, device=device)
    speaking = torch.arange(batch, device=device)
    word = torch.full((batch,), start, dtype=torch.long, device=device)
    for position in range(limit):
        states = run(lstm, table[word], state, [len(word)])
        word = generator(states[-1][0]).argmax(-1)
        said[speaking, position] = word
        lengths[speaking] = position + 1
        going = (word != eos).nonzero().squeeze(1)
        if not len(going):
            break
        speaking, word = speaking[going], word[going]
        state = torch.stack([h[going] for h, _ in states]), torch.stack([c[going] for _, c in states])
    return said, lengths
