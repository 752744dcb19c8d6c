"""The paper's two networks, plainly: PyTorch's own LSTMs, tensor shapes at the lines.

Hierarchical recurrent encoder–decoders (paper, section 2; Das et al. 2017; sizes and inputs: protocol, section 1):
messages are encoded one by one, the history LSTM takes a step a round, and its state starts the decoder and, in the
questioner, gives the guess of the image. Nothing is shared between the two bots.

Everything can be computed with this file alone. `fast.networks` computes the same faster, from the same weights.

Letters in the shapes: V token ids, E numbers in an embedding, H hidden units, L layers, F image features;
B dialogs, R rounds, N messages, T tokens of all messages together. A state is what an LSTM carries: (h, c).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from cooperation.config.training import Sizes
from cooperation.game.messages import PAD

State = tuple[Tensor, Tensor]
"""Hidden and cell states of all layers, each [L, B, H]; after each of several rounds [L, B, R, H]."""


@dataclass(frozen=True)
class Text:
    """Token messages: tokens [..., length] on the device, lengths [...] in main memory.

    Lengths decide the shapes of what follows; if they were on a GPU, reading them would wait for all its work.
    """

    tokens: Tensor
    lengths: Tensor

    def flat(self) -> "Text":
        """All messages in one dimension, [N, longest message]; one column at least, should all be empty."""
        width = max(int(self.lengths.max()), 1)
        return Text(self.tokens[..., :width].reshape(-1, width), self.lengths.reshape(-1))

    def rounds(self, which: slice) -> "Text":
        """The messages of some rounds of [B, R, length]."""
        return Text(self.tokens[:, which], self.lengths[:, which])


def pack(messages: Tensor, lengths: Tensor) -> PackedSequence:
    """Pack [N, length, …] by lengths [N], none of which is 0: data [T, …] without padding."""
    return pack_padded_sequence(messages, lengths, batch_first=True, enforce_sorted=False)


def walk(lstm: Callable[[Tensor, State], tuple[Tensor, State]], inputs: Tensor, state: State) -> State:
    """Step through the rounds: inputs [B, R, …], state two of [L, B, H] → states after each, two of [L, B, R, H]."""
    states = []
    for one in inputs.unbind(1):  # [B, …]
        _, state = lstm(one[:, None], state)  # two of [L, B, H]
        states.append(state)
    hidden, cell = (torch.stack(each, 2) for each in zip(*states, strict=True))  # [L, B, R, H]
    return hidden, cell


def last(states: State) -> State:
    """The state after the last round: two of [L, B, R, H] → two of [L, B, H]."""
    return states[0][:, :, -1], states[1][:, :, -1]


class Bot(nn.Module):
    """What both bots have: embedding, fact encoder, history encoder, and a decoder that starts from its state."""

    def __init__(self, vocabulary: int, sizes: Sizes, history_inputs: int) -> None:
        super().__init__()
        E, H, L = sizes.embedding, sizes.hidden, sizes.layers  # noqa: N806
        self.embedding = nn.Embedding(vocabulary, E, padding_idx=PAD)
        self.fact_encoder = nn.LSTM(E, H, L, batch_first=True)
        self.history_encoder = nn.LSTM(history_inputs, H, L, batch_first=True)
        self.decoder = nn.LSTM(E, H, L, batch_first=True)
        self.generator = nn.Linear(H, vocabulary)

    def zero_state(self, batch: int) -> State:
        """The history's state before anything was read: two of [L, batch, H]."""
        lstm = self.history_encoder
        zeros = self.embedding.weight.new_zeros(lstm.num_layers, batch, lstm.hidden_size)
        return zeros, zeros

    def encode(self, lstm: nn.LSTM, messages: Text) -> Tensor:
        """Encode messages [..., length] → [..., H]. A message without tokens is encoded as zeros."""
        flat = messages.flat()  # tokens [N, length], lengths [N]
        encoded = self.last_hidden(lstm, flat.tokens, flat.lengths.clamp(min=1))  # [N, H]
        empty = (flat.lengths == 0).to(encoded.device)[:, None]  # [N, 1]
        return torch.where(empty, 0.0, encoded).reshape(*messages.lengths.shape, -1)  # [..., H]

    def last_hidden(self, lstm: nn.LSTM, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Top layer's hidden state after the last token of each message.

        tokens: [N, length], PAD past lengths [N], none of which is 0 → [N, H].
        """
        words = pack(tokens, lengths)  # data [T]
        _, (hidden, _) = lstm(words._replace(data=self.embedding(words.data)))  # [L, N, H]
        return hidden[-1]  # type: ignore[no-any-return]

    def language_loss(self, states: State, inputs: Text, targets: Tensor) -> Tensor:
        """Sum of the cross-entropies of all tokens of the messages, each message said from its round's state.

        states: two of [L, B, R, H]; inputs [B, R, length] begin with START; targets [B, R, length] end with EOS.
        """
        flat = inputs.flat()  # tokens [N, length], lengths [N], where N = B·R
        wanted = targets[..., : flat.tokens.shape[1]].reshape(flat.tokens.shape)  # [N, length]
        begun = states[0].flatten(1, 2), states[1].flatten(1, 2)  # two of [L, N, H]
        hidden = self.decode(pack(flat.tokens, flat.lengths), begun)  # [T, H]
        return self.loss_of_words(hidden, pack(wanted, flat.lengths).data)

    def loss_of_words(self, hidden: Tensor, words: Tensor) -> Tensor:
        """Sum of the cross-entropies of words [T], each said from a hidden state [T, H]."""
        scores = self.generator(hidden).float()  # [T, V]
        return cross_entropy(scores, words, reduction="sum")

    def decode(self, words: PackedSequence, state: State) -> Tensor:
        """Decoder's top hidden state at each token: words, data [T], and two of [L, N, H] → [T, H].

        The state is in the messages' order before they were packed.
        """
        hidden: PackedSequence = self.decoder(words._replace(data=self.embedding(words.data)), state)[0]
        return hidden.data

    def speak(self, state: State, start: int, eos: int, limit: int) -> tuple[Tensor, Tensor]:
        """Decode one message a dialog greedily, from two of [L, B, H] on, until EOS or `limit` tokens.

        Returns tokens [B, limit], PAD past the lengths [B], which count EOS where it was said.
        """
        batch, device = state[0].shape[1], state[0].device
        word = torch.full((batch,), start, device=device)
        said = torch.full((batch, limit), PAD, device=device)
        lengths = torch.zeros(batch, dtype=torch.long, device=device)
        speaking = torch.ones(batch, dtype=torch.bool, device=device)
        for position in range(limit):
            hidden, state = self.decoder(self.embedding(word)[:, None], state)  # [B, 1, H]
            word = self.generator(hidden[:, 0]).argmax(-1)  # [B]
            said[:, position] = torch.where(speaking, word, PAD)
            lengths += speaking
            speaking &= word != eos
            if not speaking.any():
                break
        return said, lengths


class QuestionerNetwork(Bot):
    """Q-bot: caption and facts → questions, and a guess of the image after each fact."""

    def __init__(self, vocabulary: int, features: int, sizes: Sizes) -> None:
        super().__init__(vocabulary, sizes, history_inputs=sizes.hidden)
        self.regressor = nn.Linear(sizes.hidden, features)

    def history(self, facts: Text, state: State) -> State:
        """States after each of the facts [B, R, length], from two of [L, B, H] on: two of [L, B, R, H]."""
        encoded = self.encode(self.fact_encoder, facts)  # [B, R, H]
        return walk(self.history_encoder, encoded, state)

    def guess(self, hidden: Tensor) -> Tensor:
        """Guess the image's features from the history's hidden states [L, ..., H] → [..., F]."""
        # Never in bfloat16: a guess is compared with candidates that differ in the third digit.
        with torch.autocast(hidden.device.type, enabled=False):
            guesses: Tensor = self.regressor(hidden[-1].to(self.regressor.weight.dtype))
        return guesses

    def guess_basis(self) -> Tensor:
        """A basis of the space of guesses, for `Ranker`: the regressor's columns and its bias, [H + 1, F].

        A guess is W·h + b, so it is a linear combination of these vectors, however many features there are.
        """
        return torch.cat([self.regressor.weight.detach().T, self.regressor.bias.detach()[None]])


class AnswererNetwork(Bot):
    """A-bot: image, caption, facts and questions → answers."""

    def __init__(self, vocabulary: int, features: int, sizes: Sizes) -> None:
        super().__init__(vocabulary, sizes, history_inputs=2 * sizes.hidden)
        self.question_encoder = nn.LSTM(sizes.embedding, sizes.hidden, sizes.layers, batch_first=True)
        # The history LSTM reads [image, question, fact]. The image is the same in every round, so its columns of the
        # first layer's input weights [4H, F + 2H] are kept apart, to be applied once a dialog by those who wish.
        # They are initialised as an LSTM's weights are.
        self.image_encoder = nn.Linear(features, 4 * sizes.hidden, bias=False)
        nn.init.uniform_(self.image_encoder.weight, -(sizes.hidden**-0.5), sizes.hidden**-0.5)

    @property
    def features(self) -> int:
        """Numbers in an image's feature vector."""
        return self.image_encoder.in_features

    def image_input(self, images: Tensor) -> Tensor:
        """What `history` takes of the images [B, F], the same in every round: here the features themselves."""
        return images

    def history(self, images: Tensor, questions: Text, facts: Text, state: State) -> State:
        """States after each round, which reads the image, the question and the fact of the round before.

        images: from `image_input`; questions, facts: [B, R, length]; state: two of [L, B, H] → two of [L, B, R, H].
        """
        asked = self.encode(self.question_encoder, questions)  # [B, R, H]
        known = self.encode(self.fact_encoder, facts)  # [B, R, H]
        seen = images[:, None].expand(-1, asked.shape[1], -1)  # [B, R, F]
        return walk(self._whole_history_encoder(), torch.cat([seen, asked, known], -1), state)

    def _whole_history_encoder(self) -> Callable[[Tensor, State], tuple[Tensor, State]]:
        """The history LSTM with the image's columns in their place: one stock LSTM over [image, question, fact]."""
        mine = self.history_encoder
        inputs = self.features + mine.input_size  # F + 2H
        # Without memory of its own: the weights are given to each call, so that gradients reach both parts.
        lstm = nn.LSTM(inputs, mine.hidden_size, mine.num_layers, batch_first=True, device="meta")
        weights: dict[str, Tensor] = dict(mine.named_parameters())
        weights["weight_ih_l0"] = torch.cat([self.image_encoder.weight, weights["weight_ih_l0"]], 1)  # [4H, F + 2H]
        return lambda one, state: functional_call(lstm, weights, (one, state))
