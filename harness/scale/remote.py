"""A dump tree that workers read, as a capture: records in the serial reader's order, values fetched on request."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from harness.capture import Capture, Problem
from harness.capture.capture import COMPARED
from harness.capture.msprobe_steps import LEFT_OUT
from harness.capture.networks import chosen
from harness.capture.unfinished import unfinished
from harness.errors import TreeError
from harness.records import Record, SlotKey
from harness.scale.pieces import Placed
from harness.scale.places import is_url
from harness.scale.wire import WHOLE, Head, Part, Read, ReadExecution, Slot, Tree
from harness.store.layout.objects import Stored, from_stored
from harness.store.layout.schema import Compression
from harness.store.prepared import Prepared

Array = np.ndarray[Any, np.dtype[Any]]

#: The backend of msprobe's dumps of PyTorch, which no graphs tell apart from an emulation.
TORCH = "torch"
#: Bytes of tensors that are fetched together, and kept.
FETCHED = 64 << 20
#: Bytes of a part, and of those that one task does: a task costs some milliseconds, a part as large tenths of a second.
BATCH, TASK = 256 << 20, 1 << 30

#: What most parts tell whose slots hold.
NOTHING = Read()

#: Reads all parts of a tree.
Reader = Callable[["RemoteTree"], None]
#: Fetches values of some slots of a part.
Fetcher = Callable[["RemoteTree", Part, tuple[SlotKey, ...]], list[Array]]


class RemoteValues(Prepared):
    """The values of one slot: in a piece, or fetched from a worker."""

    __slots__ = ("part", "slot", "tree")

    def __init__(self, tree: RemoteTree, part: Part, slot: Slot) -> None:
        self.tree, self.part, self.slot = tree, part, slot

    def __call__(self) -> Array:
        record = self.slot.record
        placed = self.tree.placed.get(record.key)
        if placed is None:
            return self.tree.values(self.part, self.slot)
        return from_stored(placed.stored(record.dtype, record.shape), record.dtype, record.shape)

    def stored(self, compression: Compression) -> Stored | None:
        record = self.slot.record
        placed = self.tree.placed.get(record.key)
        if placed is None or self.tree.compression != compression:
            return None
        return placed.stored(record.dtype, record.shape)

    def pieces(self) -> Iterator[Array] | None:
        return None


class RemoteTree:
    """A tree, as reported by workers.

    Attributes:
        tree: where it is; ``given``: as the command line has it.
        heads: of its ranks, in order.
        reads: of those of its parts that told something; filled when records are asked for the first time.
        complete: whether all parts were read.
        closed: of each rank, see ``Read``.
        described: whether statistics are wanted with the digests.
        only: patterns of the slots that are wanted; empty for all.
        placed: slots whose values are in pieces, for a golden of this ``compression``.
    """

    def __init__(self, tree: Tree, given: str, heads: Sequence[Head], read: Reader, fetch: Fetcher) -> None:
        self.tree, self.given, self.heads = tree, given, heads
        self.reads: dict[Part, Read] = {}
        self.complete = False
        self.closed: dict[int, dict[tuple[int, int], bool]] = {}
        #: in how many batches an iteration is read, where another tree decides that
        self._split: dict[tuple[int, ...], int] = {}
        self.described = False
        self.only: tuple[str, ...] = ()
        self.placed: dict[SlotKey, Placed] = {}
        self.compression = ""
        self._read, self._fetch = read, fetch
        self._problems: list[Problem] = [problem for head in heads for problem in head.problems]
        self._coming: list[tuple[Part, Slot]] = []
        self._at: dict[SlotKey, int] = {}
        self._kept: OrderedDict[SlotKey, Array] = OrderedDict()
        self.capture = self._capture()

    def parts_of(self, head: Head) -> Iterator[tuple[Part, int, str]]:
        """The parts of a rank in order, with bytes and a text that changes with the files."""
        whole = is_url(self.tree.place)
        for extent in head.parts:
            of = 1 if whole or extent.graph == WHOLE else max(1, -(-extent.size // BATCH))
            of = self._split.get((head.rank, extent.graph, extent.iteration), of)
            for batch in range(of):
                yield Part(head.rank, extent.graph, extent.iteration, batch, of), extent.size // of, extent.stamp

    def divide(self, part: Part, of: int) -> None:
        """Has the iteration of a part read in so many batches."""
        if of != part.of:
            self._split[part[:3]] = of

    def _capture(self) -> Capture:
        readable = [head for head in self.heads if not head.unreadable]
        if not readable:
            raise TreeError(self.heads[0].unreadable)
        first = readable[0]
        named = {name for head in self.heads for name in head.networks}
        network = chosen(named, self.tree.network, self.given) if named or self.tree.network else first.network
        emulated = any(head.emulated for head in readable)
        problems = list(self._problems)
        artefacts: Mapping[str, bytes] = first.artefacts
        if len(self.heads) > 1:
            # A head that cannot be read says nothing of who wrote its rank, and so not which texts it has.
            artefacts = {_of_rank(h.rank, name): raw for h in readable for name, raw in h.artefacts.items()}
        return Capture(
            network,
            first.backend if emulated or first.backend == TORCH or "engine" in first.rules else "mindspore",
            emulated,
            lambda: self._records(problems),
            next((head.mode for head in readable if head.mode), "tensor"),
            rules=dict(first.rules),
            artefacts=artefacts,
            execution_order=first.order,
            problems=problems,
            listed=lambda: sum(len(step.slots) for read in self.reads.values() for step in read.steps),
        )

    def take(self, part: Part, read: Read, closed: Mapping[tuple[int, int], bool]) -> None:
        """Notes what was read of a part."""
        if read != NOTHING or part in self.reads:
            self.reads[part] = read
        if closed:
            known = self.closed.setdefault(part.rank, {})
            for place, ends in closed.items():
                known[place] = known.get(place, False) or ends

    def read(self) -> None:
        """Reads every part that was not read yet."""
        if not self.complete:
            self._read(self)

    def _records(self, problems: list[Problem]) -> Iterator[Record]:
        self.read()
        self._look_at_a_single_step()
        problems[:] = self._problems
        for head in self.heads:
            yield from self._of_rank(head, problems)

    def _look_at_a_single_step(self) -> None:
        """Of a dump that is one step and no more, a step that cannot be read is an error, as it is to one process."""
        first = list(islice((part for head in self.heads for part, _, _ in self.parts_of(head)), 2))
        if len(first) == 1 and first[0].graph == WHOLE:
            for step in self.reads.get(first[0], NOTHING).steps:
                for problem in step.problems:
                    if problem.why.startswith(LEFT_OUT):
                        raise TreeError(problem.why.removeprefix(LEFT_OUT))

    def _of_rank(self, head: Head, problems: list[Problem]) -> Iterator[Record]:
        """As ``RankRecords`` gives them: all directories are listed, then executions come by their start."""
        places: dict[tuple[int, int], list[Part]] = {}
        for part, _, _ in self.parts_of(head):
            places.setdefault(part[1:3], []).append(part)
        streams = []
        for parts in places.values():
            for part in parts:
                problems += self.reads.get(part, NOTHING).listing
            # Batches hold other operators of one directory: of equal times the names decide.
            streams.append(
                heapq.merge(*(_tagged(part, self.reads.get(part, NOTHING).steps) for part in parts), key=_in_directory)
            )
        for part, step in heapq.merge(*streams, key=lambda each: each[1].started):
            problems += step.problems
            for slot in step.slots:
                yield self._record(part, slot)
        for parts in places.values():
            problems += [each for part in parts for each in self.reads.get(part, NOTHING).ending]
        problems += head.constants
        problems += unfinished(head.network, head.last, self.closed.get(head.rank, {}))

    def _record(self, part: Part, slot: Slot) -> Record:
        record = slot.record
        extra = replace(record.extra, described=slot.described)
        return replace(record, values=RemoteValues(self, part, slot) if slot.kept else None, extra=extra)

    # -- values ----------------------------------------------------------------------------------------------------
    def expect(self, wanted: Iterable[Record]) -> None:
        """Announces whose values will be requested, in order, so that many are fetched at a time."""
        self._coming = [
            (record.values.part, record.values.slot) for record in wanted if isinstance(record.values, RemoteValues)
        ]
        self._at = {slot.record.key: at for at, (_, slot) in enumerate(self._coming)}

    @property
    def coming(self) -> list[tuple[Part, SlotKey, bytes]]:
        """What is expected: parts, slots and their digests."""
        return [(p, s.record.key, s.record.digest) for p, s in self._coming if s.record.digest is not None]

    def values(self, part: Part, slot: Slot) -> Array:
        """A slot's values; also brings those that are expected next."""
        key = slot.record.key
        if key in self._kept:
            return self._kept.pop(key)
        size, together = 0, [(part, slot)]
        for each in self._coming[self._at[key] + 1 :] if key in self._at else ():
            size += _size(each[1])
            if size > FETCHED:
                break
            together.append(each)
        by_part: dict[Part, list[SlotKey]] = {}
        for where, each_slot in together:
            by_part.setdefault(where, []).append(each_slot.record.key)
        self._kept.clear()
        for where, keys in by_part.items():
            for name, array in zip(keys, self._fetch(self, where, tuple(keys)), strict=True):
                self._kept[name] = array
        return self._kept.pop(key)


def _of_rank(rank: int, name: str) -> str:
    """The name of a rank's text among those of several ranks; what msprobe's dumps state is named by its rank."""
    return name if name.startswith(f"{COMPARED}stated") else f"rank_{rank}/{name}"


def _size(slot: Slot) -> int:
    from harness.dtypes import by_name

    return int(np.prod(slot.record.shape, dtype=np.int64)) * by_name(slot.record.dtype).itemsize


def _tagged(part: Part, steps: Iterable[ReadExecution]) -> Iterator[tuple[Part, ReadExecution]]:
    return ((part, step) for step in steps)


def _in_directory(each: tuple[Part, ReadExecution]) -> tuple[Any, ...]:
    """The order of one directory's executions, whatever batch read them."""
    part, step = each
    first = step.slots[0].record if step.slots else None
    names = (first.op_type, first.key.operator) if first is not None else ("", "")
    return (*step.started, *(names if part.graph != WHOLE else ()))
