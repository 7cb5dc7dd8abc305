"""``msdump import``: a dump tree becomes a run of a golden store."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.capture import Capture, read_tree
from harness.cli.check import warn
from harness.errors import HarnessError, TreeError
from harness.records import Record
from harness.store import Level, RunData, RunId, manifest, update

_MODES_WITHOUT_VALUES = ("statistic",)


def import_tree(tree: Path, golden: Path, run: str, rank: int | None, level: Level | None, packed: bool) -> int:
    """Stores what a dump tree holds as a run; one tensor is in memory at a time, and each file is read once.

    Args:
        tree: dump tree, of this project, of MindSpore, or of msprobe.
        golden: store; made if there is none, in a directory that exists. Its other runs stay.
        run: ``backend/mode``; empty for what the tree says of itself.
        rank: of a tree that holds several, if only one is wanted.
        level: what is kept; None for values where the tree has them.
        packed: compress a new store.

    Returns:
        0; 1 if files of the tree could not be used, which are named.

    Raises:
        HarnessError: the tree cannot be read or holds no tensor, or the store cannot be written; an old store stays as
            it was.
    """
    capture = read_tree(tree, rank)
    name = _run_id(run, capture)
    kept: Level = level or ("digest" if capture.mode in _MODES_WITHOUT_VALUES else "tensors")
    attrs = {"emulated": capture.emulated, "rules": capture.rules, "imported": True}
    counted = _Counted(capture.records())
    data = RunData(counted, capture.artefacts, attrs, kept)
    if counted.first is None:
        raise TreeError(f"{tree}: it holds no tensor; nothing was imported")
    result = update(golden, capture.network or golden.stem, {name: data}, compression="gzip" if packed else None)
    change = result.runs[name]
    moved = f"{change.new} new, {change.changed} changed, {change.removed} removed, {change.unchanged} unchanged"
    print(
        f"{golden}: run {name}: {change.slots} slots ({moved}), {result.objects} distinct tensors, {result.size} bytes"
    )
    manifest.rebuild_above(golden)
    warn(capture)
    return 1 if capture.problems else 0


def _run_id(given: str, capture: Capture) -> RunId:
    if not given:
        return RunId(capture.backend, capture.mode)
    backend, separator, mode = given.rpartition("/")
    if not separator or not backend or not mode:
        raise HarnessError(f"--run takes BACKEND/MODE, such as mindspore/tensor; got {given!r}")
    return RunId(backend, mode)


class _Counted:
    """Records, shown as they go by where somebody watches; the first may be looked at before."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = iter(records)
        self.first = next(self._records, None)

    def __iter__(self) -> Iterator[Record]:
        if not sys.stderr.isatty():
            yield from self._all()
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.completed:.0f} slots{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=None)
            for record in self._all():
                yield record
                progress.update(task, advance=1, description=f", iteration {record.key.iteration}")

    def _all(self) -> Iterator[Record]:
        if self.first is not None:
            yield self.first
            yield from self._records
