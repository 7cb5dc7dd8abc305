"""``msdump accept``: candidate bundles become goldens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.cli.nearest import goldens_of
from harness.errors import HarnessError
from harness.escape import line
from harness.exit_status import CANNOT_TELL, DIFFERS
from harness.store import GoldenStore, RunId
from harness.store.bundle import accept
from harness.store.sizes import large
from harness.suggest import command
from harness.words import counted

#: so many slots of a run that could not be read are named
_GAPS = 10


def accept_bundles(
    bundles: Sequence[Path], golden: Path | None, only: Sequence[str], keep: dict[str, Any] | None = None
) -> int:
    """Accepts ``bundles`` into the directory ``golden``, one after the other, and prints what changed.

    Args:
        bundles: directories or archives. Empty for the last one that a gate left here: it is shown first, and on a
            terminal a question comes before anything is written.
        golden: None for the goldens of the project that left each bundle.
        only: patterns for networks (``test_a.py::test_x``, ``test_x``), with the variant (``...[cpu-tensor]``), or for
            stores. A pattern without a wildcard may match anywhere in the name. Empty accepts all.
        keep: receives what ``--json`` writes.

    Returns:
        0; 1 if the question was answered with no; 2 if a pattern matches nothing, or there is no bundle.

    Raises:
        StoreError, StoreWriteError, LockError: as ``store.accept``; a damaged bundle changes nothing.
    """
    used: set[str] = set()
    if not bundles:
        chosen = _shown(golden)
        if isinstance(chosen, int):
            return chosen
        bundles = [chosen]

    def wanted(store: str, network: str, run: RunId) -> bool:
        variant = f"[{'-'.join(run.parts)}]"
        names = [store, *(f"{name}{end}" for name in (network, network.rpartition("::")[2]) for end in ("", variant))]
        found = [each for each in only if any(_fits(each, name) for name in names)]
        used.update(found)
        return bool(found) or not only

    taken: list[Path] = []
    accepted: list[dict[str, Any]] = []
    for bundle in bundles:
        for result in accept(bundle, _target(bundle, golden), wanted):
            taken.append(result.path)
            for run, change in result.runs.items():
                accepted.append({"store": str(result.path), "run": str(run), **asdict(change)})
                moved = f"{change.changed} changed, {change.new} new, {change.removed} removed"
                slots = counted(change.slots, "slot")
                same = "" if result.changed else "; the golden held it, and stays as it is"
                print(line(f"{result.path}: run {run}: {slots}: {change.unchanged} unchanged, {moved}{same}"))
                _print_gaps(result.path, run)
    for each in large(taken):
        print(line(each))
    idle = [each for each in only if each not in used]
    if keep is not None:
        keep |= {"accepted": accepted, "unmatched": idle}
    for each in idle:
        named: list[str | Path] = [] if golden is None else ["--golden", golden]
        listing = command("msdump", "review", bundles[0], *named, "--list")
        print(f"msdump: --only {each!r} fits no candidate; `{listing}` names them", file=sys.stderr)
    return 2 if idle else 0


def _target(bundle: Path, golden: Path | None) -> Path:
    """The goldens that a bundle is accepted into; ``HarnessError`` if it is these."""
    target = golden or goldens_of(bundle)
    if bundle.exists() and target.exists() and bundle.samefile(target):
        raise HarnessError(f"{bundle}: these are the goldens themselves; name a bundle that a gate left")
    return target


def _print_gaps(path: Path, run: RunId) -> None:
    """The slots of a run that could not be read, which are accepted with it."""
    if not path.exists():
        return
    with GoldenStore.open(path) as store:
        gaps = store.run(*run).gaps if run in store else ()
    for gap in gaps[:_GAPS]:
        told = f"accepted, not compared: {gap.key.operator} {gap.key.slot_name}: {gap.why}"
        print(line(f"{path}: run {run}: {told}"))
    if len(gaps) > _GAPS:
        print(line(f"{path}: run {run}: and {len(gaps) - _GAPS} more slots that could not be read"))


def _shown(golden: Path | None) -> Path | int:
    """The last bundle, after it was shown; an exit code where nothing is to be taken over."""
    from harness.cli.review import last_bundle, review_bundle

    chosen = last_bundle(Path.cwd())
    if chosen is None:
        print(
            "msdump: nothing to accept: no gate left candidates in .msdump/candidates, here or above", file=sys.stderr
        )
        return CANNOT_TELL
    review_bundle(chosen, golden, ask=False)
    if sys.stdin.isatty():
        print("take all of it over? [y]es, [n]o: ", end="", flush=True)
        if sys.stdin.readline().strip().lower()[:1] != "y":
            print("nothing was taken over")
            return DIFFERS
    return chosen


def _fits(pattern: str, name: str) -> bool:
    if any(letter in pattern for letter in "*?"):
        return fnmatchcase(name, pattern)
    return pattern in name
