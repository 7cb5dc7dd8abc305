"""The work of workers: find visible ranks, read a rank's head, read and judge a part, send a few tensors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from platform import python_version_tuple
from stat import S_ISDIR
from typing import Any
from zlib import crc32

import numpy as np
import xxhash

from harness.capture import Capture, Problem, read_tree
from harness.compare.content import content
from harness.errors import HarnessError, TreeError
from harness.records import Record, SlotKey
from harness.scale import captures, goldens, places
from harness.scale.across import matches
from harness.scale.wire import (
    Extent,
    Failed,
    Golden,
    Head,
    OutOfReach,
    Part,
    Read,
    ReadExecution,
    Side,
    Slot,
    Tree,
    Work,
)
from harness.stats import describe

Array = np.ndarray[Any, np.dtype[Any]]


def told(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a deliberate error as a value, because an exception would have to be rebuilt from its arguments."""

    @wraps(function)
    def guarded(*args: Any) -> Any:
        try:
            return function(*args)
        except HarnessError as error:
            return Failed(type(error).__name__, str(error))
        except OSError as error:
            return Failed("TreeError", str(error))

    return guarded


def versions() -> dict[str, str]:
    """The versions that must be equal on a driver and its workers."""
    return {"python": ".".join(python_version_tuple()[:2])} | {
        name: _version(name) for name in ("pytest-msdump", "distributed")
    }


@cache
def _version(name: str) -> str:
    """Of a package; asked for with every task, and read from a file once."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def visible_ranks(trees: Iterable[str], alone: bool = False) -> dict[str, Any]:
    """What a worker is and sees: ``versions``, ``host``, and of each place the ranks, with a text that changes with the
    iterations they have and how many files are in each; in place of the ranks a text, where looking failed.

    Args:
        alone: whether all workers are on one host, where nobody needs that text.
    """
    seen: dict[str, Any] = {}
    for place in trees:
        here = places.here(place)
        if not places.is_url(here) and (why := _no_directory(here)):
            seen[place] = why if here == place else f"{here}: {why}"
            continue
        try:
            seen[place] = _ranks(here, (lambda path: "") if alone else _layout)
        except (HarnessError, OSError) as error:
            seen[place] = str(error)
    return {"versions": versions(), "host": places.host(), "seen": seen}


def _no_directory(path: str) -> str:
    """Why a path is no directory; empty where it is one."""
    try:
        return "" if S_ISDIR(os.stat(path).st_mode) else "not a directory"
    except OSError as error:
        return (error.strerror or str(error)).lower()


def _ranks(place: str, layout: Callable[[str], str]) -> dict[int, str]:
    if places.is_url(place):
        by_rank: dict[int, list[Any]] = {}
        for file in places.listed(place):
            if file.rank is not None:
                by_rank.setdefault(file.rank, []).append(file)
        return {rank: xxhash.xxh3_64_hexdigest(repr(files).encode()) for rank, files in by_rank.items()}
    from harness.capture.models import devices_of
    from harness.capture.msprobe_steps import step_directories
    from harness.capture.tree import rank_directories

    devices = devices_of(place)
    if devices:
        return {device: repr(sorted(paths)) for device, paths in devices.items()}
    steps = step_directories(place)
    if steps:
        found: dict[int, list[Any]] = {}
        for step in steps:
            found.setdefault(step.rank, []).append(step.step)
        return {rank: repr(each) for rank, each in found.items()}
    return {rank: layout(path) for rank, path in rank_directories(place).items()}


def _layout(path: str) -> str:
    """Iterations of a rank's directory and how many files each has, in a few bytes."""
    found = []
    for top, folders, files in os.walk(path):
        folders.sort()
        found.append((os.path.relpath(top, path), len(files)))
    return xxhash.xxh3_64_hexdigest(repr(found).encode())


def _directory(tree: Tree) -> str:
    return places.here(tree.place)


@told
def read_heads(tree: Tree, ranks: Iterable[int]) -> list[Head] | OutOfReach:
    """The heads of some ranks."""
    place = _directory(tree)
    if not places.is_url(place) and not os.path.isdir(place):
        return OutOfReach()
    return [_head(tree, place, rank) for rank in ranks]


