"""What this version costs beside the last release: ``python -m benchmarks.release [COMMIT] [--pairs N] [--only WORD]``.

``--write`` puts the table into ``docs/performance.md``.

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
from benchmarks._pages import put
from benchmarks.bench_gate import PLAIN, ROOT

PAIRS, LIMIT, CERTAINTY = 15, 1.03, 0.95
_PLAIN_TEST = "def test_nothing():\n    pass\n"
_COMMAND = """
import sys
try:
    from pytest_msdump.command import main
except ModuleNotFoundError:  # an older version
    from harness.cli import main
sys.exit(main(sys.argv[1:]))
"""
_QUIET = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
_TREE = """
import sys
from pathlib import Path
from benchmarks import _trees
from benchmarks.bench_check import stored
own = Path(sys.argv[1])
_trees.write_tree(own / "tree", _trees.equal_sizes(3000))
stored(own, "net", own / "tree")
"""
_IN_MEMORY = """
import sys
from pathlib import Path
from benchmarks import _trees
from benchmarks.bench_check import _like_tree, check_records, with_digests
own = Path(sys.argv[1])
records = with_digests(list(_like_tree(own / "tree", _trees.equal_sizes(3000))))
for _ in range(100):
    check_records(own / "net.h5", records)
"""
_DUMPED = """
import json, os, sys
common = {"dump_mode": 0, "path": sys.argv[1], "net_name": "Net", "iteration": "all", "input_output": 0, "kernels": [],
          "support_device": [0], "op_debug_mode": 0}
with open(f"{sys.argv[1]}/dump.json", "w") as file:
    json.dump({"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}}, file)
os.environ["MINDSPORE_DUMP_CONFIG"] = file.name
import numpy as np
import harness
from harness import Tensor, nn
harness.set_context(mode=harness.GRAPH_MODE)
net = nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 8))
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params()))
data, label = Tensor(np.ones((16, 64), np.float32)), Tensor(np.ones((16, 8), np.float32))
for _ in range(80):
    step(data, label)
files = sum(name.endswith(".npy") for _, _, names in os.walk(sys.argv[1]) for name in names)
sys.exit(files < 80)
"""


class Work(NamedTuple):
    """What is measured.

    Attributes:
        arguments: of Python. ``{scratch}`` is a directory of all runs, ``{own}`` one of the version, ``{fresh}`` an
            empty one of each run.
        before: arguments of what each version does once before.
    """

    arguments: tuple[str, ...]
    before: tuple[str, ...] = ()


#: what matters to users
WORK: Mapping[str, Work] = {
    "import harness": Work(("-c", "import harness")),
    "from harness import nn": Work(("-c", "from harness import nn")),
    "msdump --help": Work(("-c", _COMMAND, "--help")),
    "msdump verify": Work(("-c", _COMMAND, "verify", "golden")),
    "msdump check, a tree on disk": Work(
        ("-c", _COMMAND, "check", "{own}/tree", "{own}/net.h5"), ("-c", _TREE, "{own}")
    ),
    "a check of records in memory": Work(("-c", _IN_MEMORY, "{own}"), ("-c", _TREE, "{own}")),
    "steps that are dumped": Work(("-c", _DUMPED, "{fresh}")),
    "pytest with the plugin idle": Work((*_QUIET, "{scratch}/test_plain.py")),
    "the gate of small networks": Work((*_QUIET, "--msdump", "tests/gate", "-k", "mlp")),
    "the gate of all networks, one run each": Work((*_QUIET, "--msdump", "tests/gate", "-k", "cpu-tensor")),
    "goldens written": Work((*_QUIET, "--msdump-regen", "--msdump-golden={fresh}", "tests/gate", "-k", "mlp")),
    "the shipped networks, nothing watching": Work(("-c", PLAIN)),
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
    own = scratch / ("now" if root == ROOT else "then")
    own.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as fresh:
        places = {"{scratch}": str(scratch), "{own}": str(own), "{fresh}": fresh}
        words = list(arguments)
        for name, place in places.items():
            words = [each.replace(name, place) for each in words]
        # Bytecode is written, so that no version compiles its source in each round.
        status, spent = child([sys.executable, *words], {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": ""}, root)
    if status:
        raise RuntimeError(f"python {' '.join(words)[:80]} in {root} ended with {status}")
    return spent


def measured(work: Work, scratch: Path, before: Path, pairs: int) -> Ratio:
    """The ratio of a work, now to before."""
    for root in (before, ROOT):
        for arguments in (work.before, work.arguments):  # the first run writes bytecode
            if arguments:
                seconds(arguments, scratch, root)
    return in_turns(partial(seconds, work.arguments, scratch), before, ROOT, pairs)


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
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    asked = parser.parse_args(arguments)
    commit = asked.commit or last_tag()
    if commit is None:
        parser.error("nothing is tagged, so name the commit to compare with")
    try:
        order_of_bound(asked.pairs)
    except ValueError as error:
        parser.error(str(error))
    rows = [
        f"| CPU seconds, now : {commit} ({asked.pairs} pairs) | median | below, with {CERTAINTY:.0%} |",
        "|---|---|---|",
    ]
    print("\n".join(rows), flush=True)
    slow = 0
    with tempfile.TemporaryDirectory() as folder, checkout(commit, Path(folder)) as before:
        scratch = Path(folder)
        (scratch / "test_plain.py").write_text(_PLAIN_TEST)
        for name in (name for name in WORK if asked.only in name):
            found = measured(WORK[name], scratch, before, asked.pairs)
            slow += found.bound > asked.limit
            mark = f" (above {asked.limit:g})" if found.bound > asked.limit else ""
            rows.append(f"| {name} | {found.median:.3f} | {found.bound:.3f}{mark} |")
            print(rows[-1], flush=True)
    if asked.write and not put("performance.md", "release", "\n".join(rows) + "\n"):
        return 2
    return int(bool(slow))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
