"""Bots without training: they say what people said in the training dialogs that are most like the one at hand.

cooperation play --load examples/nearest_neighbour.py:NearestNeighbour …
"""

import numpy as np

from cooperation.api import recorded


class NearestNeighbour:
    """The questioner looks up captions and answers by their words, the answerer pictures by their features."""

    def __init__(self, dialogs, features):
        people, pictures = zip(*recorded(dialogs, features=features), strict=True)
        self.turns = [person.turns for person in people]
        self.features = np.stack([picture.features for picture in pictures])  # [training dialogs, features]
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
        return [self.reply(picture, question) for picture, question in zip(pictures, questions, strict=True)]

    def reply(self, picture, question):
        """What was said of the most similar picture whose dialog has the question."""
        for number in np.argsort(((self.features - picture.features) ** 2).sum(1))[:200]:
            for asked, answer in self.turns[number]:
                if asked == question:
                    return answer
        return "i can't tell"

    def score(self, dialogs, candidates):
        """The closer a candidate is to the pictures of similar dialogs, the likelier."""
        means = np.stack([self.features[self.nearest(dialog)[:10]].mean(0) for dialog in dialogs])
        rows = np.stack([picture.features for picture in candidates])
        return 2 * means @ rows.T - (rows**2).sum(1)


def words_of(dialog):
    """Words of a caption, and each turn as a whole."""
    return {*dialog.caption.lower().split(), *(f"{question} {answer}".lower() for question, answer in dialog.turns)}