def _head(tree: Tree, place: str, rank: int) -> Head:
    with places.opened(place, None, rank) as folder:
        capture = _read(folder, tree, rank)
        problems, parts = _of_place(capture.problems, folder, place), _extents(capture, place, rank)
        last: dict[int, int] = {}
        for source in capture.sources:
            last = dict(source.last)
            source.look_at_constants()
        constants = _of_place(capture.problems[len(problems) :], folder, place)
        return Head(
            rank, capture.network, capture.backend, capture.emulated, capture.mode, capture.rules,
            dict(capture.artefacts), dict(capture.execution_order), parts, last, problems, constants,
            tuple(capture.networks), capture.unreadable.replace(folder, place),
        )  # fmt: skip


def _read(folder: str, tree: Tree, rank: int, *, ahead: bool = False) -> Capture:
    return read_tree(
        folder, rank, network=tree.network, rootdir=tree.rootdir, ahead=ahead, one_of_several=True,
        root=captures.root(folder, rank),
    )  # fmt: skip


def _of_place(problems: Iterable[Problem], folder: str, place: str) -> tuple[Problem, ...]:
    """Problems of a tree's files, of which a copy in a folder was read."""
    return tuple(each if folder == place else each._replace(why=each.why.replace(folder, place)) for each in problems)


def _extents(capture: Capture, place: str, rank: int) -> tuple[Extent, ...]:
    if places.is_url(place):
        return _remote_extents(place, rank)
    return tuple(
        Extent(graph, iteration, *_measured(paths))
        for source in capture.sources
        for (graph, iteration), paths in _places(source).items()
    )


def _places(source: Any) -> dict[tuple[int, int], list[str]]:
    """The directories of each graph and iteration of a rank."""
    found: dict[tuple[int, int], list[str]] = {}
    for graph, iteration, path in source.parts():
        found.setdefault((graph, iteration), []).append(path)
    return found


def _measured(paths: Iterable[str]) -> tuple[int, str]:
    """Bytes of the files in some directories, and a text that changes with them."""
    size, known, coming = 0, [], list(paths)
    while coming:
        with os.scandir(coming.pop()) as entries:
            for entry in entries:
                facts = entry.stat(follow_symlinks=False)
                known.append((entry.path, facts.st_size, facts.st_mtime_ns))
                if entry.is_dir(follow_symlinks=False):
                    coming.append(entry.path)
                else:
                    size += facts.st_size
    return size, xxhash.xxh3_128_hexdigest(repr(sorted(known)).encode())


def _remote_extents(place: str, rank: int) -> tuple[Extent, ...]:
    below: dict[tuple[int, int], list[places.RemoteFile]] = {}
    for file in places.listed(place):
        if file.rank == rank and file.place is not None:
            below.setdefault(file.place, []).append(file)
    return tuple(
        Extent(*where, sum(file.size for file in files), xxhash.xxh3_128_hexdigest(repr(files).encode()))
        for where, files in sorted(below.items())
    )


class side_records:
    """The records of a side's part, digested, noted in ``read``; None where the worker does not see the side."""

    def __init__(self, side: Side, work: Work, read: Read) -> None:
        self._side, self._work, self._read = side, work, read
        self._closing: list[Any] = []

    def __enter__(self) -> Iterator[Record] | None:
        work = self._work
        if isinstance(self._side, Golden):
            golden = goldens.opened(self._side)
            return None if golden is None else golden.records(work.part)
        place = _directory(self._side)
        if not places.is_url(place) and not os.path.isdir(place):
            return None
        context = places.opened(place, work.part[:3])
        folder = context.__enter__()
        self._closing += [context.__exit__, lambda *_: self._name(folder, place)]
        return noted(folder, self._side, work, self._read)

    def _name(self, folder: str, place: str) -> None:
        read = self._read
        read.listing[:] = _of_place(read.listing, folder, place)
        for step in read.steps:
            step.problems[:] = _of_place(step.problems, folder, place)

    def __exit__(self, *error: Any) -> None:
        for close in reversed(self._closing):
            close(*error)


