"""A capture from operators that are known after the fact: what a log tells, or what another tool kept.

It is a recording without a program: values are those of ``recording.Value``, edges those of ``recording.Edge``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.capture.capture import Capture, Problem
from harness.errors import RecordingError
from harness.recording.described import Described, Edge
from harness.recording.operator import is_plain
from harness.recording.value import Value, values_of
from harness.records import Record, RecordExtra, SlotKey
from harness.stats import digest


class CaptureBuilder:
    """Collects operators and what they took and gave, in execution order.

    Args:
        network: name of the network.
        engine: name and version of what ran it; its name is the capture's backend, unless that is given.
        backend: of the capture.
        mode: dump mode of the capture.
        rank: process rank.
        rules: provenance of the values.
        copy: whether arrays are copied; else the capture says that they are borrowed.

    Raises:
        RecordingError: a name is empty or no text.

    Examples:
        >>> import numpy as np
        >>> from harness.capture import CaptureBuilder
        >>> from harness.recording import Edge
        >>> builder = CaptureBuilder("net", "tinyrt 1.0")
        >>> name = builder.operator("net/scale", "Mul", {"by": 2.0}, inputs=[Edge("argument", "x")])
        >>> builder.launch(name, inputs=[np.float32([1, 2])], outputs=[np.float32([2, 4])])
        >>> capture = builder.capture()
        >>> capture["scale"]["output.0"], capture.operators[0, 0, "net/scale"].attributes
        (array([2., 4.], dtype=float32), {'by': 2.0})
    """

    def __init__(
        self, network: str, engine: str, *, backend: str = "", mode: str = "tensor", rank: int = 0,
        rules: Mapping[str, Any] | None = None, copy: bool = True,
    ) -> None:  # fmt: skip
        for what, given in (("network", network), ("engine", engine)):
            if not isinstance(given, str) or not given:
                raise RecordingError(f"a capture's {what} is a text; given: {given!r:.60}")
        if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank < 2**31:
            raise RecordingError(f"a rank is a number from 0; given: {rank!r:.60}")
        self._network, self._engine, self._mode, self._rank = network, engine, mode, rank
        self._backend = backend or engine.split(" ")[0]
        self._rules, self._copy = dict(rules or {}), copy
        self._operators: dict[tuple[int, int, str], Described] = {}
        self._results: dict[tuple[int, int], tuple[Edge, ...]] = {}
        self._records: list[Record] = []
        self._problems: list[Problem] = []
        self._executions: Counter[tuple[int, int, str]] = Counter()
        self._iteration = 0

    def operator(
        self, name: str, type: str, attributes: Mapping[str, Any] | None = None, *, scope: str | None = None,
        inputs: Sequence[Edge] = (), names: Sequence[str] = (), graph: int = 0, mutates: Sequence[int] | None = None,
        source: str | None = None, phase: str = "",
    ) -> str:  # fmt: skip
        """Declares an operator; returns its name.

        Args:
            name: full name, by which edges and launches refer to it; in a graph each is there once.
            type: primitive name.
            attributes: numbers, texts, dtypes, arrays, None, and lists, tuples and dicts of these.
            scope: path of the layer; None: what comes before the last ``/`` of the name.
            inputs: where each input comes from, by slot.
            names: what the engine calls the inputs, by slot.
            graph: id of its graph.
            mutates: slots of inputs whose memory it updates; None: nobody knows.
            source: line it was written at.
            phase: ``forward``, ``backward``, ``optimizer``.

        Raises:
            RecordingError: the name is there already, or something is not what is accepted.
        """
        for what, given in (("name", name), ("type", type)):
            if not isinstance(given, str) or not given:
                raise RecordingError(f"an operator's {what} is a text; given: {given!r:.60}")
        key = self._rank, graph, name
        if key in self._operators:
            raise RecordingError(f"{name}: graph {graph} has an operator of this name")
        for attribute, value in (attributes or {}).items():
            if not isinstance(attribute, str) or not is_plain(value):
                raise RecordingError(f"{name}: attribute {attribute!r} is {value!r:.60}, which no capture keeps")
        for edge in inputs:
            if not isinstance(edge, Edge):
                raise RecordingError(f"{name}: an input is a recording.Edge; given: {edge!r:.60}")
        own = name.rpartition("/")[0] if scope is None else scope
        self._operators[key] = Described(
            name, type, own, graph, self._rank, dict(attributes or {}), tuple(inputs), tuple(names),
            mutates=None if mutates is None else tuple(mutates), source=source, phase=phase,
        )  # fmt: skip
        return name

    def step(self, label: int) -> None:
        """What follows belongs to the step ``label``; steps are counted from 0 where nobody says it."""
        if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < 2**32:
            raise RecordingError(f"a step's label is a number from 0; given: {label!r:.60}")
        self._iteration = label

    def launch(self, name: str, inputs: Any = (), outputs: Any = (), *, graph: int = 0) -> None:
        """An operator ran.

        Args:
            name: of an operator that was declared.
            inputs, outputs: arrays and ``recording.Value``s by slot, None for a hole. A ``Value`` may have a gap in
                place of data, or statistics and a digest with it.
            graph: id of its graph.

        Raises:
            RecordingError: there is no such operator, or a value cannot be recorded.
        """
        operator = self._operators.get((self._rank, graph, name))
        if operator is None:
            raise RecordingError(f"{name} is launched, but graph {graph} declares no operator of this name")
        given = [(io, values_of(each, f"{name}, {io}s")) for io, each in (("input", inputs), ("output", outputs))]
        place = graph, self._iteration, name
        execution = self._executions[place]
        self._executions[place] += 1
        for io, values in given:
            for value in values:
                key = SlotKey(self._rank, graph, self._iteration, name, execution, io, value.index)
                self._take(key, operator, value)
        if not operator.outputs:
            specs = {value.index: (value.dtype.name, value.shape) for value in given[1][1] if value.gap is None}
            known = tuple(specs.get(slot) for slot in range(max(specs, default=-1) + 1))
            self._operators[self._rank, graph, name] = replace(operator, outputs=known)

    def results(self, edges: Iterable[Edge], graph: int = 0) -> None:
        """What a graph gives, in order.

        Args:
            edges: where each result comes from.
            graph: id of the graph.
        """
        self._results[self._rank, graph] = tuple(edges)

    def capture(self) -> Capture:
        """All so far."""
        made = Capture(
            self._network, self._backend, False, tuple(self._records), self._mode,
            {**self._rules, "engine": self._engine}, problems=list(self._problems),
        )  # fmt: skip
        made.operators, made.results = dict(self._operators), dict(self._results)
        made.engine, made.borrowed = self._engine, not self._copy
        return made

    def _take(self, key: SlotKey, operator: Described, value: Value) -> None:
        if value.gap is not None:
            why = f"{key.operator} {key.slot_name}"
            self._problems.append(Problem(why, "gap", value.gap, key, operator.type))
            return
        array = value.array
        if not array.size:
            return
        kept = np.array(array, order="C", copy=True) if self._copy and not value.stable else array
        known = digest(kept, value.dtype.name) if value.digest is None else value.digest
        extra = RecordExtra(statistics=value.statistics)
        facts: dict[str, Any] = {"values": kept, "source": operator.source, "digest": known, "extra": extra}
        self._records.append(Record(key, operator.type, value.dtype.name, value.shape, **facts))
