"""Training steps of PyTorch modules on a device: how much its numbers differ from the CPU's, and the cost of a
capture."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks._pages import Table
from benchmarks._torch_nets import Bert, Block
from harness.capture.torch import TorchCapture
from harness.compare import Verdict, check

PRECISIONS = ("float32", "TF32", "bfloat16")
#: a tolerance each, relative: what 24, 11 and 8 bits of a mantissa leave after a step
_TOLERANCES = {"float32": 1e-3, "TF32": 3e-2, "bfloat16": 2e-1}


class Images(nn.Module):
    """Two residual blocks over images, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Block(3, 32, 1), Block(32, 64, 2))
        self.fc = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.blocks(x).mean((2, 3)))


def images(device: str) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """A convolutional module, its data [8, 3, 32, 32] and classes, the same on every device."""
    torch.manual_seed(0)
    module, given, wanted = Images(), torch.randn(8, 3, 32, 32), torch.randint(10, (8,))
    return module.to(device), given.to(device), wanted.to(device)


def words(device: str) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """A small BERT encoder and ids [4, 32], the same on every device."""
    torch.manual_seed(0)
    module, ids = Bert(words=200, length=32, width=64, layers=2, heads=2), torch.randint(200, (4, 32))
    return OnDevice(module).to(device), ids.to(device), ids.to(device)


class OnDevice(nn.Module):
    """A module whose constants are made on the device of its data."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with x.device:
            return self.inner(x)


NETWORKS: dict[str, Callable[[str], tuple[nn.Module, torch.Tensor, torch.Tensor]]] = {
    "residual blocks": images, "BERT encoder": words,
}  # fmt: skip


def described(device: str) -> str:
    """The device and the releases, in words."""
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "a CPU"
    return f"{name}, PyTorch {torch.__version__}, CUDA {torch.version.cuda or 'none'}"


@contextmanager
def precision(name: str, device: str) -> Iterator[None]:
    """One of ``PRECISIONS``; what was set before is set again after it."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    matmul.allow_tf32 = cudnn.allow_tf32 = name == "TF32"
    kind = torch.device(device).type
    try:
        with torch.autocast(kind, torch.bfloat16) if name == "bfloat16" else nullcontext():
            yield
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = before


def train(
    module: nn.Module, given: torch.Tensor, wanted: torch.Tensor, step: Callable[[], AbstractContextManager[Any]]
) -> None:
    """One step, inside of what ``step`` gives."""
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
    with step():
        optimizer.zero_grad()
        F.cross_entropy(module(given).flatten(0, -2), wanted.flatten()).backward()
        optimizer.step()


def captured(network: str, device: str, name: str, mode: str = "tensor") -> Any:
    """The capture of one step."""
    module, given, wanted = NETWORKS[network](device)
    watch = TorchCapture(module, mode=mode)
    with precision(name, device):
        train(module, given, wanted, watch.step)
    return watch.capture()


def agreement(device: str) -> Table:
    """How many slots of a step agree with the CPU's float32, and with a second run on the device."""
    rows = []
    for network in NETWORKS:
        golden = captured(network, "cpu", "float32")
        for name in PRECISIONS:
            found, again = (captured(network, device, name) for _ in range(2))
            judged = check(golden, found, (_TOLERANCES[name], _TOLERANCES[name]), order=False).counts
            same = check(found, again, "exact").counts
            holds = judged[Verdict.IDENTICAL] + judged[Verdict.WITHIN]
            rows.append(
                (
                    network, name, str(sum(judged.values())), f"{_TOLERANCES[name]:g}", str(holds),
                    str(judged[Verdict.DIFFERS]), str(judged[Verdict.MISSING] + judged[Verdict.UNEXPECTED]),
                    f"{same[Verdict.IDENTICAL]} of {sum(same.values())}",
                )
            )  # fmt: skip
    head = (
        "network",
        "precision",
        "slots",
        "tolerance",
        "within",
        "beyond",
        "of one side",
        "same bits in a second run",
    )
    return Table("A step on the device against the CPU's in float32", head, tuple(rows))


def costs(device: str, rounds: int) -> Table:
    """Time and peak memory of a step without a capture, with one that keeps statistics, and one that keeps values."""
    rows = []
    for network in NETWORKS:
        for name in PRECISIONS:
            costs = [_cost(network, device, name, mode, rounds) for mode in (None, "statistic", "tensor")]
            plain = costs[0][0]
            times = [f"{plain * 1e3:.1f} ms", *(f"{seconds / plain:.2f}" for seconds, _ in costs[1:])]
            rows.append((network, name, *times, *(_mib(peak) for _, peak in costs)))
    head = (
        "network", "precision", "step", "with statistics, times", "with values, times", "peak memory",
        "with statistics", "with values",
    )  # fmt: skip
    return Table("What a capture costs", head, tuple(rows))


def _cost(network: str, device: str, name: str, mode: str | None, rounds: int) -> tuple[float, int | None]:
    """Seconds of a step (the median of some), and the bytes its device held at most; None for a CPU."""
    module, given, wanted = NETWORKS[network](device)
    is_cuda, spent = device.startswith("cuda"), []
    with precision(name, device):
        for _ in range(rounds):
            step: Callable[[], AbstractContextManager[Any]]
            step = nullcontext if mode is None else TorchCapture(module, mode=mode).step
            if is_cuda:
                torch.cuda.synchronize(device)
                torch.cuda.reset_peak_memory_stats(device)
            before = time.perf_counter()
            train(module, given, wanted, step)
            if is_cuda:
                torch.cuda.synchronize(device)
            spent.append(time.perf_counter() - before)
    return statistics.median(spent), torch.cuda.max_memory_allocated(device) if is_cuda else None


def _mib(count: int | None) -> str:
    return "-" if count is None else f"{count / 2**20:.1f} MiB"
