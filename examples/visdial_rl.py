"""The PyTorch pair of Das et al. 2017 (github.com/batra-mlp-lab/visdial-rl), from your own checkout and checkpoints."""

import json
import sys
from pathlib import Path

import torch


class VisdialRL:
    """checkout: a folder; answerer, questioner: files such as abot_rl_ep20.vd; words: chat_processed_params.json."""

    def __init__(self, checkout, answerer, questioner, words):
        sys.path.insert(0, checkout)
        from utils.utilities import loadModel  # noqa: PLC0415

        given = {"useGPU": False, "continue": True, "numEpochs": 0, "startFrom": answerer, "qstartFrom": questioner}
        self.bots = {who: loadModel(given, who)[0].eval().requires_grad_(False) for who in ("abot", "qbot")}
        self.ids = json.loads(Path(words).read_text(encoding="utf-8"))["word2ind"]
        self.words = {number: word for word, number in self.ids.items()}

    def observe(self, bot, turn, name, texts):
        known = [[self.ids.get(word, self.ids["UNK"]) for word in text.split() or ["UNK"]] for text in texts]
        rows = [torch.tensor([bot.decoder.startToken, *ids, bot.decoder.endToken]) for ids in known]
        lengths = torch.tensor([[len(ids) + 1] for ids in known])  # [dialogs, 1]: it asks each for its first item
        bot.observe(turn, **{name: torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), f"{name}Lens": lengths})
        bot.encoder.embedInputDialog()  # else it takes no further round

    def tell(self, bot, dialogs, **image):
        bot.reset()  # histories are encoded anew at each call
        bot.observe(-1, **image)
        self.observe(bot, -1, "caption", [dialog.caption for dialog in dialogs])
        for number, texts in enumerate(zip(*(sum(dialog.turns, ()) for dialog in dialogs), strict=True)):
            self.observe(bot, number // 2, ("ques", "ans")[number % 2], texts)
        return bot

    def say(self, bot):
        net, state, said = bot.decoder, bot.encoder(), [torch.full((bot.encoder.batchSize, 1), bot.decoder.startToken)]
        while len(said) <= 20:
            output, state = net.rnn(net.wordEmbed(said[-1]), state)
            scores = net.outNet(output[:, 0])
            scores[:, [0, net.startToken, *[net.endToken] * (len(said) == 1)]] = -torch.inf  # nor is a message empty
            said.append(scores.argmax(1, keepdim=True))
        rows = [[*row, net.endToken] for row in torch.cat(said, 1).tolist()]
        return [" ".join(self.words[number] for number in row[1 : row.index(net.endToken)]) for row in rows]

    def ask(self, dialogs):
        return self.say(self.tell(self.bots["qbot"], dialogs))

    def answer(self, pictures, dialogs, questions):
        bot = self.tell(self.bots["abot"], dialogs, image=self.prepare(pictures))
        self.observe(bot, len(dialogs[0].turns), "ques", questions)
        return self.say(bot)

    def guess(self, dialogs):
        return self.tell(self.bots["qbot"], dialogs).predictImage()

    def prepare(self, pictures):
        return torch.nn.functional.normalize(torch.stack([torch.tensor(picture.features) for picture in pictures]))
