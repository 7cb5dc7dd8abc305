"""Writes golden stores: the same bytes for the same content, whole or not at all, one writer at a time.

A store is never changed in place. Its new form is written beside it in one canonical order (runs sorted; in each run
slots in execution order, an object right before the first slot that needs it), runs that are kept are copied over, and
the result replaces the old file in one step. So a partial update gives the bytes a full one would.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import atomic
from harness.atomic import DEFAULT_TIMEOUT, writer_lock
from harness.errors import StoreError, StoreWriteError
from harness.records import Record
from harness.store.layout.index import Index
from harness.store.layout.schema import COMPRESSIONS, LEVELS, Compression, Level, RunId
from harness.store.read import GoldenStore, StoredRun
from harness.store.writer import StoreWriter
from harness.words import counted

if TYPE_CHECKING:
    from harness.store.layout.tables import Declared


@dataclass(frozen=True, slots=True)
class RunData:
    """The content of a run to be written.

    Attributes:
        records: every slot, in execution order; consumed once, one tensor in memory at a time.
        artefacts: text artefacts by relative path (``graphs/kernel_graph0.ir``).
        attrs: small JSON values (emulated or not, rules, tolerance).
        level: ``tensors`` keeps values, ``digest`` only digests and statistics.
        declared: what its operators are, where their inputs come from, what its graphs give, and the slots that could
            not be read, which are accepted so; or a function that gives it after ``records`` was read. None: nothing.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.store import RunData, RunId, update
        >>> capture = read_tree("dump")
        >>> data = RunData(capture.records(), attrs={"emulated": capture.emulated}, level="digest")
        >>> result = update("golden/small.h5", "Net", {RunId("cpu", "tensor"): data})
        >>> result.changed, result.objects
        (True, 0)
    """

    records: Iterable[Record]
    artefacts: Mapping[str, bytes] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    level: Level = "tensors"
    declared: Declared | Callable[[], Declared] | None = None


@dataclass(frozen=True, slots=True)
class RunChange:
    """Counts of how a run's slots changed.

    Attributes:
        slots: all slots of the run now.
        new: slots that the run lacked before.
        changed: slots with other values, dtype or shape.
        removed: slots that the run lacks now.
        unchanged: slots with equal content.
    """

    slots: int
    new: int
    changed: int
    removed: int
    unchanged: int


@dataclass(frozen=True, slots=True, repr=False)
class UpdateResult:
    """The result of an update.

    Attributes:
        path: the store.
        changed: whether the file's bytes changed (or the file was made, or removed).
        exists: False if the last run was deleted, and the file with it.
        runs: the change of each named run's slots.
        objects: distinct arrays in the store now.
        size: bytes of the file now.
    """

    path: Path
    changed: bool
    exists: bool
    runs: Mapping[RunId, RunChange]
    objects: int
    size: int

    def __repr__(self) -> str:
        runs = ", ".join(f"{run} {_told(change)}" for run, change in self.runs.items())
        kept = f"{counted(self.size, 'byte')}" if self.exists else "removed"
        return f"<UpdateResult: {self.path.name}, {kept}{'' if self.changed else ', as it was'}; {runs}>"


def _told(change: RunChange) -> str:
    told = (("new", change.new), ("changed", change.changed), ("removed", change.removed))
    counts = ", ".join(f"{count} {word}" for word, count in told if count)
    return f"({counted(change.slots, 'slot')}{': ' if counts else ''}{counts})"


def update(
    path: str | os.PathLike[str],
    network: str,
    runs: Mapping[RunId, RunData | StoredRun | None],
    *,
    compression: Compression | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    settle: bool = True,
    base: Path | None = None,
    renames: bool = False,
) -> UpdateResult:
    """Replaces the named runs of a store and keeps the others; makes the file if it is missing.

    Args:
        path: the ``.h5`` file; its directory must exist.
        network: name of the store's network; an existing store must have the same, or ``renames`` is given.
        runs: a run's new content, a run of another store to take over, or None to delete it.
        compression: how to compress objects; None keeps the file's setting (``none`` for a new file).
        timeout: seconds to wait for another writer.
        settle: make the file's name durable as well. To write many stores, leave this to ``manifest.rebuild``, once per
            directory; if the machine crashes before that, the whole old store may be back.
        base: a store to start from if ``path`` does not exist; it is not changed. If it has the new contents already,
            nothing is written.
        renames: whether a store of another network gets this name; its other runs stay.

    Raises:
        LockError: another process is writing.
        StoreWriteError: the disk is full, or writing is not allowed; the old file is unchanged.
        StoreError: the old file is damaged or belongs to another network, or a record cannot be stored.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.store import RunData, RunId, update
        >>> result = update("golden/net.h5", "Net", {RunId("again", "tensor"): RunData(read_tree("later").records())})
        >>> result.runs[RunId("again", "tensor")].new
        12
    """
    target, shown = Path(path), base or path
    _check_arguments(target, runs, compression)
    with writer_lock(target, timeout):
        try:
            if base is None:  # in the folder of one change there are none of an earlier one's
                atomic.remove_leftovers(target)
            source = target if base is None or target.exists() else base
            if not source.exists():
                return _replace(target, None, network, runs, compression or "none", settle)
            with GoldenStore.open(source) as old:
                if old.network != network and not renames:
                    raise StoreError(f"{shown}: this is the store of network {old.network!r}, not of {network!r}")
                return _replace(target, old, network, runs, compression or old.compression, settle)
        except SystemError as error:
            raise _first(error) from None
        except OSError as error:
            if isinstance(error, StoreWriteError):
                raise
            raise StoreWriteError(
                f"{shown}: the golden store could not be written ({atomic.reason(error)}); the old one is unchanged"
            ) from error


def _first(error: BaseException) -> BaseException:
    """What was raised while libhdf5 called ``h5file._Sink``, of which h5py makes errors of the interpreter."""
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    return error


def rewrite(path: str | os.PathLike[str], *, compression: Compression | None = None) -> UpdateResult:
    """Rewrites a store in the current layout; its content stays.

    Args:
        path: the store.
        compression: the new compression; None keeps the file's.

    Raises:
        LockError: another process is writing.
        StoreWriteError: as ``update``.
        StoreError: the file is damaged.

    Examples:
        >>> from harness.store import GoldenStore, rewrite
        >>> changed = rewrite("golden/net.h5", compression="gzip")
        >>> with GoldenStore.open("golden/net.h5") as store:
        ...     print(store.compression, [str(run) for run in store.runs()])
        gzip ['first/tensor']
    """
    with GoldenStore.open(path) as store:
        network = store.network
    return update(path, network, {}, compression=compression)


def _check_arguments(path: Path, runs: Mapping[RunId, object], compression: str | None) -> None:
    if compression is not None and compression not in COMPRESSIONS:
        raise StoreError(f"unknown compression {compression!r}; known are {', '.join(COMPRESSIONS)}")
    if not path.parent.is_dir():
        raise StoreWriteError(f"{path}: there is no directory {path.parent}")
    for run, data in runs.items():
        if isinstance(data, RunData) and data.level not in LEVELS:
            raise StoreError(f"run {run}: unknown level {data.level!r}; known are {', '.join(LEVELS)}")


def _replace(
    path: Path,
    old: GoldenStore | None,
    network: str,
    runs: Mapping[RunId, RunData | StoredRun | None],
    compression: Compression,
    settle: bool,
) -> UpdateResult:
    """Builds the new file beside ``path`` and puts it in place."""
    kept = set(old.runs()) if old is not None else set()
    wanted = sorted({RunId(*run) for run in runs} | kept)
    content = [(run, runs[run] if run in runs else old.run(*run) if old else None) for run in wanted]
    content = [(run, data) for run, data in content if data is not None]
    if not content:
        if old is not None and path.exists():
            atomic.remove(path)
        return UpdateResult(path, old is not None, False, _changes(old, {}, runs), 0, 0)
    with atomic.scratch_beside(path) as scratch:
        with StoreWriter(scratch, network, compression, old) as writer:
            indexes = {run: _write_run(writer, run, data) for run, data in content if data is not None}
        with GoldenStore.open(scratch) as written:  # the disk kept what was written
            if written.runs() != tuple(indexes):
                raise StoreWriteError(f"{path}: the disk did not keep what was written; the old store is unchanged")
            same = old is not None and _hold_the_same(old, written)
        changes = _changes(old, indexes, runs)
        changed = not same and atomic.put_in_place(scratch, path, directory=settle)
    # A store with the contents of ``base`` was not written.
    size = (path if old is None or path.exists() else old.path).stat().st_size
    return UpdateResult(path, changed, True, changes, writer.objects, size)


def _hold_the_same(old: GoldenStore, new: GoldenStore) -> bool:
    """Whether the old file is sound and has exactly the contents of the new one, even if the bytes differ.

    Another version of libhdf5 or zlib may write the same contents differently; then the old file stays.
    """
    if (old.schema, old.network, old.compression, old.runs()) != (
        new.schema, new.network, new.compression, new.runs(),
    ):  # fmt: skip
        return False
    try:
        sums = all(old.run(*run).checksum == new.run(*run).checksum for run in new.runs())
    except StoreError:
        return False
    return sums and not old.verify()


def _write_run(writer: StoreWriter, run: RunId, data: RunData | StoredRun) -> Index:
    if isinstance(data, StoredRun):
        return writer.copy(run, data)
    return writer.add(run, data.records, data.artefacts, data.attrs, data.level, data.declared)


def _changes(old: GoldenStore | None, now: Mapping[RunId, Index], named: Iterable[RunId]) -> dict[RunId, RunChange]:
    """Counts the changed slots of the named runs."""
    before = set(old.runs()) if old is not None else set()
    result = {}
    for run in sorted(RunId(*run) for run in named):
        new = now.get(run)
        result[run] = _change(_past(old, run) if run in before else None, new)
    return result


def _past(old: GoldenStore | None, run: RunId) -> Index | None:
    """A run's old index; None if it is damaged, which must not prevent replacing it."""
    try:
        return old.run(*run).index if old is not None else None
    except StoreError:
        return None


def _change(past: Index | None, new: Index | None) -> RunChange:
    if past is None:
        count = len(new) if new is not None else 0
        return RunChange(slots=count, new=count, changed=0, removed=0, unchanged=0)
    past_digests = dict(zip(past.keys, past.digests, strict=True))
    new_digests = dict(zip(new.keys, new.digests, strict=True)) if new is not None else {}
    common = past_digests.keys() & new_digests.keys()
    changed = sum(past_digests[key] != new_digests[key] for key in common)
    return RunChange(
        slots=len(new_digests),
        new=len(new_digests) - len(common),
        changed=changed,
        removed=len(past_digests) - len(common),
        unchanged=len(common) - changed,
    )
