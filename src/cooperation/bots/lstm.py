"""An LSTM layer over many messages at once whose backward pass is written by hand.

Stock `nn.LSTM` on a CPU differentiates every time step on its own and adds up a whole weight gradient each time; here
a step costs one matrix product and a few fused operations, and all weight gradients are one product at the end.
All steps stand one below the other ("total" rows). A row goes on from any row of the step before, and several may go
on from the same: messages that begin alike share their first steps.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

_sigmoid_backward = torch.ops.aten.sigmoid_backward
_tanh_backward = torch.ops.aten.tanh_backward


class Step(NamedTuple):
    """One time step: its rows start … end − 1, and which row of the step before each of them goes on from."""

    start: int
    end: int
    earlier: slice | Tensor


class Layer(torch.autograd.Function):
    """One layer: the input's share of the gates [total, 4·hidden], order i, f, g, o → hidden and cell states.

    gates: overwritten, for they are large: nothing else may use them, nor may what made them need its result.
    recurrence: hidden weights [4·hidden, hidden]; hidden, cell: states before the first step [rows, hidden]. Matrix
    products are made in the recurrence's type (float32, or bfloat16 to be fast), all else in the gates'.
    """

    @staticmethod
    def forward(
        ctx: Any, gates: Tensor, recurrence: Tensor, hidden: Tensor, cell: Tensor, steps: Sequence[Step]
    ) -> Any:
        size = hidden.shape[1]
        hiddens, cells, squashed = (gates.new_empty(len(gates), size) for _ in range(3))
        h, c = hidden, cell
        across = recurrence.t()
        for start, end, earlier in steps:
            gate = gates[start:end]
            if across.dtype == gate.dtype:
                gate.addmm_(h[earlier], across)
            else:
                gate.add_(h[earlier].to(across.dtype) @ across)
            gate[:, : 2 * size].sigmoid_()
            gate[:, 2 * size : 3 * size].tanh_()
            gate[:, 3 * size :].sigmoid_()
            i, f, g, o = gate.chunk(4, 1)
            c = torch.mul(f, c[earlier], out=cells[start:end]).addcmul_(i, g)
            h = torch.mul(o, torch.tanh(c, out=squashed[start:end]), out=hiddens[start:end])
        ctx.save_for_backward(gates, recurrence, hidden, cell, hiddens, cells, squashed)
        ctx.steps = steps
        ctx.set_materialize_grads(False)
        return hiddens, cells

    @staticmethod
    def backward(ctx: Any, of_hiddens: Tensor | None, of_cells: Tensor | None) -> Any:
        gates, recurrence, hidden, cell, hiddens, cells, squashed = ctx.saved_tensors
        steps = ctx.steps
        size = hidden.shape[1]
        i, f, g, o = gates.chunk(4, 1)
        # First all that does not depend on later steps, for all steps at once: how the gates i, f, g follow the cell,
        # how the gate o and the cell follow the hidden state. Later steps' gradients are multiplied in, step by step.
        of_gates = gates.new_empty(len(gates), 4, size)
        _sigmoid_backward.grad_input(g, i, grad_input=of_gates[:, 0])
        _sigmoid_backward.grad_input(_before(cell, cells, steps), f, grad_input=of_gates[:, 1])
        _tanh_backward.grad_input(i, g, grad_input=of_gates[:, 2])
        _sigmoid_backward.grad_input(squashed, o, grad_input=of_gates[:, 3])
        cell_by_hidden = _tanh_backward(o, squashed)
        of_h, of_c = (hidden.new_zeros(steps[-1].end - steps[-1].start, size) for _ in range(2))
        rows_before = [len(hidden), *(end - start for start, end, _ in steps[:-1])]
        for (start, end, earlier), rows in zip(reversed(steps), reversed(rows_before), strict=True):
            if of_hiddens is not None:
                of_h.add_(of_hiddens[start:end])
            if of_cells is not None:
                of_c.add_(of_cells[start:end])
            of_c.addcmul_(of_h, cell_by_hidden[start:end])
            of_gates[start:end, :3].mul_(of_c[:, None])
            of_gates[start:end, 3].mul_(of_h)
            of_c = _to_earlier(of_c.mul_(f[start:end]), earlier, rows)
            back = of_gates[start:end].flatten(1).to(recurrence.dtype) @ recurrence
            of_h = _to_earlier(back.to(hidden.dtype), earlier, rows)
        flat = of_gates.flatten(1)
        states = _before(hidden, hiddens, steps).to(recurrence.dtype)
        return flat, flat.to(recurrence.dtype).t() @ states, of_h, of_c, None


def _before(first: Tensor, states: Tensor, steps: Sequence[Step]) -> Tensor:
    """For each row of all steps, the state that it went on from: [total, hidden]."""
    before = [first, *(states[start:end] for start, end, _ in steps[:-1])]
    return torch.cat([rows[step.earlier] for rows, step in zip(before, steps, strict=True)])


def _to_earlier(gradient: Tensor, earlier: slice | Tensor, rows: int) -> Tensor:
    """The gradient of a step's rows, summed over those that go on from the same of the `rows` rows before."""
    if isinstance(earlier, Tensor):
        return gradient.new_zeros(rows, gradient.shape[1]).index_add_(0, earlier, gradient)
    rest = rows - len(gradient)
    return torch.cat([gradient, gradient.new_zeros(rest, gradient.shape[1])]) if rest else gradient
