"""A capture: all results of one run, in memory or still on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.records import Gap, Record, Rows, SlotKey
from harness.words import counted

if TYPE_CHECKING:
    from harness.capture.part import Part
    from harness.recording.described import Described, Edge

COMPARED = "compared/"
"""Path prefix of a dump mode's artefacts that are results."""
RECORDED = "rdr/"
"""Path prefix of the Running Data Recorder's artefacts; the number of its mode follows."""
RESULTS = (COMPARED, RECORDED)
"""Artefacts with these prefixes are compared like records; the others only describe the run."""


class Problem(NamedTuple):
    """A file of a dump tree, or a slot of a run, that is missing from the records, and why.

    Attributes:
        path: path of the file, relative to the tree; or the slot in words.
        kind: ``incomplete``, ``damaged``, ``name``, ``unjoined``, ``skipped`` or ``gap``; ``empty``: perhaps nothing is
            missing; ``note``: nothing is missing, but people should know.
        why: what is wrong with it.
        slot: the slot, where it is known; None for a file.
        op_type: primitive name of the slot's operator.

    Examples:
        >>> import os
        >>> from pathlib import Path
        >>> from harness.capture import read_tree
        >>> file = min(Path("later").rglob("*.npy"))
        >>> os.truncate(file, 40)
        >>> capture = read_tree("later")
        >>> len(list(capture.records())), [problem.kind for problem in capture.problems]
        (11, ['incomplete'])
    """

    path: str
    kind: str
    why: str
    slot: SlotKey | None = None
    op_type: str = ""


