"""Bots without training: they say what people said in the training dialogs that are most like the one at hand."""

import numpy as np

from cooperation.api import recorded


class NearestNeighbour:
    """The questioner looks up captions and answers by their words, the answerer pictures by their colours."""

    def __init__(self, dialogs, pictures):
        people, seen = zip(*recorded(dialogs, pictures), strict=True)
        self.turns = [person.turns for person in people]
        self.looks = self.prepare(seen)  # [training dialogs, 192]
        texts = [words_of(person) for person in people]
        words = sorted(set().union(*texts))
        self.column = {word: number for number, word in enumerate(words)}
        seen_in = 1 + np.array([sum(word in text for text in texts) for word in words])
        self.weights = np.log(1 + len(texts) / seen_in)  # a rare word tells more
        self.vectors = np.stack([self.vector(text) for text in texts])  # [training dialogs, words]

    def vector(self, words):
        vector = np.zeros(len(self.column))
        known = [self.column[word] for word in words if word in self.column]
        vector[known] = self.weights[known]
        return vector / max(np.linalg.norm(vector), 1e-9)

    def nearest(self, dialog):
        """Training dialogs, the most alike first."""
        return np.argsort(-(self.vectors @ self.vector(words_of(dialog))), kind="stable")

    def ask(self, dialogs):
        return [self.turns[self.nearest(dialog)[0]][len(dialog.turns)][0] for dialog in dialogs]

    def answer(self, pictures, dialogs, questions):
        return [self.reply(*both) for both in zip(self.prepare(pictures), questions, strict=True)]

    def reply(self, look, question):
        """What was said of the most similar picture whose dialog has the question."""
        for number in np.argsort(((self.looks - look) ** 2).sum(1), kind="stable")[:200]:
            for asked, answer in self.turns[number]:
                if asked == question:
                    return answer
        return "i can't tell"

    def prepare(self, pictures):
        """Eight by eight coarse pixels of each picture: [pictures, 192]."""
        return np.stack([np.asarray(picture.open().resize((8, 8)), float).reshape(-1) / 255 for picture in pictures])

    def score(self, dialogs, candidates):
        """The closer a candidate is to the pictures of similar dialogs, the likelier."""
        means = np.stack([self.looks[self.nearest(dialog)[:10]].mean(0) for dialog in dialogs])
        return 2 * means @ candidates.T - (candidates**2).sum(1)


def words_of(dialog):
    """Words of a caption, and each turn as a whole."""
    return {*dialog.caption.lower().split(), *(f"{question} {answer}".lower() for question, answer in dialog.turns)}
