"""What a bot does with an LSTM on a GPU: PyTorch's own LSTM, cuDNN's there, over whole messages.

Under autocast that LSTM computes in float16, whatever type was asked for, and most gradients of these networks are too
small for float16. So its type is chosen here, with autocast off.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from cooperation.bots.fast.recurrent import product_type
from cooperation.bots.networks import State, pack


def encode_whole(lstm: nn.LSTM, embedding: nn.Embedding, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Top layer's hidden state after each message's last token.

    tokens: [N, length], PAD past lengths [N], none of which is 0 → [N, H].
    """
    words = pack(tokens, lengths)
    zeros = embedding.weight.new_zeros(lstm.num_layers, len(tokens), lstm.hidden_size)
    return _run(lstm, embedding, words, (zeros, zeros))[1][-1][words.unsorted_indices]


def decode_whole(lstm: nn.LSTM, embedding: nn.Embedding, words: PackedSequence, state: State) -> Tensor:
    """Top layer's hidden states [T, H] over packed words; state: two of [L, N, H], in the order before packing."""
    order = words.sorted_indices
    return _run(lstm, embedding, words, (state[0][:, order], state[1][:, order]))[0]


def _run(lstm: nn.LSTM, embedding: nn.Embedding, words: PackedSequence, state: State) -> tuple[Tensor, Tensor]:
    """Top layer's hidden states [T, H] at each word, and all layers' last ones [L, N, H], in the order of packing."""
    vectors = embedding(words.data)  # [T, E]
    kind = product_type(vectors)
    with torch.autocast(vectors.device.type, enabled=False):
        weights = [weight.to(kind) for layer in lstm.all_weights for weight in layer]
        begun = [part.to(kind) for part in state]
        shape = lstm.bias, lstm.num_layers, lstm.dropout, lstm.training, lstm.bidirectional
        states, hidden, _ = torch.lstm(vectors.to(kind), words.batch_sizes, begun, weights, *shape)
    return states, hidden
