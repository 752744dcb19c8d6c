"""An LSTM layer over packed sequences whose backward pass is written by hand.

Stock `nn.LSTM` on a CPU differentiates every time step on its own and adds up a whole weight gradient each time; here
a step costs one matrix product and a few fused operations, and all weight gradients are one product at the end.
Rows are packed as by `torch.nn.utils.rnn.pack_padded_sequence`: time step t holds the first sizes[t] rows, sorted by
length, and all steps stand one below the other ("total" rows).
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def _steps(sizes: Sequence[int]) -> list[tuple[int, int, int]]:
    """First row, end and number of rows of each time step."""
    return [(end - size, end, size) for end, size in zip(accumulate(sizes), sizes, strict=True)]


class Layer(torch.autograd.Function):
    """One layer: the input's share of the gates [total, 4·hidden], order i, f, g, o → hidden and cell states.

    recurrence: hidden weights [4·hidden, hidden]; hidden, cell: states before the first step [rows, hidden].
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
            torch.addmm(gates[start:end], h[:rows], across, out=act)
            act[:, : 2 * size].sigmoid_()
            act[:, 2 * size : 3 * size].tanh_()
            act[:, 3 * size :].sigmoid_()
            i, f, g, o = act.chunk(4, 1)
            c = torch.mul(f, c[:rows], out=cells[start:end]).addcmul_(i, g)
            h = torch.mul(o, torch.tanh(c, out=squashed[start:end]), out=hiddens[start:end])
        ctx.save_for_backward(acts, recurrence, hidden, cell, hiddens, cells, squashed)
        ctx.sizes = sizes
        return hiddens, cells

    @staticmethod
    def backward(ctx: Any, of_hiddens: Tensor, of_cells: Tensor) -> Any:
        acts, recurrence, hidden, cell, hiddens, cells, squashed = ctx.saved_tensors
        of_gates = torch.empty_like(acts)
        before = torch.empty_like(hiddens)
        of_h, of_c = torch.zeros_like(hidden), torch.zeros_like(cell)
        steps = _steps(ctx.sizes)
        for at in range(len(steps) - 1, -1, -1):
            start, end, rows = steps[at]
            earlier = steps[at - 1][0]
            h_before, c_before = (hiddens[earlier:], cells[earlier:]) if at else (hidden, cell)
            before[start:end] = h_before[:rows]
            i, f, g, o = acts[start:end].chunk(4, 1)
            of_i, of_f, of_g, of_o = of_gates[start:end].chunk(4, 1)
            tanh = squashed[start:end]
            dh = of_h[:rows].add_(of_hiddens[start:end])
            aten.sigmoid_backward.grad_input(dh * tanh, o, grad_input=of_o)
            dc = of_c[:rows].add_(of_cells[start:end]).add_(aten.tanh_backward(dh * o, tanh))
            aten.sigmoid_backward.grad_input(dc * g, i, grad_input=of_i)
            aten.sigmoid_backward.grad_input(dc * c_before[:rows], f, grad_input=of_f)
            aten.tanh_backward.grad_input(dc * i, g, grad_input=of_g)
            dc.mul_(f)
            torch.mm(of_gates[start:end], recurrence, out=dh)
        return of_gates, of_gates.t() @ before, of_h, of_c, None
