"""What capturing PyTorch costs: ``python -m benchmarks.bench_torch [ROUNDS]`` (extra ``torch``).

A training step, captured and alone, in turns, in CPU seconds of one thread, because the waiting of a second one would
count as work; beside PyTorch's DebugMode, hooks of modules written by hand, an empty dispatch mode (what PyTorch itself
takes to show its operators to anybody), and msprobe where ``MSDUMP_INTEROP_TORCH_MSPROBE`` names a Python that has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils._debug_mode import DebugMode
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks._measure import Contender, race
from benchmarks._pages import put
from benchmarks._torch_steps import TRAININGS, trained
from harness.capture.torch import TorchCapture

#: the largest ratio to a bare step: of large networks, and of those with a million parameters or fewer
GOALS = {
    "statistics of all operators": (1.3, 2.5),
    "values": (2.5, 2.5),
    "modules": (1.1, 1.1),
    "sentinel": (1.02,) * 2,
}
SMALL = 1_000_000
PROGRAM = Path(__file__).with_name("_torch_steps.py")
MSPROBE = {
    "msprobe L1, statistics": '{"summary_mode": "statistics"}', "msprobe L1, md5": '{"summary_mode": "md5"}',
}  # fmt: skip


class Empty(TorchDispatchMode):
    """Passes each operator on."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def hooked(module: torch.nn.Module) -> Iterator[None]:
    """Hooks as people write them: four numbers of what each module gives."""
    seen = []

    def note(_module: Any, _given: Any, made: Any) -> None:
        if isinstance(made, torch.Tensor):
            plain = made.detach()
            seen.append([each.item() for each in (plain.min(), plain.max(), plain.mean(), plain.norm())])

    hooks = [each.register_forward_hook(note) for each in module.modules()]
    yield
    for each in hooks:
        each.remove()


def contenders(module: torch.nn.Module, step: Callable[[], None], count: int) -> list[Contender]:
    """The same steps alone, and watched."""

    def run(inside: Callable[[], Any]) -> None:
        for _ in range(count):
            with inside():
                step()

    def captured(**settings: Any) -> None:
        run(TorchCapture(module, paths=True, gradients=True, **settings).step)

    return [
        Contender("alone", lambda: [step() for _ in range(count)]),
        Contender("statistics of all operators", partial(captured, mode="statistic")),
        Contender("values", captured),
        Contender("modules", partial(captured, granularity="modules")),
        Contender("sentinel", partial(captured, granularity="sentinel")),
        Contender("nothing selected", partial(captured, select=())),
        Contender("an empty dispatch mode", partial(run, Empty)),
        Contender("DebugMode", partial(run, DebugMode)),
        Contender("hooks by hand", partial(run, partial(hooked, module))),
    ]


def beside(name: str, rounds: int, options: str) -> str:
    """msprobe's ratio to the same step in its own process; ``-`` where it is not installed."""
    python = os.environ.get("MSDUMP_INTEROP_TORCH_MSPROBE")
    if python is None:
        return "-"
    done = subprocess.run(
        [python, str(PROGRAM), name, str(rounds), options], capture_output=True, text=True, check=True
    )
    alone, watched = map(float, done.stdout.splitlines()[-1].split())
    return f"{watched / alone:.2f}"


def main() -> int:
    """Prints the table and writes it to ``docs/performance.md``."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    columns: dict[str, list[str]] = {}
    for name in TRAININGS:
        module, step, count = trained(name)
        small = sum(each.numel() for each in module.parameters()) <= SMALL
        raced = contenders(module, step, count)
        seconds = race(raced, rounds)
        columns.setdefault("a step alone, ms", []).append(f"{seconds[0] / count * 1e3:.2f}")
        for each, spent in zip(raced[1:], seconds[1:], strict=True):
            ratio, goal = spent / seconds[0], GOALS.get(each.name, (0.0, 0.0))[small]
            said = f" (goal {goal:g}: missed)" if goal and ratio > goal else f" (goal {goal:g})" if goal else ""
            columns.setdefault(each.name, []).append(f"{ratio:.2f}{said}")
        for title, options in MSPROBE.items():
            columns.setdefault(title, []).append(beside(name, rounds, options))
        print(name, *(f"{title}: {cells[-1]}" for title, cells in columns.items()), sep="\n  ", flush=True)
    lines = ["| times a step alone | " + " | ".join(TRAININGS) + " |", "|---" * (len(TRAININGS) + 1) + "|"]
    lines += [f"| {title} | " + " | ".join(cells) + " |" for title, cells in columns.items()]
    return 0 if put("performance.md", "torch", "\n".join(lines) + "\n") else 1


if __name__ == "__main__":
    sys.exit(main())
