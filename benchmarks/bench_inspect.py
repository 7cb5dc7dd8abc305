"""What an inspection costs: statistics of many steps, a tree of tensors beside reading it, a watched training step."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import _trees
from benchmarks._measure import Contender, fact, measured, run_and_show
from benchmarks._pages import printed
from harness.capture import read_tree
from harness.inspect import inspect
from harness.stats.printed import ATTRIBUTES, COLUMNS

#: a promise: CPU seconds and MB of 1,000 steps of 10,000 slots
SECONDS, MEGABYTES = 20, 500
_BASE = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape"


def write_statistics(path: Path, steps: int, slots: int, operands: int = 2) -> None:
    """A dump tree of rows of statistics: a chain of operators with so many inputs and a result."""
    rng = np.random.default_rng(0)
    items = list(ATTRIBUTES)
    head = ",".join([_BASE, *(COLUMNS[item] for item in items)]) + "\n"
    for step in range(steps):
        folder = path / "rank_0" / "Net" / "0" / str(step)
        folder.mkdir(parents=True)
        numbers = rng.normal(size=(slots, 4))
        lines = [head]
        for at in range(slots):
            number, slot = divmod(at, operands + 1)
            io, slot = ("output", 0) if slot == operands else ("input", slot)
            low, high, mean, norm = -abs(numbers[at, 0]), abs(numbers[at, 1]), numbers[at, 2] / 10, abs(numbers[at, 3])
            shown = {"max": high, "min": low, "avg": mean, "l2norm": norm * 32, "count": 1024}
            texts = ",".join(f"{shown.get(item, 0):.6g}" for item in items)
            where = f"{_trees.operator(number)},0,0,{1_700_000_000_000_000 + step * slots + at},{io},{slot}"
            lines.append(f'MatMul,{where},4096,float32,"[32,32]",{texts},\n')
        (folder / "statistic.csv").write_text("".join(lines))


_CODE = """
import sys, time
from harness.capture import read_tree
from harness.inspect import inspect
def memory(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) / 1000
before = memory("VmRSS")
start = time.process_time()
inspect(read_tree(sys.argv[1]))
print(time.process_time() - start, memory("VmHWM") - before)
"""


def statistics(directory: Path, steps: int = 1000, slots: int = 10_000) -> None:
    """Time and memory of an inspection of many steps of statistics, beside parsing one column of them."""
    tree = directory / "statistics"
    write_statistics(tree, steps, slots)
    done = subprocess.run([sys.executable, "-c", _CODE, str(tree)], capture_output=True, text=True, check=True)
    seconds, grown = (float(each) for each in done.stdout.split())
    files = sorted(tree.rglob("statistic.csv"))
    least = measured(lambda: [_one_column(file) for file in files])
    shutil.rmtree(tree)
    print(f"\nStatistics: {steps} steps of {slots} slots, {sum(1 for _ in files)} tables")
    fact("inspection", seconds, "CPU s", SECONDS)
    fact("beside splitting the lines and reading one number of each", seconds / least, "times")
    fact("memory", grown, "MB", MEGABYTES)


def _one_column(file: Path) -> float:
    return max(float(line.rsplit(b",", 9)[1]) for line in file.read_bytes().split(b"\n")[1:-1])


def tensors(directory: Path) -> None:
    """A tree of 200 MB."""
    tree = directory / "tensors"
    files = _trees.write_tree(tree, _trees.mixed(200_000_000))
    run_and_show(
        "A tree of 200 MB",
        [
            Contender("numpy.load and sum", lambda: [np.load(file).sum() for file in files]),
            Contender("read_tree, every value", lambda: [record.load() for record in read_tree(str(tree)).records()]),
            Contender("inspection", lambda: inspect(read_tree(str(tree))), 3),
        ],
        rounds=5,
    )


def watched() -> None:
    """A step of ResNet-18 in PyTorch, watched and not."""
    try:
        import torch
    except ImportError:
        print("\nA watched step: PyTorch is not installed")
        return
    from benchmarks._torch_nets import ResNet18
    from harness.inspect.torch_watch import watch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = ResNet18()
    optimizer = torch.optim.SGD(module.parameters(), 0.01)
    x, y = torch.randn(8, 3, 224, 224), torch.randint(0, 10, (8,))
    sentinel = watch(module)

    def step() -> None:
        optimizer.zero_grad()
        sentinel.loss(torch.nn.functional.cross_entropy(module(x), y)).backward()
        optimizer.step()

    def under_watch() -> None:
        with sentinel.step():
            step()

    run_and_show(
        "A step of ResNet-18 on 8 images of 224 x 224",
        [Contender("not watched", step), Contender("watched", under_watch, 1.02)],
        rounds=12,
    )


def main() -> None:
    """Prints the figures."""
    with tempfile.TemporaryDirectory() as folder:
        tensors(Path(folder))
        statistics(Path(folder))
    watched()


if __name__ == "__main__":
    raise SystemExit(printed("performance.md", "inspect", main))
