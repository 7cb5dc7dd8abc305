"""Messages between the driver and its workers: places, parts of work and their results, without values of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from harness.capture import Problem
from harness.capture.msprobe_steps import ALL_GRAPHS
from harness.compare import SlotVerdict
from harness.compare.audit import Looseness
from harness.compare.tolerances import Tolerances
from harness.records import Record, RecordExtra, SlotKey
from harness.scale.keep import Keep
from harness.stats import Statistics

#: The graph of a part that holds all graphs of an iteration.
WHOLE = ALL_GRAPHS


@dataclass(frozen=True, slots=True)
class Tree:
    """A dump tree, as its driver names it.

    Attributes:
        place: a directory, a template of directories with ``{host}`` in it, or a URL.
        network: of a tree that holds several; None for the only one.
        rootdir: source paths are given relative to it.
    """

    place: str
    network: str | None
    rootdir: str


@dataclass(frozen=True, slots=True)
class Golden:
    """A run of a golden store that a worker may see.

    Attributes:
        path: of the store.
        run: its key, see ``RunId``.
        checksum: of the run; a store that says otherwise is another.
    """

    path: str
    run: tuple[Any, ...]
    checksum: str


Side = Tree | Golden


class Part(NamedTuple):
    """A part of a tree: one batch of an iteration.

    Attributes:
        graph: ``WHOLE`` for all of an iteration.
        batch, of: which of how many batches; what operator's name falls to it.
    """

    rank: int
    graph: int
    iteration: int
    batch: int = 0
    of: int = 1


class Extent(NamedTuple):
    """An iteration directory: how large it is, and a text that changes with its files."""

    graph: int
    iteration: int
    size: int
    stamp: str


@dataclass(frozen=True, slots=True)
class Head:
    """What a rank's directory says besides its tensors; see ``Capture``.

    Attributes:
        parts: its iteration directories.
        networks: names of all it holds tensors of.
        unreadable: why nothing could be told of it; empty where something was.
        last: by graph, the iteration that was begun last.
        problems: of its graphs; ``constants``: of its constants, which are not tensors of a step.
    """

    rank: int
    network: str
    backend: str
    emulated: bool
    mode: str
    rules: Mapping[str, Any]
    artefacts: Mapping[str, bytes]
    order: Mapping[int, tuple[str, ...]]
    parts: tuple[Extent, ...]
    last: Mapping[int, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    constants: tuple[Problem, ...] = ()
    networks: tuple[str, ...] = ()
    unreadable: str = ""


class Slot(NamedTuple):
    """A record without its values.

    Attributes:
        record: its ``digest`` is known.
        kept: whether the tree has its values.
        described: its statistics, where they were wanted.
    """

    record: Record
    kept: bool
    described: Statistics | None = None


@dataclass(slots=True)
class ReadExecution:
    """One execution: when it started, its slots, what of it could not be used."""

    started: tuple[int, int, int]
    slots: list[Slot] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Read:
    """The result of reading a part of a tree.

    Attributes:
        listing: problems met while the directory was listed; ``ending``: after its last tensor.
        closed: see ``RankRecords.closed``; of graphs of which the tree states the iteration that was begun last.
    """

    listing: list[Problem] = field(default_factory=list)
    steps: list[ReadExecution] = field(default_factory=list)
    ending: list[Problem] = field(default_factory=list)
    closed: Mapping[tuple[int, int], bool] = field(default_factory=dict)


class Judged(NamedTuple):
    """A verdict on a slot whose values differ, and the digests it is of; None where nobody lists the slot."""

    key: SlotKey
    verdict: SlotVerdict
    expected: bytes | None
    found: bytes | None


#: When the first and the last execution of a part started; None where it has none.
Span = tuple[tuple[int, int, int], tuple[int, int, int]] | None


class Left(NamedTuple):
    """What stands for the slots of a part that all hold.

    Attributes:
        structure: a digest of all that makes the verdicts on identical slots, but for rank and iteration.
        counts: number of slots that are identical, within their tolerance, and rows of statistics that agree.
        expected, found: when each side's executions started.
    """

    structure: bytes
    counts: tuple[int, int, int]
    expected: Span = None
    found: Span = None


class Look(NamedTuple):
    """What makes the verdict on an identical slot, but for rank and iteration; see ``SlotVerdict``.

    Attributes:
        statistics: whether rows of statistics agree, and not values.
    """

    graph: int
    operator: str
    execution: int
    io: str
    slot: int
    op_type: str
    dtype: str
    shape: tuple[int, ...]
    format: str
    source: str | None
    statistics: bool


@dataclass(slots=True)
class Done:
    """The result of a part: what was read of each side that is a tree, and the verdicts on differing slots.

    Attributes:
        aligned: whether both sides are known to have the same slots, in equal shapes.
        left: stands for the slots, which both sides then lack.
        looks: of the slots, where they were asked for.
    """

    expected: Read | None = None
    found: Read | None = None
    judged: list[Judged] = field(default_factory=list)
    aligned: bool = False
    left: Left | None = None
    looks: tuple[Look, ...] = ()


class Own(NamedTuple):
    """What tells a part from others that are alike, of its expected and its found side.

    Attributes:
        spans: see ``Left``.
        closed: see ``Read``.
    """

    spans: tuple[Span, Span] = (None, None)
    closed: tuple[Mapping[tuple[int, int], bool], Mapping[tuple[int, int], bool]] = ({}, {})


class Folded(NamedTuple):
    """The results of the parts of one task, reduced on their host: parts in a row that are alike have one result.

    Attributes:
        alike: how many, and the result of each of them.
        own: of each part; nothing where it is the same for all.
    """

    alike: tuple[tuple[int, Done], ...]
    own: tuple[Own, ...] = ()

    @property
    def parts(self) -> int:
        """Number of parts."""
        return sum(count for count, _ in self.alike)

    def each(self) -> Iterator[tuple[Done, Own]]:
        """The results one by one; those that are alike may be one object."""
        own = iter(self.own)
        for count, done in self.alike:
            for _ in range(count):
                mine = next(own, Own())
                if done.left is not None and mine.spans != (None, None):
                    yield replace(done, left=done.left._replace(expected=mine.spans[0], found=mine.spans[1])), mine
                else:
                    yield done, mine


def folded(results: Iterable[Done]) -> Folded:
    """Takes apart what parts have in common and what is their own; ``results`` are used up."""
    alike: list[tuple[int, Done]] = []
    own = []
    for done in results:
        spans: tuple[Span, Span] = (None, None)
        if done.left is not None:
            spans = done.left.expected, done.left.found
            done.left = done.left._replace(expected=None, found=None)
        closed = []
        for read in (done.expected, done.found):
            closed.append({} if read is None else read.closed)
            if read is not None:
                read.closed = {}
        own.append(Own(spans, (closed[0], closed[1])))
        if alike and alike[-1][1] == done:
            alike[-1] = alike[-1][0] + 1, done
        else:
            alike.append((1, done))
    return Folded(tuple(alike), tuple(own) if any(each != Own() for each in own) else ())


@dataclass(frozen=True, slots=True)
class Failed:
    """A deliberate error that work met; the driver raises it.

    Attributes:
        kind: name of its class in ``harness.errors``.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """The worker does not see what it was asked for."""


@dataclass(frozen=True, slots=True)
class Work:
    """A part to read.

    Attributes:
        expected, found: sides of a comparison; one alone is only read.
        tolerances: what is admitted; None where nothing is judged.
        measured: see ``harness.compare.check``.
        described: whether statistics are wanted, too.
        only: patterns ``OPERATOR:SLOT`` of the slots that are wanted, beside one that shows that the rank is there.
        keep: of a part whose slots all hold: ``all`` of them, ``reasoned`` ones, their ``counts`` (``ordered``: and
            when it ran), or their ``looks``.
    """

    part: Part
    expected: Side | None
    found: Side | None
    tolerances: Tolerances | None = None
    measured: bool = True
    described: bool = False
    keep: Keep = "all"
    only: tuple[str, ...] = ()


#: What may stand in a journal.
KNOWN = (
    Part,
    Extent,
    Head,
    Slot,
    ReadExecution,
    Read,
    Judged,
    Left,
    Look,
    Done,
    Own,
    Folded,
    Problem,
    SlotKey,
    Record,
    RecordExtra,
    SlotVerdict,
    Statistics,
    Looseness,
)
