"""Training steps of whole networks, beside the real MindSpore and another version: ``python -m benchmarks steps``.

CPU seconds of the second step, one thread each, and of the third how much the BLAS took. The real one runs where
``MSDUMP_INTEROP_MINDSPORE`` names a Python that has it; ``MSDUMP_BENCH_BEFORE`` names a checkout of another version,
which runs in this Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks._pages import put

PROGRAM = Path(__file__).with_name("_step_nets.py")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: of the real one's CPU seconds
GOAL = 0.5
#: networks of ``_step_nets``, as the table calls them
NAMES = {
    "convolutions": "three convolutions, 8 images of 32 x 32",
    "resnet18": "ResNet-18, 4 images of 64 x 64",
    "unet": "U-Net, 2 images of 64 x 64",
    "bert": "BERT-small, 4 texts of 64 words",
    "lstm": "two layers of LSTM, 16 x 32 x 128",
    "alexnet": "AlexNet, 2 images of 227 x 227",
}
#: seconds after which a process is given up
LONGEST = 600


def seconds(python: str, package: str, name: str, path: str) -> tuple[float, float] | None:
    """CPU seconds of one step of the network ``name``, and those within the BLAS; None where it did not end."""
    environ = os.environ | ONE_THREAD | {"PYTHONPATH": path, "GLOG_v": "3"}
    command = [python, str(PROGRAM), package, name]
    try:
        done = subprocess.run(
            command, env=environ, capture_output=True, text=True, check=True, cwd="/", timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return None
    step, blas = done.stdout.split()[-2:]
    return float(step), float(blas)


def main() -> int:
    real, before = (os.environ.get(name) for name in ("MSDUMP_INTEROP_MINDSPORE", "MSDUMP_BENCH_BEFORE"))
    names = sys.argv[1:] or list(NAMES)
    lines = [
        "| network | here | of it in the BLAS | the version before | MindSpore 2.10.0 | here : MindSpore |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        here = seconds(sys.executable, "harness", name, str(PROGRAM.parents[1]))
        other = seconds(sys.executable, "harness", name, before) if before else None
        beside = seconds(real, "mindspore", name, "") if real else None
        ratio = f"{here[0] / beside[0]:.1f}" if here and beside else "-"
        cells = ["-" if each is None else f"{each[0]:.2f}" for each in (here, other, beside)]
        blas = "-" if here is None else f"{here[1]:.2f}"
        lines.append(f"| {NAMES[name]} | {cells[0]} | {blas} | {cells[1]} | {cells[2]} | {ratio} |")
        print(lines[-1], flush=True)
    return 0 if put("performance.md", "steps", "\n".join(lines) + "\n") else 1


if __name__ == "__main__":
    sys.exit(main())
