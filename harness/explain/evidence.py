"""One side of a comparison for an explanation: its records by place, and its graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from harness.compare.divergence import PARAMETER, Execution
from harness.errors import HarnessError
from harness.explain.graphs import Graphs, Stated, Texts, texts_of_rank
from harness.explain.names import input_name
from harness.explain.statements import given_name
from harness.recording.described import Described
from harness.records import Record, SlotKey
from harness.replaying import MINDSPORE, is_mindspore
from harness.stats import digest

Array = np.ndarray[Any, np.dtype[Any]]

#: Larger tensors are neither examined nor computed again: that would take longer than the run.
MAX_ELEMENTS = 1 << 22


class Evidence:
    """A run, golden or fresh.

    Args:
        records: its records in execution order, read again at each call.
        artefacts: its texts by path; called once, if something differs.
        backend: ``cpu``, ``gpu``, ``mindspore``, ...
        emulated: whether the harness computed it.
        places: see ``Capture.places``.
        execution: gives the records of one execution without reading all others; None if it cannot.
        stated: whether statistics are all that is known of records without values: they prove no bits.
        operators: gives its operators as their engine described them; asked once, if something differs.
        engine: name of the engine whose operators these are; empty for MindSpore, real or emulated.

    Examples:
        >>> from harness.capture import read_tree
        >>> from harness.explain import Evidence
        >>> capture = read_tree("dump")
        >>> evidence = Evidence(capture.records, lambda: capture.artefacts, capture.backend, capture.emulated)
        >>> evidence.backend, evidence.emulated
        ('cpu', True)
    """

    def __init__(
        self,
        records: Callable[[], Iterable[Record]],
        artefacts: Callable[[], Mapping[str, bytes]],
        backend: str = "",
        emulated: bool = False,
        places: Mapping[str, str] | None = None,
        execution: Callable[[Execution], list[Record] | None] = lambda _where: None,
        stated: bool = False,
        operators: Callable[[], Iterable[Described]] = tuple,
        engine: str = "",
    ) -> None:
        self._records = records
        self._artefacts = artefacts
        self.backend = backend
        self.emulated = emulated
        self._places = places or {}
        self._digests: dict[SlotKey, bytes | None] = {}
        self._execution = execution
        self._read: dict[Execution, list[Record] | None] = {}
        self.stated = stated
        self._operators = operators
        self.engine = engine

    def of_rank(self, rank: int) -> Evidence:
        """This side as ``rank`` alone had it: what one process computed is explained by what that process had."""

        def records() -> Iterable[Record]:
            return (record for record in self._records() if record.key.rank == rank)

        def operators() -> Iterable[Described]:
            return (operator for operator in self._operators() if operator.rank == rank)

        return Evidence(
            records, lambda: texts_of_rank(self._artefacts(), rank), self.backend, self.emulated, self._places,
            self._execution, self.stated, operators, self.engine,
        )  # fmt: skip

    def place(self, operator: str) -> str:
        """The user's line that made the layer an operator is in; empty if it is unknown."""
        scope = operator.removeprefix("Gradients/").rpartition("/")[0]
        while scope and scope not in self._places:
            scope = scope.rpartition("/")[0]
        return self._places.get(scope, "")

    @cached_property
    def by_key(self) -> dict[SlotKey, Record]:
        """All records by their keys."""
        return {record.key: record for record in self._records()}

    def own(self, record: Record) -> Record:
        """A record of a comparison as this side knows it."""
        return record

    def know(self, record: Record, values: Array | None) -> None:
        """Takes values for those of a record that kept none, if they are; nothing where values were kept."""

    @cached_property
    def graphs(self) -> Graphs:
        """Its graphs: as the engine described them, else from texts."""
        told = Stated(self._operators(), self.engine)
        return told if told else self.texts

    @cached_property
    def texts(self) -> Graphs:
        """Its graphs, from its texts alone."""
        try:
            return Texts(self._artefacts())
        except HarnessError:
            return Graphs()

    def input_name(self, op: str, slot: int) -> str:
        """Name of an input of an operator whose graph is unknown: MindSpore's, of its own types.

        Args:
            op: the operator's type.
            slot: number of the input.
        """
        engine = self.graphs.engine if self.graphs else self.engine or MINDSPORE
        return input_name(op, slot) if is_mindspore(engine) else given_name((), slot)

    def operators(self) -> Mapping[tuple[int, int, str], Described]:
        """Its operators by rank, graph and name, as their engine described them."""
        return {(each.rank, each.graph, each.name): each for each in self._operators()}

    def from_texts(self) -> None:
        """Takes its graphs from texts from now on, because the other side has nothing else."""
        self.__dict__["graphs"] = self.texts

    @cached_property
    def _executions(self) -> dict[Execution, list[Record]]:
        found: dict[Execution, list[Record]] = {}
        for record in self.by_key.values():
            found.setdefault(Execution(*record.key[:5]), []).append(record)
        return found

    @cached_property
    def order(self) -> list[Execution]:
        """All executions in order, parameters included."""
        return list(self._executions)

    def slots(self, where: Execution, io: str) -> dict[int, Record]:
        """The records of the execution ``where`` by slot; ``io`` is ``input`` or ``output``."""
        return {record.key.slot: record for record in self._of(where) if record.key.io == io}

    def _of(self, where: Execution) -> Sequence[Record]:
        """The records of an execution; all others are read only if this one cannot be found without."""
        if "_executions" not in self.__dict__:
            if where not in self._read:
                self._read[where] = self._execution(where)
            if (found := self._read[where]) is not None:
                return found
        return self._executions.get(where, ())

    def content(self, record: Record) -> bytes | None:
        """A digest of the values of ``record``; None if neither digest nor values are known."""
        if record.digest is None and record.key not in self._digests:
            values = loaded(record)
            self._digests[record.key] = None if values is None else digest(values, record.dtype)
        return record.digest or self._digests.get(record.key)

    @cached_property
    def _alike(self) -> dict[tuple[str, int], list[Record]]:
        found: dict[tuple[str, int], list[Record]] = {}
        for record in self.by_key.values():
            found.setdefault((record.dtype, prod(record.shape)), []).append(record)
        return found

    def holds(self, content: bytes | None, like: Record) -> bool:
        """Whether any slot with the dtype and size of ``like`` has this content."""
        every = self._alike.get((like.dtype, prod(like.shape)), ())
        return content is not None and any(self.content(each) == content for each in every)

    def op_type(self, where: Execution) -> str:
        """Primitive name of the execution ``where``; empty if the run lacks it."""
        return next((record.op_type for record in self._of(where)), "")

    def has(self, where: Execution) -> bool:
        """Whether the run has the execution ``where``."""
        return where in self._executions

    def parameter(self, name: str, rank: int, iteration: int) -> Record | None:
        """The parameter ``name`` of a ``rank``, as dumped at the end of step ``iteration``; None if it is missing."""
        graphs = {key.graph for key in self.by_key}
        keys = (SlotKey(rank, graph, iteration, name, 0, "output", 0) for graph in sorted(graphs))
        found = (self.by_key.get(key) for key in keys)
        return next((record for record in found if record is not None and record.op_type == PARAMETER), None)

    @cached_property
    def parameters(self) -> list[Record]:
        """Every dumped parameter."""
        return [record for record in self.by_key.values() if record.op_type == PARAMETER]


