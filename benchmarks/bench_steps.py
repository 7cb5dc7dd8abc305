"""Training steps of whole networks, beside the real MindSpore and another version: ``python -m benchmarks steps``.

CPU seconds of the second step, one thread each. The real one runs where ``MSDUMP_INTEROP_MINDSPORE`` names a Python
that has it; ``MSDUMP_BENCH_BEFORE`` names a checkout of another version, which runs in this Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("_step_nets.py")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: of the real one's CPU seconds
GOAL = 0.5
#: networks of ``_step_nets``
NAMES = ("lstm", "resnet18", "alexnet")


def seconds(python: str, package: str, name: str, path: str) -> float:
    """CPU seconds of one step of the network ``name``."""
    environ = os.environ | ONE_THREAD | {"PYTHONPATH": path, "GLOG_v": "3"}
    done = subprocess.run(
        [python, str(PROGRAM), package, name], env=environ, capture_output=True, text=True, check=True, cwd="/"
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    real, before = (os.environ.get(name) for name in ("MSDUMP_INTEROP_MINDSPORE", "MSDUMP_BENCH_BEFORE"))
    print(f"{'one training step, CPU s':<26}{'here':>8}{'before':>8}{'real':>8}{'over real':>11}  goal {GOAL}")
    for name in NAMES:
        here = seconds(sys.executable, "harness", name, str(PROGRAM.parents[1]))
        other = seconds(sys.executable, "harness", name, before) if before else None
        beside = seconds(real, "mindspore", name, "") if real else None
        cells = ["-" if v is None else f"{v:.2f}" for v in (here, other, beside, here / beside if beside else None)]
        print(f"{name:<26}{cells[0]:>8}{cells[1]:>8}{cells[2]:>8}{cells[3]:>11}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
