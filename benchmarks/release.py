"""What this version costs beside the last release: ``python -m benchmarks.release [COMMIT] [--pairs N] [--only WORD]``.

Both versions do the same work in turns, the other one first in each second pair, so that both meet the load of the
machine. The figure is the ratio of CPU seconds, now to before: its median over the pairs, and an upper bound that the
median is below with 95 % (of the order of the ratios alone, whatever their distribution). Ends with 1 if a bound is
above the limit. Without COMMIT the last tag is the version before.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks._measure import child
from benchmarks.bench_gate import PLAIN, ROOT

PAIRS, LIMIT, CERTAINTY = 15, 1.03, 0.95
_PLAIN_TEST = "def test_nothing():\n    pass\n"
_COMMAND = "import sys; from pytest_msdump.command import main; sys.exit(main(sys.argv[1:]))"
_QUIET = ("-m", "pytest", "-q", "-p", "no:cacheprovider")

#: what matters to users: a plain test run with the plugin installed, a small gate, the emulator without one, goldens
#: read whole; each is the arguments of Python
WORK: Mapping[str, tuple[str, ...]] = {
    "pytest with the plugin idle": (*_QUIET, "{scratch}/test_plain.py"),
    "the gate of small networks": (*_QUIET, "--msdump", "tests/gate", "-k", "mlp"),
    "the shipped networks, nothing watching": ("-c", PLAIN),
    "msdump verify": ("-c", _COMMAND, "verify", "golden"),
}


class Ratio(NamedTuple):
    """Ratios of CPU seconds, now to before: their median, and the bound that it is below with ``CERTAINTY``."""

    median: float
    bound: float


def order_of_bound(pairs: int, certainty: float = CERTAINTY) -> int:
    """Which of so many ratios, in order and counted from 1, is above the true median with ``certainty``.

    Raises:
        ValueError: so few pairs cannot say it.
    """
    below = 0.0
    for order in range(1, pairs + 1):
        below += math.comb(pairs, order - 1) / 2**pairs  # exactly so many are below the median
        if below >= certainty:
            return order
    raise ValueError(f"{pairs} pairs cannot bound a median with {certainty:.0%}; accepted: 5 pairs or more")


def ratio(before: Sequence[float], now: Sequence[float]) -> Ratio:
    """The ratio of two measured rows of CPU seconds, pair by pair."""
    ratios = sorted(b / a for a, b in zip(before, now, strict=True))
    return Ratio(statistics.median(ratios), ratios[order_of_bound(len(ratios)) - 1])


def in_turns(run: Callable[[Path], float], before: Path, now: Path, pairs: int) -> Ratio:
    """The ratio of ``run`` in two checkouts, each first in every second pair."""
    spent: dict[Path, list[float]] = {before: [], now: []}
    for pair in range(pairs):
        for root in (before, now) if pair % 2 else (now, before):
            spent[root].append(run(root))
    return ratio(spent[before], spent[now])


def seconds(arguments: Sequence[str], scratch: Path, root: Path) -> float:
    """CPU seconds of ``python ARGUMENTS`` in the checkout ``root``.

    Raises:
        RuntimeError: it failed.
    """
    words = [each.replace("{scratch}", str(scratch)) for each in arguments]
    # Bytecode is written, so that no version compiles its source in each round.
    status, spent = child([sys.executable, *words], {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": ""}, root)
    if status:
        raise RuntimeError(f"python {' '.join(words)[:80]} in {root} ended with {status}")
    return spent


@contextmanager
def checkout(commit: str, scratch: Path) -> Iterator[Path]:
    """A work tree of ``commit``, gone after the block."""
    tree = scratch / "before"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), commit], cwd=ROOT, check=True)
    try:
        yield tree
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)


def last_tag() -> str | None:
    """The last release, or None where nothing is tagged."""
    found = subprocess.run(["git", "describe", "--tags", "--abbrev=0"], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() or None


def main(arguments: Sequence[str]) -> int:
    """Measures and prints the table; 1 if a bound is above the limit, 2 where there is nothing to compare with."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.release", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("commit", nargs="?", help="the version before (default: the last tag)")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--only", default="", help="a word of the work to measure (default: all)")
    parser.add_argument("--limit", type=float, default=LIMIT)
    asked = parser.parse_args(arguments)
    commit = asked.commit or last_tag()
    if commit is None:
        parser.error("nothing is tagged, so name the commit to compare with")
    try:
        order_of_bound(asked.pairs)
    except ValueError as error:
        parser.error(str(error))
    slow = 0
    with tempfile.TemporaryDirectory() as folder, checkout(commit, Path(folder)) as before:
        scratch = Path(folder)
        (scratch / "test_plain.py").write_text(_PLAIN_TEST)
        print(f"| CPU seconds, now : {commit} ({asked.pairs} pairs) | median | below, with {CERTAINTY:.0%} |")
        print("|---|---|---|")
        for name, work in WORK.items():
            if asked.only not in name:
                continue
            found = in_turns(partial(seconds, work, scratch), before, ROOT, asked.pairs)
            slow += found.bound > asked.limit
            mark = f" (above {asked.limit:g})" if found.bound > asked.limit else ""
            print(f"| {name} | {found.median:.3f} | {found.bound:.3f}{mark} |", flush=True)
    return int(bool(slow))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
