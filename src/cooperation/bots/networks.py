"""The paper's two networks (section 2; Das et al. 2017, hierarchical recurrent encoder–decoder).

Sizes in the comments: V ids, E embedding, H hidden, F image features; N messages, B dialogs, R rounds.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from cooperation.bots import recurrent
from cooperation.bots.recurrent import State
from cooperation.models import Sizes


@dataclass(frozen=True)
class Text:
    """Token messages: tokens [..., length] on the device, lengths [...] in main memory.

    Lengths say how large batches are; were they on a GPU, each look at them would wait until all before is done.
    """

    tokens: Tensor
    lengths: Tensor

    def flat(self) -> "Text":
        """All messages in one dimension, without columns that no message uses (but one, should all be empty)."""
        width = max(int(self.lengths.max()), 1)
        return Text(self.tokens[..., :width].reshape(-1, width), self.lengths.reshape(-1))

    def rounds(self, which: slice) -> "Text":
        """The messages of some rounds of [dialogs, rounds, …]."""
        return Text(self.tokens[:, which], self.lengths[:, which])


class Bot(nn.Module):
    """What both bots have: embedding, fact encoder, history, and a decoder that starts from the history's state."""

    def __init__(self, vocabulary: int, sizes: Sizes, history_inputs: int) -> None:
        super().__init__()
        E, H, L = sizes.embedding, sizes.hidden, sizes.layers  # noqa: N806
        self.embedding = nn.Embedding(vocabulary, E, padding_idx=0)
        self.fact_encoder = nn.LSTM(E, H, L, batch_first=True)
        self.history_encoder = nn.LSTM(history_inputs, H, L, batch_first=True)
        self.decoder = nn.LSTM(E, H, L, batch_first=True)
        self.generator = nn.Linear(H, vocabulary)

    def encode_facts(self, facts: Text) -> Tensor:
        """Encode facts [B, R, length] → [B, R, H]."""
        flat = facts.flat()
        encoded = recurrent.encode(self.fact_encoder, self.embedding, flat.tokens, flat.lengths)
        return encoded.reshape(*facts.lengths.shape, -1)

    def language_loss(self, states: State, inputs: Text, targets: Tensor) -> Tensor:
        """Sum of the cross-entropies of all tokens of the messages [B, R, length], each said from its round's state.

        states: two of [layers, B, R, H]; inputs begin with START; targets [B, R, length] end with EOS.
        """
        flat = inputs.flat()
        targets = targets[..., : flat.tokens.shape[1]].reshape(flat.tokens.shape)
        begun = states[0].flatten(1, 2), states[1].flatten(1, 2)
        packed = recurrent.pack(flat.tokens, flat.lengths)
        said = recurrent.decode(self.decoder, self.embedding, packed, begun)
        wanted = recurrent.pack(targets, flat.lengths).data
        return cross_entropy(self.generator(said).float(), wanted, reduction="sum")

    def speak(self, state: State, start: int, eos: int, limit: int) -> tuple[Tensor, Tensor]:
        """Say one message a dialog, greedily; see `recurrent.speak`."""
        return recurrent.speak(self.decoder, self.embedding, self.generator, state, start, eos, limit)


class QuestionerNetwork(Bot):
    """Q-bot: caption and facts → questions and a guess of the image."""

    def __init__(self, vocabulary: int, features: int, sizes: Sizes) -> None:
        super().__init__(vocabulary, sizes, history_inputs=sizes.hidden)
        self.regressor = nn.Linear(sizes.hidden, features)

    def history(self, facts: Text, state: State) -> State:
        """States after each fact [B, R, length]: two of [layers, B, R, H]."""
        gates = recurrent.input_gates(self.history_encoder, 0, self.encode_facts(facts))
        return recurrent.walk(self.history_encoder, gates, state)

    def guess(self, hidden: Tensor) -> Tensor:
        """Guess the image from the history's hidden states [layers, …, H] → [..., F]."""
        # Never in bfloat16: a guess is compared with candidates that differ in the third digit.
        with torch.autocast(hidden.device.type, enabled=False):
            guesses: Tensor = self.regressor(hidden[-1])
        return guesses

    def span(self) -> Tensor:
        """Vectors of which every guess is a sum of multiples: the regressor's columns and its bias, [H + 1, F]."""
        return torch.cat([self.regressor.weight.detach().T, self.regressor.bias.detach()[None]])


class AnswererNetwork(Bot):
    """A-bot: image, caption, facts and questions → answers."""

    def __init__(self, vocabulary: int, features: int, sizes: Sizes) -> None:
        super().__init__(vocabulary, sizes, history_inputs=2 * sizes.hidden)
        self.question_encoder = nn.LSTM(sizes.embedding, sizes.hidden, sizes.layers, batch_first=True)
        # The history's input is [image, question, fact]. The image is the same in every round: its columns of the
        # input weights stand apart and are applied once a dialog. They begin as an LSTM's weights do.
        self.image_encoder = nn.Linear(features, 4 * sizes.hidden, bias=False)
        nn.init.uniform_(self.image_encoder.weight, -(sizes.hidden**-0.5), sizes.hidden**-0.5)

    @property
    def features(self) -> int:
        """Numbers in an image's feature vector."""
        return self.image_encoder.in_features

    def image_gates(self, images: Tensor) -> Tensor:
        """The image's share of the history's gates, the same in every round: [B, F] → [B, 4H]."""
        gates: Tensor = self.image_encoder(images)
        return gates

    def history(self, images: Tensor, questions: Text, facts: Text, state: State) -> State:
        """States after each round's question [B, R, length] and previous fact [B, R, length]: two of [layers, B, R, H].

        images: what `image_gates` gave, [B, 4H].
        """
        flat = questions.flat()
        asked = recurrent.encode(self.question_encoder, self.embedding, flat.tokens, flat.lengths)
        words = torch.cat([asked.reshape(*questions.lengths.shape, -1), self.encode_facts(facts)], -1)
        gates = recurrent.input_gates(self.history_encoder, 0, words) + images[:, None]
        return recurrent.walk(self.history_encoder, gates, state)


def spread_embeddings(bot: Bot) -> None:
    """Draw the embeddings from U(−√3, √3), as the authors' round-by-round program does."""
    with torch.no_grad():
        bot.embedding.weight.uniform_(-math.sqrt(3), math.sqrt(3))
        bot.embedding.weight[0] = 0
