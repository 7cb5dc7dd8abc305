"""Measures everything a CUDA device can show and writes it to a page: ``tox -e cuda``, or ``python -m benchmarks.cuda
--page F``.

Without a device the page says so, nothing is measured, and the exit code is 0: a missing device is not a failure. With
one, a part that cannot run is a line of the page, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks._pages import Table
from harness.framework.engines.available import cuda_missing

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "cuda.md"
#: what the gate's last lines say
_COMPARED = re.compile(r"compared (\d+) slots? and (\d+) texts? in (\d+) runs?")
_ENDED = re.compile(r"(\d+) (passed|failed|skipped|error)")
#: backend, and the variable that asks for the device
GATES = {"gpu": "MSDUMP_GPU", "torch": "MSDUMP_TORCH_DEVICE"}
#: a gate that takes longer hangs
_LIMIT = 3600

INTRODUCTION = """\
# On a CUDA device

`tox -e cuda` installs what is needed, runs all of this on the CUDA device it finds, and writes this page: the shipped
networks on backend `gpu` with `MSDUMP_GPU=cuda` and on backend `torch` with `MSDUMP_TORCH_DEVICE=cuda`, each held
against its golden; then training steps of PyTorch modules as captures, in float32, with TF32 and in bfloat16, against
the same step on the CPU; how much memory and time a capture takes. Without a device the page says that nothing was
measured, and the command ends with 0. The same program runs on a CPU (`python -m benchmarks.cuda --device cpu --page
F`), which is how it is tested.
"""


def page(tables: Sequence[Table], failures: Sequence[str], missing: str | None, device: str) -> str:
    """The page as Markdown.

    Args:
        tables: what was measured.
        failures: what could not be.
        missing: why there is no device; None where there is one.
        device: what it was measured on, in words.
    """
    if missing is not None:
        return f"{INTRODUCTION}\n**Nothing was measured on a device**: {missing}.\n"
    parts = [INTRODUCTION, f"Measured on: {device}.\n"]
    for table in tables:
        rows = [table.head, tuple("---" for _ in table.head), *table.rows]
        parts.append(f"## {table.title}\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows))
    if failures:
        parts.append("## Not measured\n\n" + "".join(f"- {each}\n" for each in failures))
    return "\n".join(parts)


def gate_row(backend: str, output: str, status: int) -> tuple[str, ...]:
    """A row of the table of gates, from what pytest printed and its exit status.

    Raises:
        RuntimeError: it says nothing of what was compared.
    """
    compared = _COMPARED.search(output)
    if compared is None:
        last = output.strip().splitlines()[-1:] or ["nothing was printed"]
        raise RuntimeError(f"the gate on backend {backend} ended with {status}: {last[0][:200]}")
    ended = ", ".join(f"{count} {what}" for count, what in _ENDED.findall(output.strip().splitlines()[-1]))
    return backend, f"{int(compared[1]):,}", f"{int(compared[3]):,}", ended


def gates(device: str, tests: Sequence[str] = ("tests/gate/test_networks.py",)) -> Table:
    """The shipped networks on the device, held against their goldens."""
    rows = []
    for backend, variable in GATES.items():
        if backend == "gpu" and not device.startswith("cuda"):
            continue  # nothing but a CUDA device stands for a GPU
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--msdump", *tests]
        environ: Mapping[str, str] = {**os.environ, variable: device}
        done = subprocess.run(
            [*command, f"--msdump-backend={backend}", "--msdump-mode=tensor"],
            cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=_LIMIT,
        )  # fmt: skip
        rows.append(gate_row(backend, done.stdout, done.returncode))
    return Table("The shipped networks against their goldens", ("backend", "slots", "runs", "tests"), tuple(rows))


def measured(parts: Sequence[Callable[[], Table]]) -> tuple[list[Table], list[str]]:
    """The tables of all parts, and what those that failed said."""
    tables, failures = [], []
    for part in parts:
        try:
            tables.append(part())
        except Exception as error:
            failures.append(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    return tables, failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page; see the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda", description=__doc__)
    parser.add_argument("--page", type=Path, default=PAGE, help="where the page goes (default: docs/cuda.md)")
    parser.add_argument("--device", default="cuda", help="PyTorch's name of the device (default: cuda)")
    parser.add_argument("--without-gates", action="store_true", help="leave the shipped networks out")
    parser.add_argument("--rounds", type=int, default=5, help="how often a step is timed; the median counts")
    asked = parser.parse_args(arguments)
    missing = cuda_missing() if asked.device.startswith("cuda") else None
    if missing is not None:
        asked.page.write_text(page((), (), missing, ""), encoding="utf-8")
        print(f"nothing was measured: {missing}; {asked.page} says so")
        return 0
    from benchmarks import _cuda_figures as figures

    parts: list[Callable[[], Table]] = [
        lambda: figures.agreement(asked.device),
        lambda: figures.costs(asked.device, asked.rounds),
    ]
    if not asked.without_gates:
        parts.insert(0, lambda: gates(asked.device))
    tables, failures = measured(parts)
    text = page(tables, failures, None, figures.described(asked.device))
    asked.page.write_text(text, encoding="utf-8")
    print(text)
    return int(bool(failures) or any("failed" in cell for table in tables for row in table.rows for cell in row))


if __name__ == "__main__":
    raise SystemExit(main())