#: the backend whose modules are captured operator by operator
PYTORCH_BACKEND = "torch"


def is_of_records(run: Evidence) -> bool:
    """Whether its operators are PyTorch's: records say what each was given, also what its graph leaves out."""
    return run.backend == PYTORCH_BACKEND and not run.texts


def are_apart(one: Evidence, other: Evidence) -> bool:
    """Whether both sides have graphs, of different engines: their operators have types of their own."""
    engines = [side.graphs.engine for side in (one, other) if side.graphs]
    ours = [is_mindspore(engine) for engine in engines]
    return len(engines) > 1 and not all(ours) and (any(ours) or len({e.partition(" ")[0] for e in engines}) > 1)


def agree_on_graphs(expected: Evidence, found: Evidence) -> None:
    """Lets both sides read their graphs from texts where one has nothing else: texts round numbers, and leave out what
    an engine describes. Of another engine's graphs nothing is compared with those of the expected side."""
    if are_apart(expected, found):
        found.__dict__["graphs"] = Graphs()
        return
    kinds = [isinstance(side.graphs, Stated) for side in (expected, found)]
    if kinds[0] != kinds[1] and expected.texts and found.texts:
        (expected if kinds[0] else found).from_texts()


def loaded(record: Record | None) -> Array | None:
    """A record's values; None if they were not kept, cannot be read, or are too many."""
    if record is None:
        return None
    size = 1
    for length in record.shape:
        size *= length
    if size > MAX_ELEMENTS:
        return None
    try:
        return record.load()
    except HarnessError:
        return None
