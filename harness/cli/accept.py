"""``msdump accept``: candidate bundles become goldens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from harness.cli.nearest import goldens_of
from harness.escape import line
from harness.store import RunId
from harness.store.bundle import accept
from harness.store.sizes import large
from harness.suggest import command
from harness.words import counted


def accept_bundles(bundles: Sequence[Path], golden: Path | None, only: Sequence[str]) -> int:
    """Accepts ``bundles`` into the directory ``golden``, one after the other, and prints what changed.

    Args:
        golden: None for the goldens of the project that left each bundle.
        only: patterns for networks (``test_a.py::test_x``, ``test_x``), with the variant (``...[cpu-tensor]``), or for
            stores. A pattern without a wildcard may match anywhere in the name. Empty accepts all.

    Returns:
        0; 2 if a pattern matches nothing.

    Raises:
        StoreError, StoreWriteError, LockError: as ``store.accept``; a damaged bundle changes nothing.
    """
    used: set[str] = set()

    def wanted(store: str, network: str, run: RunId) -> bool:
        variant = f"[{run.backend}-{run.mode}]"
        names = [store, *(f"{name}{end}" for name in (network, network.rpartition("::")[2]) for end in ("", variant))]
        found = [each for each in only if any(_fits(each, name) for name in names)]
        used.update(found)
        return bool(found) or not only

    taken = []
    for bundle in bundles:
        for result in accept(bundle, golden or goldens_of(bundle), wanted):
            taken.append(result.path)
            for run, change in result.runs.items():
                moved = f"{change.changed} changed, {change.new} new, {change.removed} removed"
                slots = counted(change.slots, "slot")
                print(line(f"{result.path}: run {run}: {slots}: {change.unchanged} unchanged, {moved}"))
    for each in large(taken):
        print(line(each))
    idle = [each for each in only if each not in used]
    for each in idle:
        named: list[str | Path] = [] if golden is None else ["--golden", golden]
        listing = command("msdump", "review", bundles[0], *named, "--list")
        print(f"msdump: --only {each!r} fits no candidate; `{listing}` names them", file=sys.stderr)
    return 2 if idle else 0


def _fits(pattern: str, name: str) -> bool:
    if any(letter in pattern for letter in "*?"):
        return fnmatchcase(name, pattern)
    return pattern in name
