"""The same two networks, faster: the weights and results of `networks`, by other ways of computing.

Each method here says what it replaces and why that is faster; results differ by rounding only. On a GPU messages are
encoded and decoded by the stock LSTM, which is cuDNN's there (`stock`).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear_cross_entropy
from torch.nn.utils.rnn import PackedSequence

from cooperation.bots.fast.recurrent import (
    decode_packed,
    encode_prefix_tree,
    input_gates,
    packed_steps,
    run,
    walk_rounds,
    word_gates,
)
from cooperation.bots.fast.stock import decode_whole, encode_whole
from cooperation.bots.networks import AnswererNetwork, Bot, QuestionerNetwork, State, Text

MANY_SCORES = 1 << 23
"""Scores of words, of four bytes each and as many again for their gradients."""
# Updates of one round use one graph for two gradients.
IN_PIECES = nn.LinearCrossEntropyOptions(allow_retain_graph=True, batch_chunk_size=1024)


def _stock_is_faster(tensor: Tensor) -> bool:
    """Whether whole messages are better left to the stock LSTM: on a GPU, where cuDNN fuses their steps."""
    return tensor.is_cuda


class _FastBot(Bot):
    """What both bots compute faster."""

    def last_hidden(self, lstm: nn.LSTM, tokens: Tensor, lengths: Tensor) -> Tensor:
        """As in `Bot`: [N, length], [N] → [N, H]. Messages with a common prefix share its steps."""
        if _stock_is_faster(tokens):
            return encode_whole(lstm, self.embedding, tokens, lengths)
        return encode_prefix_tree(lstm, self.embedding, tokens, lengths)

    def decode(self, words: PackedSequence, state: State) -> Tensor:
        """As in `Bot`: data [T], two of [L, N, H] → [T, H]. One product for all weight gradients; see `Layer`."""
        if _stock_is_faster(words.data):
            return decode_whole(self.decoder, self.embedding, words, state)
        return decode_packed(self.decoder, self.embedding, words, state)

    def loss_of_words(self, hidden: Tensor, words: Tensor) -> Tensor:
        """As in `Bot`: [T, H], [T] → scalar. On a CPU, of many scores only a piece is in memory at a time."""
        scores = len(words) * self.generator.out_features
        if hidden.is_cuda or torch.is_autocast_enabled(hidden.device.type) or scores <= MANY_SCORES:
            return super().loss_of_words(hidden, words)
        weight, bias = self.generator.weight, self.generator.bias
        return linear_cross_entropy(hidden, weight, words, linear_bias=bias, reduction="sum", options=IN_PIECES)

    def speak(self, state: State, start: int, eos: int, limit: int) -> tuple[Tensor, Tensor]:
        """As in `Bot`: two of [L, B, H] → tokens [B, limit], lengths [B].

        The batch shrinks as messages end, so the cost is that of the tokens said.
        """
        batch, device = state[0].shape[1], state[0].device
        said = torch.zeros(batch, limit, dtype=torch.long, device=device)
        lengths = torch.zeros(batch, dtype=torch.long, device=device)
        speaking = torch.arange(batch, device=device)
        word = torch.full((batch,), start, dtype=torch.long, device=device)
        for position in range(limit):
            gates = word_gates(self.decoder, self.embedding, word)  # [speaking, 4H]
            states = run(self.decoder, gates, state, packed_steps([len(word)]))
            word = self.generator(states[-1][0]).argmax(-1)  # [speaking]
            said[speaking, position] = word
            lengths[speaking] = position + 1
            going = (word != eos).nonzero().squeeze(1)
            if not len(going):
                break
            speaking, word = speaking[going], word[going]
            state = torch.stack([h[going] for h, _ in states]), torch.stack([c[going] for _, c in states])
        return said, lengths


class FastQuestioner(_FastBot, QuestionerNetwork):
    """`QuestionerNetwork`, faster."""

    def history(self, facts: Text, state: State) -> State:
        """As in `QuestionerNetwork`: [B, R, length], two of [L, B, H] → two of [L, B, R, H].

        The facts of all rounds are multiplied by the input weights at once, before the walk.
        """
        gates = input_gates(self.history_encoder, 0, self.encode(self.fact_encoder, facts))  # [B, R, 4H]
        return walk_rounds(self.history_encoder, gates, state)


class FastAnswerer(_FastBot, AnswererNetwork):
    """`AnswererNetwork`, faster."""

    def image_input(self, images: Tensor) -> Tensor:
        """The images' part of the history's gates, multiplied once for all rounds: [B, F] → [B, 4H]."""
        gates: Tensor = self.image_encoder(images)
        return gates

    def history(self, images: Tensor, questions: Text, facts: Text, state: State) -> State:
        """As in `AnswererNetwork`, but images from `image_input` are [B, 4H]; two of [L, B, H] → two of [L, B, R, H].

        What all rounds read is multiplied by the input weights at once, before the walk.
        """
        asked = self.encode(self.question_encoder, questions)  # [B, R, H]
        known = self.encode(self.fact_encoder, facts)  # [B, R, H]
        words = torch.cat([asked, known], -1)  # [B, R, 2H]
        gates = input_gates(self.history_encoder, 0, words) + images[:, None]  # [B, R, 4H]
        return walk_rounds(self.history_encoder, gates, state)
