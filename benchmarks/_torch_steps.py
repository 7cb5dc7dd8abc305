"""Trainings that are measured: a step each. Run by a Python that has msprobe, it measures msprobe.

``python _torch_steps.py NETWORK ROUNDS`` prints CPU seconds of a step alone, and inside msprobe's level L1, with
statistics and with md5.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks._measure import Contender, race
from benchmarks._torch_nets import Bert, ResNet18, VisionTransformer, perceptron

#: what is measured
Training = tuple[nn.Module, Callable[[], None]]


def _training(module: nn.Module, optimizer: torch.optim.Optimizer, given: Tensor, wanted: Tensor) -> Training:
    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(module(given).flatten(0, -2), wanted.flatten()).backward()
        optimizer.step()

    return module, step


def resnet18() -> Training:
    """Images [8, 3, 224, 224], SGD with momentum."""
    module = ResNet18()
    sgd = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
    return _training(module, sgd, torch.randn(8, 3, 224, 224), torch.randint(10, (8,)))


def bert() -> Training:
    """4 layers of 256, 16 texts of 128 words, AdamW."""
    module, ids = Bert(), torch.randint(1000, (16, 128))
    return _training(module, torch.optim.AdamW(module.parameters()), ids, ids)


def vit() -> Training:
    """4 layers of 128, images [8, 3, 64, 64], AdamW."""
    module = VisionTransformer()
    adam = torch.optim.AdamW(module.parameters())
    return _training(module, adam, torch.randn(8, 3, 64, 64), torch.randint(10, (8,)))


def mlp() -> Training:
    """Three dense layers, [16, 32], Adam."""
    module = perceptron()
    return _training(module, torch.optim.Adam(module.parameters()), torch.randn(16, 32), torch.randint(10, (16,)))


#: the trainings, by name, with the steps of a round
TRAININGS: dict[str, tuple[Callable[[], Training], int]] = {
    "ResNet-18": (resnet18, 1), "BERT": (bert, 1), "ViT": (vit, 4), "MLP": (mlp, 20),
}  # fmt: skip


def trained(name: str) -> tuple[nn.Module, Callable[[], None], int]:
    """A training after its first step: the module, a step, and the steps of a round."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    made, count = TRAININGS[name]
    module, step = made()
    step()
    return module, step, count


def msprobe(module: nn.Module, step: Callable[[], None], count: int, folder: Path, options: dict[str, Any]) -> Any:
    """What runs ``count`` steps inside of msprobe."""
    from msprobe.pytorch import PrecisionDebugger

    config = {"task": "statistics", "dump_path": str(folder), "rank": [], "step": [], "level": "L1"}
    path = folder.with_suffix(".json")
    path.write_text(json.dumps({**config, "statistics": options}), encoding="utf-8")
    debugger = PrecisionDebugger(config_path=str(path))

    def run() -> None:
        for _ in range(count):
            debugger.start(model=module)
            step()
            debugger.stop()
            debugger.step()

    return run


def main(name: str, rounds: int, options: str) -> None:
    """Prints CPU seconds of a step alone and inside of msprobe: one setting a process, which keeps it."""
    module, step, count = trained(name)
    with tempfile.TemporaryDirectory() as folder:
        plain = Contender("alone", lambda: [step() for _ in range(count)])
        watched = Contender("msprobe", msprobe(module, step, count, Path(folder) / "out", json.loads(options)))
        print(*(seconds / count for seconds in race([plain], rounds) + race([watched], rounds)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
