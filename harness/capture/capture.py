"""A capture: everything one run left, in memory or still on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.records import Record, Rows

COMPARED = "compared/"
"""Where artefacts of a dump mode lie that are results."""
RECORDED = "rdr/"
"""Where the artefacts of the Running Data Recorder lie, then below the number of its mode."""
RESULTS = (COMPARED, RECORDED)
"""Artefacts below these are compared like records; the others only describe."""


class Problem(NamedTuple):
    """Something in a dump tree that is not in the records.

    Attributes:
        path: of the file, relative to the tree.
        kind: ``incomplete``, ``damaged``, ``name``, ``unjoined`` or ``skipped``; ``empty``: perhaps nothing is missing.
        why: what is wrong with it.

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


@dataclass(eq=False)
class Capture:
    """What a run left: tensors, graphs, execution order.

    Attributes:
        network: name of the network.
        backend: ``cpu``, ``mindspore``, ...
        mode: dump mode (``tensor``).
        emulated: True if the harness computed the values by emulating a device; ``rules`` says how.
        rules: provenance: rules of the emulation, versions.
        artefacts: normalised texts by path (``graphs/ms_output_trace_code_graph_0.ir``).
        execution_order: kernel names by graph id, with the numbers of dump files, in the order they were planned.
        source: the records in the order they were executed, or a function that starts over; a source that is an
            iterator can be read once only.
        problems: what a dump tree holds and ``records`` does not give; of a tree complete once ``records`` was read
            to its end.
        listed: how many records there will be, as far as is known: of a tree, of what was listed by now; else 0.
        as_rows: gives the records as columns, where they are rows of statistics and nothing else; else None, and
            ``problems`` say nothing.
        places: the user's lines that make layers (``train.py:31``), by scope; known of a run in this process.
        sources: of a tree that can be read in parts, one ``RankRecords`` a rank.

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
    places: Mapping[str, str] = field(default_factory=dict, repr=False)

    def records(self) -> Iterator[Record]:
        """The records, in the order they were executed; of a tree, read as they are asked for."""
        return iter(self.source() if callable(self.source) else self.source)

    @property
    def lost(self) -> list[Problem]:
        """The problems that took something: all but iterations that may have held nothing."""
        return [problem for problem in self.problems if problem.kind != "empty"]


def in_turn(sources: Iterable[Iterable[Record]], problems: list[Problem]) -> Callable[[], Iterator[Record]]:
    """A ``source`` of a capture: the records of each of ``sources`` in turn, read anew; ``problems`` are then those it
    has now and those of the last reading."""
    noted = list(problems)

    def records() -> Iterator[Record]:
        problems[:] = noted
        for source in sources:
            yield from source

    return records
