"""``msdump audit``: how large a change a golden would let pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli import amount
from harness.cli.text import table
from harness.compare import Tolerances
from harness.compare.audit import Looseness, audit
from harness.compare.policy import Party, exit_code, tolerances_of
from harness.errors import HarnessError, StoreError
from harness.escape import line
from harness.gate.sides import choose_run
from harness.progress import Progress
from harness.scale import Scale, session
from harness.store import GoldenStore, RunId, StoredRun, recover, recover_around
from harness.store.manifest import store_paths
from harness.words import counted

if TYPE_CHECKING:
    from harness.scale import Session

_LISTED = 10
_HEADINGS = ("noise", "faults that pass", "iteration", "operator", "slot", "dtype", "tolerance")


def audit_goldens(
    path: Path,
    run: str,
    tolerances: Tolerances | None,
    limit: float | None,
    every: bool,
    scale: Scale | None = None,
    keep: dict[str, Any] | None = None,
) -> int:
    """Audits each run of a store, or of all stores of a directory, and prints what is loosest.

    Args:
        path: golden store or directory of stores.
        run: ``backend/mode``, only this run of a store.
        tolerances: tolerances to audit; None for each run's default.
        limit: the largest noise that may pass (see ``Looseness.noise``); None for no limit.
        every: a line for each slot.
        scale: workers that share the work; by default this process does it alone.
        keep: receives what ``--json`` writes.

    Returns:
        0 if no change larger than ``limit`` passes and none of the faults does; 1 otherwise (without a limit only the
        faults count); 2 if no slot has values.

    Raises:
        HarnessError: a store cannot be read.
    """
    if limit is not None and not 0 <= limit < math.inf:
        raise HarnessError(f"--limit is a number of at least 0; given was {limit!r}")
    recover_around(path)
    if path.is_dir():
        recover(path)
    paths = [path / name for name in store_paths(path)] if path.is_dir() else [path]
    if not paths:
        raise StoreError(f"{path}: no golden store lies in this directory")
    with session(scale, audit=str(path), run=run, tolerances=tolerances) as shared:
        return _audited(paths, run, tolerances, limit, every, shared, {} if keep is None else keep)


def _audited(
    paths: list[Path],
    run: str,
    tolerances: Tolerances | None,
    limit: float | None,
    every: bool,
    shared: Session | None,
    keep: dict[str, Any],
) -> int:
    """Audits stores one after the other; see ``audit_goldens``."""
    total = _Total()
    progress = Progress("", len(paths), "stores")
    for each in progress.over(paths, str) if shared is None else paths:
        try:
            store = GoldenStore.open(each)
        except FileNotFoundError:
            raise StoreError(f"{each}: there is no such golden store") from None
        with store:
            runs = [choose_run(store, run)] if run else [store.run(*known) for known in store.runs()]
            for chosen in runs:
                admitted = tolerances or _default(chosen)
                records = progress.each(chosen.records(), f"{store.network} {chosen.id}", len(chosen))
                slots = shared.audit(store, chosen, admitted) if shared else list(audit(records, admitted))
                progress.close()
                loose = _print(store.network, chosen.id, slots, limit, every)
                if chosen.gaps:
                    told = f"{counted(len(chosen.gaps), 'slot')} could not be read when it was made: nothing to audit"
                    print(line(f"{store.network} [{chosen.id}]: {told}"))
                total.add(f"{store.network} [{chosen.id}]", slots, loose, len(chosen) - len(slots))
                keep.setdefault("runs", []).append(_plain(store.network, chosen, slots, limit, every))
    if not total.slots:
        print("no slot has values: nothing to audit")
    else:
        print(line(total.line()))
    return exit_code(differs=bool(total.loose), unsure=not total.slots)


def _plain(network: str, run: StoredRun, slots: list[Looseness], limit: float | None, every: bool) -> dict[str, Any]:
    """A run's looseness as JSON values: the slots that are too loose; with ``every`` all."""
    shown = [each for each in slots if every or each.is_too_loose(limit)]
    rows = [
        {
            "rank": each.key.rank, "graph": each.key.graph, "iteration": each.key.iteration,
            "operator": each.key.operator, "slot": each.key.slot_name, "dtype": each.dtype,
            "tolerance": str(each.tolerance), "noise": each.noise, "faults": list(each.faults),
            "too_loose": each.is_too_loose(limit),
        }
        for each in shown
    ]  # fmt: skip
    return {
        "network": network, "backend": run.id.backend, "mode": run.id.mode, "slots": len(slots),
        "without_values": len(run) - len(slots), "largest": max((each.noise for each in slots), default=0.0),
        "too_loose": sum(each.is_too_loose(limit) for each in slots), "listed": rows,
    }  # fmt: skip


@dataclass
class _Total:
    """The changes that all runs together let pass."""

    runs: int = 0
    slots: int = 0
    loose: int = 0
    unseen: int = 0
    noise: float = 0.0
    where: str = ""

    def add(self, run: str, slots: list[Looseness], loose: int, unseen: int) -> None:
        """Adds one run: its slots, the number of too loose ones, the number without values."""
        self.runs, self.slots = self.runs + 1, self.slots + len(slots)
        self.loose, self.unseen = self.loose + loose, self.unseen + unseen
        worst = max(slots, key=lambda slot: slot.noise, default=None)
        if worst is not None and worst.noise > self.noise:
            self.noise = worst.noise
            self.where = f" ({run}, iteration {worst.key.iteration}, {worst.key.operator} {worst.key.slot_name})"

    def line(self) -> str:
        """The totals in one line."""
        unseen = f"; not audited: {counted(self.unseen, 'slot')} without values" if self.unseen else ""
        most = f"the largest change that passes is {self.noise:.3g}{self.where}"
        slots = f"{counted(self.slots, 'slot')} of {counted(self.runs, 'run')}"
        return f"in all: {slots}, {most}, {self.loose} too loose{unseen}"


def _default(run: StoredRun) -> Tolerances:
    """The tolerances for another run on the same backend."""
    golden = Party.of_run(run)
    return tolerances_of(golden, golden)


def _print(network: str, run: RunId, slots: list[Looseness], limit: float | None, every: bool) -> int:
    """Prints a run's loosest slots; returns the number of too loose ones."""
    too_loose = [slot for slot in slots if slot.is_too_loose(limit)]
    worst = max((slot.noise for slot in slots), default=0.0)
    counts = f"{counted(len(slots), 'slot')}, the largest change that passes is {worst:.3g}, {len(too_loose)} too loose"
    print(line(f"{network} [{run}]: {counts}"))
    shown = slots if every else sorted(too_loose, key=lambda slot: -slot.noise)[: amount.limit(_LISTED)]
    if shown:
        rows = [_row(slot) for slot in shown]
        print("\n".join(f"  {each}" for each in table(_HEADINGS, rows)))
        if not every and len(too_loose) > len(shown):
            print(f"  and {len(too_loose) - len(shown)} more (--all lists every slot)")
    return len(too_loose)


def _row(slot: Looseness) -> tuple[object, ...]:
    key = slot.key
    where = key.iteration, key.operator, key.slot_name
    return f"{slot.noise:.3g}", ", ".join(slot.faults), *where, slot.dtype, slot.tolerance
