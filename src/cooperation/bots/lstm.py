"""An LSTM layer over packed sequences whose backward pass is written by hand.

Stock `nn.LSTM` on a CPU differentiates every time step on its own and adds up a whole weight gradient each time; here
a step costs one matrix product and a few fused operations, and all weight gradients are one product at the end.
Rows are packed as by `torch.nn.utils.rnn.pack_padded_sequence`: time step t holds the first sizes[t] rows, sorted by
length, and all steps stand one below the other ("total" rows).
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor


def _steps(sizes: Sequence[int]) -> list[tuple[int, int, int]]:
    """First row, end and number of rows of each time step."""
    return [(end - size, end, size) for end, size in zip(accumulate(sizes), sizes, strict=True)]


class Layer(torch.autograd.Function):
    """One layer: the input's share of the gates [total, 4·hidden], order i, f, g, o → hidden and cell states.

    recurrence: hidden weights [4·hidden, hidden]; hidden, cell: states before the first step [rows, hidden]. Matrix
    products are made in the recurrence's type (float32, or bfloat16 to be fast), all else in the gates'.
    """

    @staticmethod
    def forward(ctx: Any, gates: Tensor, recurrence: Tensor, hidden: Tensor, cell: Tensor, sizes: Sequence[int]) -> Any:
        size = hidden.shape[1]
        acts = torch.empty_like(gates)
        hiddens, cells, squashed = (gates.new_empty(len(gates), size) for _ in range(3))
        h, c = hidden, cell
        across = recurrence.t()
        for start, end, rows in _steps(sizes):
            act = acts[start:end]
            torch.add(gates[start:end], h[:rows].to(across.dtype) @ across, out=act)
            act[:, : 2 * size].sigmoid_()
            act[:, 2 * size : 3 * size].tanh_()
            act[:, 3 * size :].sigmoid_()
            i, f, g, o = act.chunk(4, 1)
            c = torch.mul(f, c[:rows], out=cells[start:end]).addcmul_(i, g)
            h = torch.mul(o, torch.tanh(c, out=squashed[start:end]), out=hiddens[start:end])
        ctx.save_for_backward(acts, recurrence, hidden, cell, hiddens, cells, squashed)
        ctx.sizes = sizes
        ctx.set_materialize_grads(False)
        return hiddens, cells

    @staticmethod
    def backward(ctx: Any, of_hiddens: Tensor | None, of_cells: Tensor | None) -> Any:
        acts, recurrence, hidden, cell, hiddens, cells, squashed = ctx.saved_tensors
        steps = _steps(ctx.sizes)
        size = hidden.shape[1]
        i, f, g, o = acts.chunk(4, 1)
        # All that does not depend on later steps, for all steps at once: how the gates i, f, g follow the cell
        # (dc), how the gate o and the cell follow the hidden state (dh).
        by_cell = torch.cat([g * i * (1 - i), _before(cell, cells, steps) * f * (1 - f), i * (1 - g * g)], 1)
        o_by_hidden = squashed * o * (1 - o)
        cell_by_hidden = o * (1 - squashed * squashed)
        of_gates = torch.empty_like(acts)
        of_h, of_c = torch.zeros_like(hidden), torch.zeros_like(cell)
        for start, end, rows in reversed(steps):
            dh, dc = of_h[:rows], of_c[:rows]
            if of_hiddens is not None:
                dh.add_(of_hiddens[start:end])
            if of_cells is not None:
                dc.add_(of_cells[start:end])
            dc.addcmul_(dh, cell_by_hidden[start:end])
            gate = of_gates[start:end].view(rows, 4, size)
            torch.mul(dc[:, None], by_cell[start:end].view(rows, 3, size), out=gate[:, :3])
            torch.mul(dh, o_by_hidden[start:end], out=gate[:, 3])
            dc.mul_(f[start:end])
            dh.copy_(of_gates[start:end].to(recurrence.dtype) @ recurrence)
        before = _before(hidden, hiddens, steps).to(recurrence.dtype)
        return of_gates, of_gates.to(recurrence.dtype).t() @ before, of_h, of_c, None


def _before(first: Tensor, states: Tensor, steps: Sequence[tuple[int, int, int]]) -> Tensor:
    """For each row of all steps, the state that it started from: [total, hidden]."""
    earlier = [states[start : start + rows] for (start, _, _), (_, _, rows) in pairwise(steps)]
    return torch.cat([first[: steps[0][2]], *earlier])