def noted(folder: str, tree: Tree, work: Work, read: Read) -> Iterator[Record]:
    """Reads a part; each record has its digest, and its values at hand where they are small.

    Where slots that hold are left out, large files of two trees are compared without digests: ``digested`` makes those
    that turn out to be needed.
    """
    later = work.keep != "all" and isinstance(work.expected, Tree)
    for started, problems, records in _steps(folder, tree, work.part, read, ahead=not later):
        step = ReadExecution(started)
        before = len(problems)
        for record in records:
            if work.only and not matches(record.key, work.only):
                if not read.steps and not step.slots:
                    step.slots.append(Slot(bare(record), False, None))
                continue
            has_values, described = record.values is not None, None
            if later and record.blocks(1) is not None:
                step.slots.append(Slot(record, has_values))
            else:
                if has_values:
                    described = _digest(record, work.described)
                step.slots.append(Slot(bare(record), has_values, described))
            yield record
        step.problems += problems[before:]
        if step.slots or step.problems:
            read.steps.append(step)


def digested(read: Read | None) -> dict[SlotKey, bytes | None]:
    """Makes the digests that ``noted`` left out; returns those of all slots."""
    slots: list[Slot] = []
    for step in read.steps if read is not None else ():
        for at, slot in enumerate(step.slots):
            record = slot.record
            if record.values is not None:
                record.digest = content(record)
                step.slots[at] = slot._replace(record=bare(record))
        slots += step.slots
    return {slot.record.key: slot.record.digest for slot in slots}


def bare(record: Record) -> Record:
    """A record without its values."""
    return Record(
        record.key, record.op_type, record.dtype, record.shape, record.format, None, record.source, record.digest,
        replace(record.extra),
    )  # fmt: skip


def _steps(
    folder: str, tree: Tree, part: Part, read: Read, *, ahead: bool = True
) -> Iterator[tuple[tuple[int, int, int], list[Problem], Iterable[Record]]]:
    with captures.capture(
        folder, (tree, part.rank, ahead), lambda: _read(folder, tree, part.rank, ahead=ahead)
    ) as capture:
        problems = capture.problems
        for source in capture.sources:
            paths = _places(source).get(part[1:3])
            if paths is None:
                raise TreeError(f"{folder}: rank {part.rank} has no iteration {part.iteration} any more")
            before, listed = len(problems), False
            for started, records in source.part(part.graph, part.iteration, paths, lambda name: _falls(name, part)):
                if not listed:
                    # Every batch lists the directory; the first one tells of it.
                    read.listing += problems[before:] if part.batch == 0 else []
                    listed = True
                yield started, problems, records
            if not listed:
                read.listing += problems[before:] if part.batch == 0 else []
            read.closed = {place: ends for place, ends in source.closed.items() if place[0] in source.last}


def _falls(name: str, part: Part) -> bool:
    return part.of == 1 or crc32(name.encode("utf-8", "surrogateescape")) % part.of == part.batch


def _digest(record: Record, described: bool) -> Any:
    """Gives a record its digest, reading it once; its statistics where they are wanted."""
    if record.blocks(1) is not None and not described:
        record.digest = content(record)
        return None
    array = record.load()
    if array is None:
        return None
    record.digest = content(record, array)
    record.values = array
    return describe(array, record.dtype) if described else None


@told
def fetch(tree: Tree, part: Part, keys: tuple[SlotKey, ...]) -> list[Array] | OutOfReach:
    """Values of a few slots of a part, in the order of ``keys``."""
    slots = loaded_slots(tree, part, frozenset(keys))
    if slots is None:
        return OutOfReach()
    found = {record.key: np.array(array) for record, array in slots}
    return [found[key] for key in keys]


def loaded_slots(tree: Tree, part: Part, wanted: Set[SlotKey]) -> Iterator[tuple[Record, Array]] | None:
    """Some slots of a part and their values, in order; None where this worker does not see the tree.

    Raises:
        TreeError: from the iterator, at its end: some are not there.
    """
    place = _directory(tree)
    if not places.is_url(place) and not os.path.isdir(place):
        return None
    return _loaded(place, tree, part, set(wanted))


def _loaded(place: str, tree: Tree, part: Part, wanted: set[SlotKey]) -> Iterator[tuple[Record, Array]]:
    with places.opened(place, part[:3]) as folder:
        for _, _, records in _steps(folder, tree, part, Read()):
            for record in records:
                if record.key in wanted and (array := record.load()) is not None:
                    wanted.discard(record.key)
                    yield record, array
            if not wanted:
                return
    raise TreeError(f"{place}: rank {part.rank} lost tensors of iteration {part.iteration} while it was read")
