"""The cost of the gate over the same networks without capture: ``python -m benchmarks.bench_gate``.

Ends with README's sentence about it.

CPU seconds of three processes, the least of several rounds: the gate over the shipped networks, the same networks run
by ``harness`` with nothing watching, and ``pytest`` collecting the same tests and skipping them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks._measure import child

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


def cpu_seconds(arguments: Sequence[str]) -> float:
    """CPU seconds of ``python ARGUMENTS`` in the repository; ``RuntimeError`` where it fails."""
    status, seconds = child([sys.executable, *arguments], cwd=ROOT)
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


def main() -> None:
    """Measures and prints the table."""
    least = {name: min(cpu_seconds(arguments) for _ in range(ROUNDS)) for name, arguments in RUNS.items()}
    print(f"the shipped networks; CPU seconds, least of {ROUNDS} rounds")
    for name, seconds in least.items():
        print(f"{name:20}{seconds:8.2f}")
    work = least["gate"] - least["pytest, skipping"]
    print(f"gate over networks only, pytest's own start taken off: {work / least['networks only']:.2f}")
    print(f"\nREADME: The gate over the shipped networks ({proof()}) takes {least['gate']:.0f} CPU seconds.")


if __name__ == "__main__":
    main()
