"""The cost of the gate over the same networks without capture: ``python -m benchmarks.bench_gate``.

Ends with README's sentence about it.

CPU seconds of three processes, the least of several rounds: the gate over the shipped networks, the same networks run
by ``harness`` with nothing watching, and ``pytest`` collecting the same tests and skipping them.

``MSDUMP_BENCH_BEFORE`` names a checkout of another version: then only the whole gates of both are run, at the same
time (so that both meet the same load), and the table in docs/performance.md is written.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks._measure import child
from benchmarks._pages import put

ROOT = Path(__file__).parents[1]
ROUNDS = 3
PLAIN = """
import importlib

import harness
from tests.gate.networks import NETWORKS
from tests.gate.networks.recorder import Recorder

harness.set_context(mode=harness.GRAPH_MODE)
for name in NETWORKS:
    importlib.import_module(f"tests.gate.networks.{name}").play(Recorder())
"""
TESTS = "tests/gate"
RUNS = {
    "gate": ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--msdump", TESTS),
    "networks only": ("-c", PLAIN),
    "pytest, skipping": ("-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS),
}


def cpu_seconds(arguments: Sequence[str], root: Path = ROOT) -> float:
    """CPU seconds of ``python ARGUMENTS`` in a checkout; ``RuntimeError`` where it fails."""
    status, seconds = child([sys.executable, *arguments], {"PYTHONPATH": str(root)}, root)
    if status:
        raise RuntimeError(f"python {' '.join(arguments)[:80]} ended with {status}")
    return seconds


def proof() -> str:
    """How many slots and texts in how many runs the gate compares, as its closing line says it."""
    done = subprocess.run([sys.executable, *RUNS["gate"]], cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.search(r"compared (\d+) slots? and (\d+) texts? in (\d+) runs?", done.stdout)
    if found is None:
        raise RuntimeError(f"the gate did not say what it compared:\n{done.stdout[-2000:]}")
    return f"{int(found[3]):,} comparisons of runs, {int(found[1]):,} of slots, {int(found[2]):,} of texts"


def beside(before: Path) -> int:
    """The gates of this version and another one, at the same time."""
    with ThreadPoolExecutor(2) as pool:
        now, other = pool.map(lambda root: cpu_seconds(RUNS["gate"], root), (ROOT, before))
    lines = [
        "| CPU seconds | the version before | now | now : before |",
        "|---|---|---|---|",
        f"| the whole gate | {other:.1f} | {now:.1f} | {now / other:.2f} |",
    ]
    return 0 if put("performance.md", "gate", "\n".join(lines) + "\n") else 1


def main() -> int:
    """Measures and prints the table."""
    if before := os.environ.get("MSDUMP_BENCH_BEFORE"):
        return beside(Path(before))
    least = {name: min(cpu_seconds(arguments) for _ in range(ROUNDS)) for name, arguments in RUNS.items()}
    print(f"the shipped networks; CPU seconds, least of {ROUNDS} rounds")
    for name, seconds in least.items():
        print(f"{name:20}{seconds:8.2f}")
    work = least["gate"] - least["pytest, skipping"]
    print(f"gate over networks only, pytest's own start taken off: {work / least['networks only']:.2f}")
    print(f"\nREADME: The gate over the shipped networks ({proof()}) takes {least['gate']:.0f} CPU seconds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
