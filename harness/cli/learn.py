"""``msdump learn``: learns a golden run's tolerances from how far unchanged runs scatter."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.atomic import temporary_directory
from harness.cli.check import opened, warn
from harness.cli.operands import open_side, watched_side
from harness.compare import Comparison, Tolerances
from harness.compare.audit import audit, summary
from harness.compare.judge import SlotJudge
from harness.compare.learn import Scatter, learned, refusal, remembered, scatter
from harness.compare.policy import Party, exactly, exit_code
from harness.errors import HarnessError
from harness.escape import line
from harness.gate.sides import choose_run
from harness.progress import Progress
from harness.scale import Scale, session
from harness.store import RunId, StoredRun, change_one
from harness.words import counted

if TYPE_CHECKING:
    from harness.scale import Session

_LISTED = 10
#: Dumps everything in every step, for a program that dumps as MindSpore does on a CPU.
_EVERYTHING: dict[str, Any] = {
    "common_dump_settings": {
        "dump_mode": 0, "path": "", "net_name": "net", "iteration": "all", "saved_data": "tensor", "input_output": 0,
        "kernels": [], "support_device": [0], "op_debug_mode": 0,
    },
    "e2e_dump_settings": {"enable": True, "trans_flag": True},
}  # fmt: skip


def learn(
    golden: Path,
    run: str,
    trees: Sequence[str],
    command: str,
    times: int,
    margin: float,
    dry: bool,
    force: bool = False,
    scale: Scale | None = None,
    keep: dict[str, Any] | None = None,
) -> int:
    """Compares runs with the golden one, and stores the tolerances that their scatter needs.

    Args:
        golden: the golden store.
        run: ``backend/mode``; empty if it has only one.
        trees: dump trees, or runs of stores, of the unchanged network (see ``open_side``).
        command: a program to run ``times`` times instead; ``MINDSPORE_DUMP_CONFIG`` tells it to dump everything.
        margin: the tolerance is this many times the scatter that was seen.
        dry: only print; write nothing.
        force: also learn from a single run, and from a spread beyond ten times what rounding explains.
        scale: workers that share the work; by default this process does it alone.
        keep: receives what ``--json`` writes.

    Returns:
        0; 1 if nothing was stored, because a slot scatters in a way that no tolerance accepts or further than rounding
        explains, or because there was only one run; 2 if only files that could not be used keep it from learning.

    Raises:
        HarnessError: a side cannot be read, nothing was given to learn from, or the program failed.
    """
    if bool(trees) == bool(command):
        raise HarnessError("msdump learn takes dump trees, or --command with --times; one of the two")
    with ExitStack() as stack:
        sources = list(trees) if trees else stack.enter_context(_dumped(command, times))
        store = stack.enter_context(opened(golden))
        shared = stack.enter_context(session(scale, learn=tuple(trees), golden=str(golden), run=run))
        expected = choose_run(store, run)
        lost: list[int] = []
        found = scatter(_compared(expected, source, golden, shared, lost) for source in sources)
        table = learned(found, margin)
        _print(expected.id, len(expected), len(sources), found, table)
        refused = refusal(found, len(sources), force)
        gone = bool(sum(lost)) and not (refused or force)
        if gone:
            refused = f"{counted(sum(lost), 'file')} could not be used (--force learns from the others)"
        if refused:
            print(refused)
        if keep is not None:
            keep |= _told(expected, found, table, refused) | {"kept": not (refused or dry)}
        for each in summary(audit(expected.records(), Tolerances.parse(table))):
            print(line(each))
        if refused and not dry:
            print("nothing was kept")
        elif not dry:
            data = remembered(expected, table, len(sources), margin)
            change_one(store.path, store.network, {expected.id: data})
    return exit_code(differs=bool(refused) and not gone, unsure=gone)


def _told(expected: StoredRun, found: Sequence[Scatter], table: dict[str, Any], refused: str) -> dict[str, Any]:
    """What ``--json`` writes of it."""
    scatter = [{"slot": each.name, "why": each.reason} for each in found]
    return {
        "run": str(expected.id), "slots": len(expected), "learned": table, "scatter": scatter, "refused": refused,
    }  # fmt: skip


def _compared(expected: StoredRun, source: str, golden: Path, shared: Session | None, lost: list[int]) -> Comparison:
    """The comparison with one more run; appends the number of its files that could not be used to ``lost``."""
    with open_side(source, None, shared) as side:
        judging = shared.judging(expected, side.capture or side.content, golden) if shared else SlotJudge
        party = side.party if shared else watched_side(side)
        comparison = exactly(Party.of_run(expected), party, judging)
        lost.append(party.lost())
        if side.capture is not None:
            warn(side.capture)
    if not comparison.slots:
        raise HarnessError(f"{source}: nothing in it to learn from")
    return comparison


@contextmanager
def _dumped(command: str, times: int) -> Iterator[list[str]]:
    """Runs a program several times; gives the dump trees, in a temporary directory."""
    words = shlex.split(command)
    if not words or times < 1:
        raise HarnessError(f"--command is a program and --times at least 1; given were {command!r} and {times}")
    with temporary_directory("msdump-learn-") as folder:
        trees = []
        runs = Progress(words[0], times, "runs", after=0.0)
        for number in runs.over(range(times), lambda number: f"{words[0]}, run {number + 1}"):
            tree, config = Path(folder, f"tree{number}"), Path(folder, f"{number}.json")
            common = {**_EVERYTHING["common_dump_settings"], "path": str(tree)}
            config.write_text(json.dumps({**_EVERYTHING, "common_dump_settings": common}), encoding="utf-8")
            environment = {**os.environ, "MINDSPORE_DUMP_CONFIG": str(config)}
            try:
                code = subprocess.run(words, env=environment, check=False, stdin=subprocess.DEVNULL).returncode
            except OSError as error:
                raise HarnessError(f"--command {command!r}: {error.strerror}") from None
            if code:
                raise HarnessError(f"--command {command!r} ended with {code} in run {number + 1} of {times}")
            trees.append(str(tree))
        yield trees


def _print(run: RunId, slots: int, runs: int, found: Sequence[Scatter], table: dict[str, Any]) -> None:
    unstable = [each for each in found if each.reason]
    size = f"{counted(slots, 'slot')}, {counted(runs, 'run')}"
    print(f"{run}: {size}: {len(found)} scatter, {len(unstable)} of them in a way nothing admits")
    for each in unstable[:_LISTED]:
        print(line(f"  {each.name}: {each.reason}"))
    names = [name for name in table if name != "default"]
    for name in names[:_LISTED]:
        print(line(f"  {name}: {' '.join(f'{key}={value:g}' for key, value in table[name].items())}"))
    if len(names) > _LISTED:
        print(f"  and {len(names) - _LISTED} more")
