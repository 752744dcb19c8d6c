"""What a training step computes in on a GPU, seen without one.

PyTorch's fake tensors have a device and a type, but no values. The backward pass needs a real GPU; its types
follow from those of the forward pass.
"""

from collections import Counter
from copy import deepcopy
from dataclasses import fields, replace

import pytest
import torch
from small_bots import batch_of, bots, made_up
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from cooperation.bots.networks import Text
from cooperation.bots.updates import mixed_precision, teacher_forced


class FakeGpu(TorchDispatchMode):
    """Runs what is on the device `cuda` with fake tensors, all else as it is; counts types by operation.

    Lengths stay in main memory, as in training, so that shapes that follow from them are known.
    """

    def __init__(self):
        super().__init__()
        self.fake, self.types = FakeTensorMode(allow_non_fake_inputs=True), Counter()

    def __torch_dispatch__(self, operation, types, given=(), named=None):
        named = named or {}
        if operation is torch.ops.aten._pack_padded_sequence.default:
            data, lengths, _ = given
            sizes = operation(torch.zeros(len(lengths), int(lengths.max())), lengths, True)[1]
            done = self.empty((int(lengths.sum()), *data.shape[2:]), data.dtype), sizes
        elif any(map(on_gpu, tree_leaves((given, named)))):
            given, named = tree_map(self.faked, (given, named))
            with self.fake:
                done = operation(*given, **named)
        else:
            done = operation(*given, **named)
        tensors = (leaf for leaf in tree_leaves((given, done)) if isinstance(leaf, FakeTensor))
        self.types.update((str(operation), tensor.dtype) for tensor in tensors if on_gpu(tensor))
        return done

    def empty(self, shape, kind):
        with self.fake:
            return torch.empty(shape, dtype=kind, device="cuda")

    def faked(self, value):
        real = isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor)
        return self.fake.from_tensor(value) if real else value

    def move(self, value):
        """A module or text or tensor, on the GPU."""
        if isinstance(value, Text):
            return Text(self.move(value.tokens), value.lengths)
        if isinstance(value, torch.nn.Module):
            moved = deepcopy(value)
            for module in moved.modules():
                for name, weight in module._parameters.items():
                    if weight is not None:
                        module._parameters[name] = torch.nn.Parameter(self.move(weight))
            return moved
        return self.empty(value.shape, value.dtype)


def on_gpu(value):
    device = value.device if isinstance(value, FakeTensor) else value
    return isinstance(device, torch.device) and device.type == "cuda"


@pytest.fixture
def gpu(monkeypatch):
    """A fake GPU; its `lstms` count the calls of stock LSTMs: whether autocast was on, and the types of the inputs."""
    torch._C._ensureCUDADeviceGuardSet()
    monkeypatch.setattr(torch.cuda, "_lazy_init", lambda: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_, **__: True)
    monkeypatch.setattr(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False)
    # Choosing cuDNN asks the driver.
    monkeypatch.setattr(torch.backends.cudnn, "enabled", False)
    fake, lstm = FakeGpu(), torch.lstm
    fake.lstms = Counter()

    def seen(*given):
        kinds = {leaf.dtype for leaf in tree_leaves(given) if isinstance(leaf, torch.Tensor) and on_gpu(leaf)}
        fake.lstms[torch.is_autocast_enabled("cuda"), frozenset(kinds)] += 1
        return lstm(*given)

    for module in (torch, torch._VF):
        monkeypatch.setattr(module, "lstm", seen, raising=False)
    return fake


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_nothing_is_float16_on_a_gpu(gpu, precision):
    batch, pair = batch_of(*made_up(8)), [gpu.move(bot) for bot in bots("fast")]
    batch = replace(batch, **{field.name: gpu.move(getattr(batch, field.name)) for field in fields(batch)})
    with gpu, mixed_precision(precision, batch):
        losses = teacher_forced(*pair, batch)
    assert {(loss.device.type, loss.dtype) for loss in losses.values()} == {("cuda", torch.float32)}
    kinds = {kind for _, kind in gpu.types}
    assert {kind for kind in kinds if kind.is_floating_point} == {torch.float32, getattr(torch, precision)}
    # Under autocast the stock LSTM would be cast to float16, whatever else is asked for. Three encoders, two decoders.
    assert gpu.lstms == {(False, frozenset({getattr(torch, precision)})): 5}
