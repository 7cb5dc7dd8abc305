"""Reads everything in a directory of goldens and checks the digests: of stores, and of the manifests beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.errors import HarnessError, StoreError
from harness.progress import Progress
from harness.store import manifest
from harness.store.journal import recover
from harness.store.read import GoldenStore, StoredRun, Tensors
from harness.suggest import command


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a directory.

    Attributes:
        problems: in words; empty if everything is still as written.
        stores, runs, tensors: numbers of what was read.
        fixed: whether manifests were rewritten.
    """

    problems: list[str]
    stores: int
    runs: int
    tensors: int
    fixed: bool


def verify(golden: Path, *, fix: bool = False, tensors_of: Tensors | None = None) -> Verification:
    """Reads every object, table and text of every store below a directory.

    Args:
        golden: the directory.
        fix: rewrite manifests if they are missing, broken or wrong. Stores are never changed.
        tensors_of: finds what is wrong with the tensors of a run, instead of reading them here.

    Raises:
        StoreError: no such directory, one without goldens, or an interrupted change that cannot be completed.
        LockError, StoreWriteError: the manifests cannot be written.
    """
    if golden.is_file():
        whole = command("msdump", "verify", golden.parent)
        raise StoreError(f"{golden}: this is a file; a directory of goldens is read whole, with manifests: `{whole}`")
    if not golden.is_dir():
        raise StoreError(f"{golden}: there is no such directory of goldens")
    recover(golden)
    names = manifest.store_paths(golden)
    if not names:
        raise StoreError(f"{golden}: no golden store lies in this directory")
    problems: list[str] = []
    runs = tensors = 0
    progress = Progress("", len(names), "stores")
    for name in progress.over(names, str) if tensors_of is None else names:
        try:
            with GoldenStore.open(golden / name) as store:
                problems += store.verify(tensors_of or partial(_tensors, progress))
                runs += len(store.runs())
                tensors += sum(len(store.run(*run)) for run in store.runs() if store.run(*run).level == "tensors")
        except HarnessError as error:
            problems.append(str(error))
    damaged = bool(problems)
    fixed = fix and not damaged and manifest.rebuild(golden)
    if not damaged:
        try:
            problems += [f"{golden}: {line}" for line in manifest.stale(golden)]
        except StoreError as error:
            problems.append(str(error))
    return Verification(sorted(set(problems)), len(names), runs, tensors, fixed)


def _tensors(progress: Progress, store: GoldenStore, run: StoredRun) -> list[str]:
    """What is wrong with a run's tensors; shows its progress."""
    return run.damaged(progress.each(range(len(run)), f"{store.network} {run.id}", len(run)))