@dataclass(eq=False)
class Capture:
    """The results of a run: tensors, graphs, execution order.

    Attributes:
        network: name of the network.
        backend: ``cpu``, ``mindspore``, ...
        mode: dump mode (``tensor``).
        emulated: True if the harness computed the values by emulating a device; ``rules`` says how.
        rules: provenance of the values: rules of the emulation, versions.
        artefacts: normalised texts by path (``graphs/ms_output_trace_code_graph_0.ir``).
        execution_order: kernel names by graph id, with the numbers of dump files, in planned order.
        source: the records in execution order, or a function that gives them each time; an iterator is read only once.
        problems: files of a dump tree that ``records`` leaves out; complete after ``records`` was read to its end.
        listed: the number of records known so far: those listed in a tree; else 0.
        as_rows: gives the records as columns if all of them are rows of statistics; else None, and ``problems`` are
            unknown.
        places: the user's lines that make layers (``train.py:31``), by scope; known only for a run in this process.
        unranked: whether it is of one process whose rank the dump does not state.
        sources: one ``RankRecords`` per rank, for a tree that can be read in parts.
        networks: names of all networks whose tensors the tree holds, also of those that were not asked for.
        execution: gives the records of one execution (the first five fields of a key) without reading all others; None
            if that cannot be done.
        stated: whether statistics are all that is known of records without values: they prove no bits.
        operators: what each operator is and where its inputs come from, by rank, graph and name; made when it is first
            read, empty where nobody described them. An operator that is another one in a later step stands there again,
            as ``<name>@<label of the step>``.
        results: what each graph gives, by rank and graph.
        environment: facts of the environment, see ``harness.environment``; empty where nobody knows them.
        engine: name and version of the runtime, where it is not MindSpore, real or emulated; then empty.
        borrowed: whether arrays are the memory of somebody else, who may change it; else they are the capture's own, or
            are read from files.
        failed: what the operators were given at which steps ended with an error. They gave nothing, so ``records`` and
            goldens have none of it.
        unreadable: why one rank of several could not be read; else empty.

    Examples:
        >>> from harness.capture import Capture, read_tree
        >>> capture = read_tree("dump")
        >>> capture.network, capture.backend, capture.emulated
        ('Net', 'cpu', True)
        >>> doubled = Capture("Net", "cpu", True, capture.records, artefacts=capture.artefacts)
        >>> len(list(doubled.records())), sorted(doubled.artefacts)[:1]
        (12, ['execution_order/ms_execution_order_graph_0.csv'])
    """

    network: str
    backend: str
    emulated: bool
    source: Iterable[Record] | Callable[[], Iterable[Record]] = field(repr=False)
    mode: str = "tensor"
    rules: dict[str, Any] = field(default_factory=dict)
    artefacts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    execution_order: Mapping[int, tuple[str, ...]] = field(default_factory=dict, repr=False)
    problems: list[Problem] = field(default_factory=list)
    listed: Callable[[], int] = field(default=lambda: 0, repr=False)
    as_rows: Callable[[], Rows | None] = field(default=lambda: None, repr=False)
    sources: Sequence[Any] = field(default=(), repr=False)
    networks: Sequence[str] = field(default=(), repr=False)
    unreadable: str = ""
    places: Mapping[str, str] = field(default_factory=dict, repr=False)
    unranked: bool = False
    execution: Callable[[tuple[int, int, int, str, int]], list[Record] | None] = field(
        default=lambda _where: None, repr=False
    )
    stated: bool = False
    operators: Mapping[tuple[int, int, str], Described] = field(default_factory=dict, repr=False)
    results: Mapping[tuple[int, int], Sequence[Edge]] = field(default_factory=dict, repr=False)
    environment: Mapping[str, Any] = field(default_factory=dict, repr=False)
    engine: str = ""
    borrowed: bool = False
    failed: Sequence[Record] = field(default=(), repr=False)

    def records(self) -> Iterator[Record]:
        """The records in execution order; those of a tree are read on request."""
        return iter(self.source() if callable(self.source) else self.source)

    @property
    def lost(self) -> list[Problem]:
        """Files that were lost: all problems except slots, iterations that may have been empty, and notes."""
        return [each for each in self.problems if each.slot is None and each.kind not in ("empty", "note")]

    @property
    def gaps(self) -> list[Gap]:
        """The slots that could not be read, each once; complete after ``records`` was read to its end."""
        if not self.problems:
            return []
        found = {each.slot: each for each in self.problems if each.slot is not None and each.kind != "note"}
        return [Gap(key, each.op_type, each.why) for key, each in found.items()]

    def __getitem__(self, name: str) -> Part:
        """The operators and slots of this name: an operator's or parameter's full name, or that of a layer.

        Raises:
            KeyError: there are none; the message names what comes near.
        """
        from harness.capture.part import found

        return found(name, self.records(), self.operators)

    def _repr_html_(self) -> str:
        """As a notebook shows it: its title, and the slots it begins with. A tree is read for it."""
        from harness import notebook

        records = list(self.records())
        rows = (
            (each.key.iteration, each.key.operator, each.key.slot_name, f"{each.dtype}{list(each.shape)}", each.source)
            for each in records
        )
        made = "emulated" if self.emulated else "real"
        title = f"{self.network}: {self.backend}, {self.mode} ({made}), {counted(len(records), 'slot')}"
        gaps = f", {counted(len(self.gaps), 'gap')}" if self.gaps else ""
        heads = ("iteration", "operator", "slot", "type", "source")
        return notebook.table(title + gaps, heads, rows, len(records))

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with a row for each slot, in execution order: its key, type, dtype, shape, source,
        digest and statistics.

        Raises:
            HarnessError: pandas is not installed.
        """
        from harness.capture.frame import frame

        return frame(self.records())

    def __getstate__(self) -> dict[str, Any]:
        """All that it holds, values included; what can only be read from files of this machine is read now."""
        from harness.capture.pickling import state

        return state(self)


def in_turn(sources: Iterable[Iterable[Record]], problems: list[Problem]) -> Callable[[], Iterator[Record]]:
    """Makes a ``source`` of a capture: it reads the records of each of ``sources`` in turn, and sets ``problems`` to
    the present ones and those of this reading."""
    noted = list(problems)

    def records() -> Iterator[Record]:
        problems[:] = noted
        for source in sources:
            yield from source

    return records
