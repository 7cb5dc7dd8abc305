"""What capturing PyTorch costs: ``python -m benchmarks.bench_torch`` (extra ``torch``).

Three training steps of a ResNet-18 (images [8, 3, 224, 224], SGD with momentum) and of a small BERT encoder (4 layers
of 256, 16 x 128 tokens, AdamW), in turns without a capture, with one that selects nothing, and with one that keeps
statistics of all operators. One thread, because the waiting of a second one would count as work.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks._measure import Contender, run_and_show
from benchmarks._torch_nets import Bert, ResNet18
from harness.capture.torch import TorchCapture

STEPS = 3


def train(
    module: nn.Module, optimizer: torch.optim.Optimizer, given: Tensor, wanted: Tensor, step: Callable[[], Any]
) -> None:
    """Three steps, each inside of what ``step`` gives."""
    for _ in range(STEPS):
        with step():
            optimizer.zero_grad()
            F.cross_entropy(module(given).flatten(0, -2), wanted.flatten()).backward()
            optimizer.step()


def contenders(module: nn.Module, optimizer: torch.optim.Optimizer, given: Tensor, wanted: Tensor) -> list[Contender]:
    """The same training without a capture, and with two."""

    def run(**settings: Any) -> None:
        train(module, optimizer, given, wanted, TorchCapture(module, mode="statistic", **settings).step)

    def plain() -> None:
        nothing: Callable[[], AbstractContextManager[None]] = nullcontext
        train(module, optimizer, given, wanted, nothing)

    return [
        Contender("no capture", plain),
        Contender("nothing selected", partial(run, select=()), goal=1.02),
        Contender("no name matches", partial(run, select="Default/none"), goal=1.02),
        Contender("statistics", run, goal=1.5),
    ]


def main() -> None:
    """Prints a table for each network."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    resnet = ResNet18()
    sgd = torch.optim.SGD(resnet.parameters(), lr=0.01, momentum=0.9)
    images, classes = torch.randn(8, 3, 224, 224), torch.randint(10, (8,))
    run_and_show("ResNet-18, three steps", contenders(resnet, sgd, images, classes))
    bert = Bert()
    adam = torch.optim.AdamW(bert.parameters())
    ids = torch.randint(1000, (16, 128))
    run_and_show("BERT encoder, three steps", contenders(bert, adam, ids, ids))


if __name__ == "__main__":
    main()
