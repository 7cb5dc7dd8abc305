"""``msdump accept``: a candidate bundle becomes golden."""

from __future__ import annotations

from pathlib import Path

from harness import store


def accept_bundle(bundle: Path, golden: Path) -> int:
    """Takes ``bundle`` over into the directory ``golden`` and says what changed.

    Returns:
        0.

    Raises:
        StoreError, StoreWriteError, LockError: as ``store.accept``; a bundle that is damaged changes nothing.
    """
    for result in store.accept(bundle, golden):
        for run, change in result.runs.items():
            moved = f"{change.changed} changed, {change.new} new, {change.removed} removed"
            print(f"{result.path}: run {run}: {change.slots} slots: {change.unchanged} unchanged, {moved}")
    return 0
