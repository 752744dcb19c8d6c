"""Where the true image comes among all candidates, nearest to the guess first (protocol, section 2).

The rank r is the number of candidates strictly nearer to the guess than the true image, plus half of the *others*
that are equally near, so equal distances share their mean rank and a constant guesser scores 50.
The distance is Euclidean. Nothing is sorted and no N×N matrix is kept: nearer candidates are counted block by
block in float32, and every candidate too close to call is measured again exactly, in float64.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cooperation.files import InputError
from cooperation.messages import Floats, Rows

# Rows of the block of distances held at once, and the candidates in it: 1024 × 8192 float32 are 32 MB.
GUESSES, CANDIDATES = 1024, 8192


class Ranker:
    """Ranks guesses against a fixed set of candidates [candidates, features]."""

    def __init__(self, candidates: Floats, device: torch.device | str = "cpu") -> None:
        if not np.isfinite(candidates).all():
            raise InputError("the candidates' features hold NaN or infinity; extract the features again")
        self.candidates = torch.from_numpy(candidates).to(device)
        self.squares = self.candidates.square().sum(1)
        self.longest = float(self.squares.max().sqrt())

    def __len__(self) -> int:
        return len(self.candidates)

    def rank(self, guesses: Floats, truth: Rows) -> npt.NDArray[np.float64]:
        """Ranks [guesses] of the candidates at rows `truth` [guesses], from guesses [guesses, features]."""
        if not np.isfinite(guesses).all():
            raise InputError("a guess holds NaN or infinity; the questioner's training diverged, train it again")
        parts = [
            self._rank(torch.from_numpy(guesses[at : at + GUESSES]), torch.from_numpy(truth[at : at + GUESSES]))
            for at in range(0, len(guesses), GUESSES)
        ]
        return torch.cat(parts).cpu().numpy() if parts else np.zeros(0)

    def _rank(self, guesses: Tensor, truth: Tensor) -> Tensor:
        device = self.candidates.device
        guesses, truth = guesses.to(device), truth.to(device)
        # |x − g|² − |g|², the guess's own square being the same for all candidates.
        true = self.squares[truth] - 2 * (guesses * self.candidates[truth]).sum(1)
        margin = self._margin(guesses)
        nearer = torch.zeros(len(guesses), dtype=torch.float64, device=device)
        for at in range(0, len(self.candidates), CANDIDATES):
            block = slice(at, at + CANDIDATES)
            difference = torch.addmm(self.squares[block], guesses, self.candidates[block].T, alpha=-2) - true[:, None]
            nearer += (difference < -margin[:, None]).sum(1)
            row, column = (difference.abs() <= margin[:, None]).nonzero(as_tuple=True)
            other = column + at != truth[row]
            row, column = row[other], column[other] + at
            again = self._exact(guesses[row], column) - self._exact(guesses[row], truth[row])
            nearer.index_add_(0, row, (again < 0).double() + (again == 0).double() / 2)
        return nearer

    def _exact(self, guesses: Tensor, rows: Tensor) -> Tensor:
        """Squared distances in float64 of guesses [pairs, features] to the candidates at rows [pairs]."""
        parts = [
            (guesses[at : at + GUESSES].double() - self.candidates[rows[at : at + GUESSES]]).square().sum(1)
            for at in range(0, len(rows), GUESSES)
        ]
        none = torch.zeros(0, dtype=torch.float64, device=guesses.device)
        return torch.cat([none, *parts])

    def _margin(self, guesses: Tensor) -> Tensor:
        """How wrong a float32 difference of distances may be: [guesses].

        The rounding of a sum of n products grows as √n·ε; twice that for both distances together. Measured errors
        stay below a twentieth of it, since products are summed in blocks.
        """
        lengths = guesses.square().sum(1).sqrt()
        rounding = 2 * torch.finfo(torch.float32).eps * float(guesses.shape[1]) ** 0.5
        margin: Tensor = (lengths * (2 * self.longest) + self.longest**2) * rounding
        return margin
