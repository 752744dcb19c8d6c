"""The rank of the true image among all candidates, nearest to the guess first (protocol, section 2).

`plain_ranks` is the definition. `Ranker` finds the same ranks, more than a thousand times as fast, in four steps.
Let g be a guess, t its true image and x any candidate, each of F features, and u = 2⁻²⁴ float32's unit roundoff.

1. Scores. |x − g|² = |g|² + s(x), where s(x) = |x|² − 2x·g. So x is nearer than t where s(x) < s(t). The scores of a
   block of guesses and candidates are one matrix product, [−2g, 1]·[x, |x|²], in float32. Nothing is sorted, and no
   matrix of all distances is kept: nearer candidates are counted block by block.

2. Fewer dimensions. A guess by a linear layer lies in a space of K = H + 1 dimensions, an eighth of the paper's F.
   Let the columns of Q [F, K] be a basis of that space, p the coordinates of g, and r = g − Qp what they leave out.
   Then x·g = (xQ)·p + x·r. The product xQ is made once for each candidate; p follows from 2K features of g by least
   squares; x·r is dropped. This holds for any Q and p: where guesses lie outside the space, r is longer.

3. Margin. How wrong can the difference s(x) − s(t) be? Let X be the length of the longest candidate.
   Dropped part: |2(x − t)·r| ≤ 4X|r|. This is proven (Cauchy–Schwarz), but |r| itself is estimated: m is the root mean
   square of r·z for 16 vectors z of normal random numbers, and 4m stands for |r|. It is probable that this is enough:
   m < |r|/4 has a probability of 6·10⁻⁸, that of χ² < 1 with 16 degrees of freedom.
   Rounding: a float32 sum of n products is wrong by at most about n·u·(2|g|X + X²), a difference of two by twice that.
   This is proven, whatever the order of the sum, but roundings of both signs cancel. As steps of a random walk they
   add up to √n in place of n, and √2 in place of 2 for the difference. So 2·√2·(4 + √n)·u·(2|g|X + X²) is taken: the
   4 is for the rounding of |x|² and of xQ, the 2 for oneDNN, whose errors are up to three times those of MKL. It is
   probable that this is enough: the largest errors seen are a third of the margin. A proven bound is over 13 times as
   wide (n = 514).

4. Check. Each candidate with |s(x) − s(t)| ≤ margin is measured again in float64, as the definition does, and counted
   by that; all others are counted by their scores.

So it is proven that the ranks are the definition's wherever the errors of the differences lie within the margin, and
it is probable, not proven, that they do. (Sums in float64 may differ from NumPy's in the last bit, being added in
another order. Equal candidates are equally far in both.)
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cooperation.game.messages import Floats, Rows
from cooperation.io.files import InputError
from cooperation.io.products import multiplying_by

# Guesses and candidates of a block of scores: 2048 × 2048 float32 are 16 MB.
GUESSES, CANDIDATES = 2048, 2048
# Vectors taken to float64 at a time: 32 × 4096 are a megabyte, which stays in a processor's cache.
WIDENED = 32
# Random vectors that estimate a residual's length, and how many times the estimate stands for it.
PROBES, SAFETY = 16, 4
# Features that a guess's coordinates are computed from, for each coordinate: fewer would give them less exactly.
FEATURES_A_COORDINATE = 2
# The least singular value of these features' rows of the basis; below it all features are used.
LEAST_SINGULAR_VALUE = 0.01
# Counts of so many rows of eight bytes each fit into a byte.
EIGHTS = 128


def plain_ranks(guesses: Floats, candidates: Floats, truth: Rows) -> npt.NDArray[np.float64]:
    """The definition: how many candidates are nearer than the true image, plus half of the others that are as near.

    guesses [guesses, F], candidates [candidates, F], truth: rows of the true images [guesses] → ranks [guesses] from 0.
    Equal distances share their mean rank, so that a constant guesser scores 50.
    """
    ranks = []
    for guess, true in zip(guesses.astype(np.float64), truth, strict=True):
        distances = ((candidates - guess) ** 2).sum(1)  # [candidates], squared: in the same order
        nearer = (distances < distances[true]).sum()
        others_as_near = (distances == distances[true]).sum() - 1
        ranks.append(nearer + others_as_near / 2)
    return np.array(ranks, np.float64)


@dataclass(frozen=True)
class _GuessSpace:
    """The space of guesses (step 2).

    basis: Q [F, K]. features: those that coordinates are computed from [M]; to_coordinates: [M, K].
    probes: random vectors [F, 16], float64, and their products with the basis, [K, 16].
    """

    basis: Tensor
    features: Tensor
    to_coordinates: Tensor
    probes: Tensor
    probes_of_basis: Tensor

    @classmethod
    def spanned_by(cls, vectors: Tensor) -> "_GuessSpace":
        """The space of all linear combinations of vectors [K, F]."""
        basis = torch.linalg.qr(vectors.double().T)[0]
        # The features with most weight in the basis; all of them, should these not determine every coordinate well.
        features = basis.square().sum(1).topk(min(FEATURES_A_COORDINATE * basis.shape[1], len(basis))).indices
        features = features.sort().values
        left, sizes, right = torch.linalg.svd(basis[features], full_matrices=False)
        to_coordinates = ((left / sizes) @ right).float()
        if float(sizes[-1]) < LEAST_SINGULAR_VALUE:
            features, to_coordinates = torch.arange(len(basis), device=basis.device), basis.float()
        chance = torch.Generator().manual_seed(0)
        probes = torch.randn(len(basis), PROBES, generator=chance, dtype=torch.float64).to(basis.device)
        return cls(basis.float(), features, to_coordinates, probes, basis.float().double().T @ probes)

    def coordinates(self, guesses: Tensor) -> Tensor:
        """The coordinates p of guesses [guesses, F]: [guesses, K]."""
        return guesses.index_select(1, self.features) @ self.to_coordinates

    def residuals(self, guesses: Tensor, coordinates: Tensor) -> Tensor:
        """Estimated lengths m of what the coordinates [guesses, K] leave out of the guesses [guesses, F]: [guesses]."""
        probed = torch.cat([some.double() @ self.probes for some in torch.split(guesses, WIDENED)])
        left_out = probed - coordinates.double() @ self.probes_of_basis
        lengths: Tensor = (left_out.norm(dim=1) / PROBES**0.5).float()
        return lengths


class Ranker:
    """Ranks guesses among a fixed set of candidates [candidates, F]; the module says how.

    guess_basis: [vectors, F], of which every guess is a linear combination. It makes ranking faster; ranks are the same
    without it, and for guesses of which it is not true.
    Raises `InputError` where the candidates' features are not finite, or far too large.
    """

    def __init__(
        self,
        candidates: Floats,
        device: torch.device | str = "cpu",
        guess_basis: npt.NDArray[np.floating] | None = None,
    ) -> None:
        self.candidates = torch.from_numpy(candidates).to(device)
        squares = self.candidates.square().sum(1)
        if not bool(squares.isfinite().all()):
            raise InputError("the candidates' features hold NaN, infinity or far too much; extract the features again")
        self.longest = float(squares.max().sqrt())
        self.space: _GuessSpace | None = None
        coordinates = self.candidates
        if guess_basis is not None and len(guess_basis) < candidates.shape[1]:
            self.space = _GuessSpace.spanned_by(torch.from_numpy(guess_basis).to(device))
            # MKL's products of so many features are more exact, and this one is made once.
            with multiplying_by("mkl"):
                coordinates = self.candidates @ self.space.basis
        # [xQ, |x|²], or [x, |x|²] without a basis: [candidates, K + 1].
        self.columns = torch.cat([coordinates, squares[:, None]], 1)

    def __len__(self) -> int:
        return len(self.candidates)

    def rank(self, guesses: Floats, truth: Rows) -> npt.NDArray[np.float64]:
        """Ranks [guesses] of the candidates at rows `truth` [guesses], from guesses [guesses, F]; see `plain_ranks`.

        Raises `InputError` where a guess is not finite, or far too large.
        """
        parts = [
            self._rank(torch.from_numpy(guesses[at : at + GUESSES]), torch.from_numpy(truth[at : at + GUESSES]))
            for at in range(0, len(guesses), GUESSES)
        ]
        return torch.cat(parts).cpu().numpy() if parts else np.zeros(0)

    def _rank(self, guesses: Tensor, truth: Tensor) -> Tensor:
        device = self.candidates.device
        guesses, truth = guesses.to(device), truth.to(device)
        rows, margin = self._rows_and_margin(guesses)
        if not bool(margin.isfinite().all()):
            raise InputError(
                "a guess holds NaN, infinity or far too much; the questioner's training diverged, train it again"
            )
        true = torch.linalg.vecdot(rows, self.columns[truth])  # s(t): [guesses]
        low, high = (true - margin)[:, None], (true + margin)[:, None]
        # Distances to the true image in float64, of guesses that need them.
        true_distance = torch.full((len(guesses),), torch.nan, dtype=torch.float64, device=device)
        nearer = torch.zeros_like(true_distance)
        buffer = torch.empty(len(guesses) * CANDIDATES, device=device)
        below, not_above = (torch.zeros(len(guesses), CANDIDATES, dtype=torch.bool, device=device) for _ in range(2))
        for at in range(0, len(self), CANDIDATES):
            columns = self.columns[at : at + CANDIDATES]
            width = len(columns)
            scores = buffer[: len(guesses) * width].view(len(guesses), width)
            torch.mm(rows, columns.T, out=scores)
            torch.lt(scores, low, out=below[:, :width])
            torch.le(scores, high, out=not_above[:, :width])
            below[:, width:] = not_above[:, width:] = False
            nearer += _count(below)
            row, column = _different(below, not_above)
            # The true image is as near as itself, but it is no other.
            others = column + at != truth[row]
            row, column = row[others], column[others] + at
            new = torch.unique(row[true_distance[row].isnan()])
            true_distance[new] = self._measure(guesses, new, truth[new])
            further = self._measure(guesses, row, column) - true_distance[row]
            nearer.index_add_(0, row, (further < 0).double() + (further == 0).double() / 2)
        return nearer

    def _rows_and_margin(self, guesses: Tensor) -> tuple[Tensor, Tensor]:
        """[−2p, 1], or [−2g, 1] without a basis: [guesses, K + 1]; and the margin of step 3: [guesses]."""
        coordinates = guesses if self.space is None else self.space.coordinates(guesses)
        unit_roundoff = torch.finfo(torch.float32).eps / 2
        rounding = 2 * 2**0.5 * unit_roundoff * (4 + float(coordinates.shape[1]) ** 0.5)
        length = torch.linalg.vector_norm(guesses, dim=1)
        margin: Tensor = (length * (2 * self.longest) + self.longest**2) * rounding
        if self.space is not None:
            margin += 4 * self.longest * SAFETY * self.space.residuals(guesses, coordinates)
        return torch.cat([-2 * coordinates, torch.ones_like(coordinates[:, :1])], 1), margin

    def _measure(self, guesses: Tensor, which: Tensor, rows: Tensor) -> Tensor:
        """Squared distances in float64 of the guesses `which` [pairs] to the candidates at `rows` [pairs]: [pairs]."""
        parts = []
        for some, row in zip(torch.split(which, WIDENED), torch.split(rows, WIDENED), strict=True):
            away = guesses.index_select(0, some).double().sub_(self.candidates.index_select(0, row))
            parts.append(away.square_().sum(1))
        return torch.cat(parts)


def _count(found: Tensor) -> Tensor:
    """Number of the true in each row: booleans [rows, columns], columns a multiple of eight → [rows].

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
