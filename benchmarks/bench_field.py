"""A ``dump.json`` of 100,000 entries with one slot that differs: ``python -m benchmarks field``.

Compared by ``msdump diff``, and in the same run by msprobe's own ``compare`` where ``MSDUMP_INTEROP_TORCH_MSPROBE``
names a Python that has it (``tests/interop/oracles.py`` makes one): CPU seconds and peak memory of the whole command.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ENTRIES, SEED, ROUNDS = 100_000, 1, 3
GOAL_SECONDS, GOAL_MEGABYTES = 5.0, 500.0
_KINDS = ("linear", "layer_norm", "gelu", "matmul", "add", "softmax", "dropout", "mul")
_ORACLE = "MSDUMP_INTEROP_TORCH_MSPROBE"
_COMPARE = "import sys; from msprobe.msprobe import main; sys.argv = ['msprobe', 'compare', *sys.argv[1:]]; main()"


def tensor(draw: random.Random) -> dict[str, Any]:
    """A tensor as msprobe describes it."""
    return {
        "type": "torch.Tensor", "dtype": "torch.bfloat16", "shape": [8, 128, draw.choice([64, 256])],
        "Max": draw.gauss(3, 1), "Min": draw.gauss(-3, 1), "Mean": draw.gauss(0, 0.1), "Norm": draw.gauss(100, 9),
        "requires_grad": draw.random() < 0.5,
    }  # fmt: skip


def write(root: Path, entries: int, changed: int | None) -> None:
    """Writes a dump of functions with one input and one output each; the largest of output ``changed`` is 0.5 more."""
    draw, data = random.Random(SEED), {}
    lines: dict[str, Any] = {}
    for at in range(entries):
        kind = _KINDS[at % len(_KINDS)]
        entry: dict[str, Any] = {"input_args": [tensor(draw)], "input_kwargs": {}, "output": [tensor(draw)]}
        if kind in ("layer_norm", "dropout"):
            entry["input_args"].append({"type": "float", "value": 1e-5})
        if at == changed:
            entry["output"][0]["Max"] += 0.5
        name = f"Functional.{kind}.{at // len(_KINDS)}.forward"
        data[name] = entry
        lines[str(at)] = [[name], [f"File model.py, line {at % 500 + 1}, in forward, \n self.block()"]]
    folder = root / "step0" / "rank0"
    folder.mkdir(parents=True)
    head = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None}
    (folder / "dump.json").write_text(json.dumps({**head, "data": data}, indent=1))
    (folder / "stack.json").write_text(json.dumps(lines, indent=1))
    (folder / "construct.json").write_text(json.dumps(dict.fromkeys(data)))


def spent(command: list[str]) -> tuple[int, float, float]:
    """Exit status, CPU seconds and peak megabytes of a command."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> int:
    """Prints both figures; 1 if a goal is missed or the difference is not seen."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        # In a process of its own: a new one begins with the memory of the one that starts it.
        code = "import pathlib, sys; from benchmarks.bench_field import *; root = pathlib.Path(sys.argv[1])"
        code += "; write(root / 'a', ENTRIES, None); write(root / 'b', ENTRIES, ENTRIES // 2)"
        subprocess.run([sys.executable, "-c", code, made], check=True)
        ours = [sys.executable, "-m", "harness.cli", "diff", str(root / "a"), str(root / "b")]
        commands = {"msdump diff": ours}
        if python := os.environ.get(_ORACLE):
            places = (str(root / each / "step0" / "rank0" / "dump.json") for each in "ba")
            told = ["-tp", next(places), "-gp", next(places), "-o", str(root / "out")]
            commands["msprobe compare"] = [python, "-c", _COMPARE, *told]
        best: dict[str, tuple[int, float, float]] = {}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                best[name] = min(best.get(name, (1, float("inf"), 0.0)), spent(command), key=lambda each: each[1])
    print(f"{ENTRIES} entries, one slot of them differs; best of {ROUNDS} rounds, whole commands")
    for name, (code, seconds, megabytes) in best.items():
        print(f"  {name:16} {seconds:7.2f} CPU s {megabytes:8.0f} MB   exit code {code}")
    code, seconds, megabytes = best["msdump diff"]
    good = code == 1 and seconds <= GOAL_SECONDS and megabytes <= GOAL_MEGABYTES
    print(f"  goal: {GOAL_SECONDS:g} CPU s and {GOAL_MEGABYTES:g} MB: {'ok' if good else 'MISSED'}")
    return int(not good)


if __name__ == "__main__":
    raise SystemExit(main())
