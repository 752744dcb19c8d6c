"""An LSTM layer over many messages at once whose backward pass is written by hand.

Stock `nn.LSTM` on a CPU differentiates every time step on its own and adds a whole weight gradient each time; here a
step costs one matrix product and a few fused operations, and all weight gradients are one product at the end.

All time steps stand one below the other, T rows in all. A row continues any row of the step before it, and several
may continue the same one: messages with a common prefix share its steps.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

_sigmoid_backward = torch.ops.aten.sigmoid_backward
_tanh_backward = torch.ops.aten.tanh_backward


class Step(NamedTuple):
    """One time step: its rows start … end − 1, and which row of the step before each of them continues."""

    start: int
    end: int
    earlier: slice | Tensor


class Layer(torch.autograd.Function):
    """One LSTM layer: the input's part of the gates [T, 4H], order i, f, g, o → hidden and cell states [T, H].

    Called as `Layer.apply(gates, recurrence, hidden, cell, steps)`:
    gates: are overwritten, for they are large; nothing else may use them, nor may the operation that made them need its
    result for its own gradient. recurrence: hidden weights [4H, H]. hidden, cell: states before the first step [N, H].
    Matrix products are computed in the recurrence's type (float32, or bfloat16 for speed), all else in the gates'.
    """

    @staticmethod
    def forward(
        ctx: Any, gates: Tensor, recurrence: Tensor, hidden: Tensor, cell: Tensor, steps: Sequence[Step]
    ) -> Any:
        """Step by step: c = f·c' + i·g and h = o·tanh(c), where c' is the cell state that a row continues."""
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
        """Gradients of gates, recurrence, hidden and cell, from those of all hidden and cell states [T, H].

        `of_x` is the loss's gradient with respect to x.
        """
        gates, recurrence, hidden, cell, hiddens, cells, squashed = ctx.saved_tensors
        steps = ctx.steps
        size = hidden.shape[1]
        i, f, g, o = gates.chunk(4, 1)
        # First, for all steps at once, the derivatives that do not depend on later steps: of the cell by the gates
        # i, f, g, and of the hidden state by the gate o and the cell. The loop multiplies in later steps' gradients.
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
    """For each row of all steps, the state that it continues: [T, H]."""
    before = [first, *(states[start:end] for start, end, _ in steps[:-1])]
    return torch.cat([rows[step.earlier] for rows, step in zip(before, steps, strict=True)])


def _to_earlier(gradient: Tensor, earlier: slice | Tensor, rows: int) -> Tensor:
    """A step's gradient, summed over the rows that continue the same one of the `rows` rows before it: [rows, H]."""
    if isinstance(earlier, Tensor):
        return gradient.new_zeros(rows, gradient.shape[1]).index_add_(0, earlier, gradient)
    rest = rows - len(gradient)
    return torch.cat([gradient, gradient.new_zeros(rest, gradient.shape[1])]) if rest else gradient
