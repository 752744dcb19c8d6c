"""Where the true image comes among all candidates, nearest to the guess first (protocol, section 2).

The rank r is the number of candidates strictly nearer to the guess than the true image, plus half of the *others*
that are equally near, so equal distances share their mean rank and a constant guesser scores 50.
The distance is Euclidean. Nothing is sorted and no N×N matrix is kept: nearer candidates are counted block by
block in float32, and every candidate too close to call is measured again exactly, in float64.

A linear guess of a state of 512 numbers lies in a space of 513 dimensions, however many features there are. Within
it an eighth of the multiplications compares a guess with a candidate, and twice as many features as dimensions tell
where a guess lies.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cooperation.files import InputError
from cooperation.messages import Floats, Rows

# Rows of the block of distances held at once, and the candidates in it: 2048 × 2048 float32 are 16 MB.
GUESSES, CANDIDATES = 2048, 2048
# Vectors taken to float64 at a time: 32 × 4096 are a megabyte, which stays in a processor's cache.
WIDENED = 32
PROBES = 16
# Features that tell a guess's place, for each dimension of it: fewer would tell it less exactly.
TELLING = 2
# What remains of a direction in those features is less exact, the less it is.
TOO_LITTLE = 0.01
# Counts of so many rows of eight bytes each fit into a byte.
EIGHTS = 128


class Ranker:
    """Ranks guesses against a fixed set of candidates [candidates, features].

    span: [vectors, features], such that every guess is a sum of multiples of these vectors. It makes ranking faster;
    ranks are the same without it, and of guesses for which it isn't true.
    """

    def __init__(
        self, candidates: Floats, device: torch.device | str = "cpu", span: npt.NDArray[np.floating] | None = None
    ) -> None:
        self.candidates = torch.from_numpy(candidates).to(device)
        squares = self.candidates.square().sum(1)
        if not bool(squares.isfinite().all()):
            raise InputError("the candidates' features hold NaN, infinity or far too much; extract the features again")
        self.longest = float(squares.max().sqrt())
        self.telling: Tensor | None = None
        coordinates = self.candidates
        if span is not None and len(span) < candidates.shape[1]:
            basis = torch.linalg.qr(torch.from_numpy(span).to(device).double().T)[0]
            coordinates = self.candidates @ basis.float()
            # The features that share most in the basis; all, should they not tell every direction well.
            self.telling = basis.square().sum(1).topk(min(TELLING * basis.shape[1], len(basis))).indices.sort().values
            left, sizes, right = torch.linalg.svd(basis[self.telling], full_matrices=False)
            self.to_places = ((left / sizes) @ right).float()
            if float(sizes[-1]) < TOO_LITTLE:
                self.telling, self.to_places = torch.arange(len(basis), device=basis.device), basis.float()
            chance = torch.Generator().manual_seed(0)
            self.probes = torch.randn(len(basis), PROBES, generator=chance, dtype=torch.float64).to(device)
            self.probes_told = basis.float().double().T @ self.probes
        # A guess's place times these is the square of its distance, less its own square.
        self.coordinates = torch.cat([coordinates, squares[:, None]], 1)

    def __len__(self) -> int:
        return len(self.candidates)

    def rank(self, guesses: Floats, truth: Rows) -> npt.NDArray[np.float64]:
        """Ranks [guesses] of the candidates at rows `truth` [guesses], from guesses [guesses, features]."""
        parts = [
            self._rank(torch.from_numpy(guesses[at : at + GUESSES]), torch.from_numpy(truth[at : at + GUESSES]))
            for at in range(0, len(guesses), GUESSES)
        ]
        return torch.cat(parts).cpu().numpy() if parts else np.zeros(0)

    def _rank(self, guesses: Tensor, truth: Tensor) -> Tensor:
        device = self.candidates.device
        guesses, truth = guesses.to(device), truth.to(device)
        places, margin = self._places(guesses)
        if not bool(margin.isfinite().all()):
            raise InputError(
                "a guess holds NaN, infinity or far too much; the questioner's training diverged, train it again"
            )
        # |x − g|² − |g|², the guess's own square being the same for all candidates.
        true = torch.linalg.vecdot(places, self.coordinates[truth])
        low, high = (true - margin)[:, None], (true + margin)[:, None]
        # Exact distances to the true image, of guesses that need them.
        exact = torch.full((len(guesses),), torch.nan, dtype=torch.float64, device=device)
        nearer = torch.zeros_like(exact)
        distances = torch.empty(len(guesses) * CANDIDATES, device=device)
        below, not_above = (torch.zeros(len(guesses), CANDIDATES, dtype=torch.bool, device=device) for _ in range(2))
        for at in range(0, len(self), CANDIDATES):
            coordinates = self.coordinates[at : at + CANDIDATES]
            width = len(coordinates)
            block = distances[: len(guesses) * width].view(len(guesses), width)
            torch.mm(places, coordinates.T, out=block)
            torch.lt(block, low, out=below[:, :width])
            torch.le(block, high, out=not_above[:, :width])
            below[:, width:] = not_above[:, width:] = False
            nearer += _count(below)
            row, column = _different(below, not_above)
            # The true image is as near as itself, but not another.
            others = column + at != truth[row]
            row, column = row[others], column[others] + at
            new = torch.unique(row[exact[row].isnan()])
            exact[new] = self._exact(guesses, new, truth[new])
            again = self._exact(guesses, row, column) - exact[row]
            nearer.index_add_(0, row, (again < 0).double() + (again == 0).double() / 2)
        return nearer

    def _places(self, guesses: Tensor) -> tuple[Tensor, Tensor]:
        """The guesses in the candidates' coordinates, and how wrong a difference of distances may be: [guesses].

        The rounding of a sum of n products grows as √n, as that of a random walk, and a difference of two sums is √2
        times as wrong. As much is added as can lie in the part of a guess that its place doesn't tell. How long that
        part is, is estimated by random vectors, four times too long to be sure.
        """
        places = guesses if self.telling is None else guesses.index_select(1, self.telling) @ self.to_places
        rounding = 2**0.5 * torch.finfo(torch.float32).eps / 2 * (4 + float(places.shape[1]) ** 0.5)
        length = torch.linalg.vector_norm(guesses, dim=1)
        margin: Tensor = (length * (2 * self.longest) + self.longest**2) * rounding
        if self.telling is not None:
            probed = torch.cat([some.double() @ self.probes for some in torch.split(guesses, WIDENED)])
            untold = probed - places.double() @ self.probes_told
            margin += 4 * self.longest * 4 * (untold.norm(dim=1) / PROBES**0.5).float()
        return torch.cat([-2 * places, torch.ones_like(places[:, :1])], 1), margin

    def _exact(self, guesses: Tensor, which: Tensor, rows: Tensor) -> Tensor:
        """Squared distances in float64 of the guesses `which` [pairs] to the candidates at `rows` [pairs]."""
        parts = []
        for some, row in zip(torch.split(which, WIDENED), torch.split(rows, WIDENED), strict=True):
            away = guesses.index_select(0, some).double().sub_(self.candidates.index_select(0, row))
            parts.append(away.square_().sum(1))
        return torch.cat(parts)


def _count(found: Tensor) -> Tensor:
    """Number of the true in each row: [rows, columns], columns a multiple of eight → [rows].

    Eight at a time are added as one number, whose bytes don't overflow: fifty times as fast as summing booleans.
    """
    eights = torch.split(found.view(torch.int64), EIGHTS, dim=1)
    return torch.stack([part.sum(1)[:, None].view(torch.uint8).sum(1) for part in eights]).sum(0)


def _different(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns where two of booleans [rows, columns] differ, which is rare; columns as for `_count`."""
    eights = one.view(torch.int64) ^ other.view(torch.int64)
    row, column = eights.nonzero(as_tuple=True)
    which, byte = eights[row, column][:, None].view(torch.uint8).nonzero(as_tuple=True)
    return row[which], column[which] * 8 + byte
