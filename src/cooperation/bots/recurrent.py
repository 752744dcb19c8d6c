"""The three things the bots do with an LSTM: encode messages, walk through the rounds, speak.

All take a stock `nn.LSTM` (2 layers, gate order i, f, g, o) for its weights. A state is a pair (h, c), each
[layers, batch, hidden].
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

State = tuple[Tensor, Tensor]


def zero_state(lstm: nn.LSTM, batch: int) -> State:
    """The state before anything was read."""
    zeros = lstm.weight_hh_l0.new_zeros(lstm.num_layers, batch, lstm.hidden_size)
    return zeros, zeros


def encode(lstm: nn.LSTM, embedding: nn.Embedding, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Top layer's last hidden state of each message: tokens [messages, length], lengths [messages] → [messages, hidden].

    A message without tokens is encoded as zeros.
    """
    # Batches repeat their messages a lot (“is it big ?”, “no”): each distinct one is read once.
    distinct, where = torch.unique(tokens * (torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]),
                                   dim=0, return_inverse=True)
    counts = torch.zeros(len(distinct), dtype=lengths.dtype, device=lengths.device).scatter_(0, where, lengths)
    packed = pack(embedding(distinct), counts.clamp(min=1))
    _, (hidden, _) = lstm(packed)
    return torch.where(counts[:, None] > 0, hidden[-1], 0.0)[where]


def pack(inputs: Tensor, lengths: Tensor) -> PackedSequence:
    """Pack [messages, length, …] by lengths [messages]; positions past the longest message may be there."""
    return pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)


def step(lstm: nn.LSTM, layer: int, gates: Tensor, hidden: Tensor, cell: Tensor) -> State:
    """One step of one layer: gates [batch, 4·hidden] is the input's share W·x + b, already computed."""
    gates = gates + linear(hidden, getattr(lstm, f"weight_hh_l{layer}"))
    i, f, g, o = gates.chunk(4, -1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def input_gates(lstm: nn.LSTM, layer: int, inputs: Tensor) -> Tensor:
    """The input's share of a layer's gates, both biases included: [..., inputs] → [..., 4·hidden]."""
    bias = getattr(lstm, f"bias_ih_l{layer}") + getattr(lstm, f"bias_hh_l{layer}")
    return linear(inputs, getattr(lstm, f"weight_ih_l{layer}"), bias)


def image_share(lstm: nn.LSTM, images: Tensor) -> Tensor:
    """The share of the first layer's gates that comes from the first inputs, both biases included: [batch, 4·hidden]."""
    weight = lstm.weight_ih_l0[:, : images.shape[-1]]
    return linear(images, weight, lstm.bias_ih_l0 + lstm.bias_hh_l0)


def step_all(lstm: nn.LSTM, gates: Tensor, state: State) -> State:
    """One step of all layers, from the first layer's input gates [batch, 4·hidden]."""
    hidden, cell = [], []
    for layer in range(lstm.num_layers):
        if layer:
            gates = input_gates(lstm, layer, hidden[-1])
        h, c = step(lstm, layer, gates, state[0][layer], state[1][layer])
        hidden.append(h)
        cell.append(c)
    return torch.stack(hidden), torch.stack(cell)


def walk(lstm: nn.LSTM, gates: Tensor, state: State) -> State:
    """Walk through the rounds, keeping every state: gates [batch, rounds, 4·hidden] → two of [layers, batch, rounds, hidden]."""
    hiddens, cells = [], []
    for layer in range(lstm.num_layers):
        h, c = state[0][layer], state[1][layer]
        layer_h, layer_c = [], []
        for gate in gates.unbind(1):
            h, c = step(lstm, layer, gate, h, c)
            layer_h.append(h)
            layer_c.append(c)
        hiddens.append(torch.stack(layer_h, 1))
        cells.append(torch.stack(layer_c, 1))
        if layer + 1 < lstm.num_layers:
            gates = input_gates(lstm, layer + 1, hiddens[-1])
    return torch.stack(hiddens), torch.stack(cells)


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
        state = step_all(lstm, table[word], state)
        word = generator(state[0][-1]).argmax(-1)
        said[speaking, position] = word
        lengths[speaking] = position + 1
        going = (word != eos).nonzero().squeeze(1)
        if not len(going):
            break
        if len(going) < len(word):
            speaking, word = speaking[going], word[going]
            state = state[0][:, going], state[1][:, going]
    return said, lengths
