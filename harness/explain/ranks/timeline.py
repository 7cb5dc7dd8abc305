"""A run of several ranks as its ranks see it: what each executed, in order, and the collectives in which they met."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from harness.compare.content import content
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.statements import Argument
from harness.records import Array, Record

#: where an execution is, without its rank: graph, iteration, operator, execution
Place = tuple[int, int, str, int]
PARAMETER, GRADIENT = "Parameter", "Gradient"
_HELD = frozenset({PARAMETER, GRADIENT})
_SETTINGS = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)
#: a collective's name without its namespace, underscores and case -> its kind
KINDS = {
    "allreduce": "all_reduce", "allreducecoalesced": "all_reduce", "allgather": "all_gather",
    "allgatherbase": "all_gather", "allgatherintotensor": "all_gather", "allgathercoalesced": "all_gather",
    "allgatherintotensorcoalesced": "all_gather", "reducescatter": "reduce_scatter",
    "reducescatterbase": "reduce_scatter", "reducescattertensor": "reduce_scatter",
    "reducescattertensorcoalesced": "reduce_scatter", "broadcast": "broadcast", "reduce": "reduce",
    "gather": "gather", "collectivegather": "gather", "scatter": "scatter", "collectivescatter": "scatter",
    "alltoall": "all_to_all", "alltoallbase": "all_to_all", "alltoallsingle": "all_to_all", "alltoallv": "all_to_all",
    "barrier": "barrier", "monitoredbarrier": "barrier", "send": "send", "recv": "recv", "recvanysource": "recv",
    "receive": "recv",
}  # fmt: skip
#: MindSpore's, whose names say what they are without a namespace
_PLAIN = frozenset({
    "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "AlltoAll", "AllToAllv", "AlltoAllV", "CollectiveGather",
    "CollectiveScatter", "Barrier", "Reduce", "Send", "Receive",
})  # fmt: skip
#: MindSpore's names of the group of all ranks, and of its reductions
_WORLDS = frozenset({"hccl_world_group", "nccl_world_group", "mccl_world_group"})
_REDUCTIONS = {"sum": "SUM", "max": "MAX", "min": "MIN", "prod": "PRODUCT"}
#: gives the attributes of an operator: of a rank, a graph, by name; None where nobody states them
Calls = Callable[[int, int, str], Mapping[str, Any] | None]
#: gives the arguments of an operator, likewise; none where nobody states them
Arguments = Callable[[int, int, str], Sequence[Argument]]
_SPACES = ("c10d", "_c10d_functional", "_c10d_functional_autograd", "Hcom")


def kind_of(op_type: str) -> str:
    """The kind of a collective (``all_reduce``); empty for any other operator."""
    space, _, plain = op_type.rpartition(".")
    if space in _SPACES or op_type in _PLAIN:
        return KINDS.get(plain.replace("_", "").lower(), "")
    return ""


def settings_of(attributes: Mapping[str, Any]) -> dict[str, str]:
    """What MindSpore's collectives state, in the words of PyTorch's: ``reduce_op=SUM``, ranks as numbers in a group."""
    found = {name: str(attributes[name]) for name in ("root_rank", "dest_rank") if name in attributes}
    if attributes.get("op") in _REDUCTIONS:
        found["reduce_op"] = _REDUCTIONS[attributes["op"]]
    return found


@dataclass(eq=False)
class Execution:
    """One execution of an operator on one rank.

    Attributes:
        rank, place, at: whose it is, where it is, and its number among those of its rank.
        op_type: its operator's type.
        inputs, outputs: its tensors' records, by slot.
        texts: its arguments that are texts or numbers.
        source: its source line; None if unknown.
        attributes: of a collective, as its graph states them; None if nobody does.
        members: the ranks of its group, by the group's name; None if that is unknown.
    """

    rank: int
    place: Place
    at: int
    op_type: str
    inputs: list[Record] = field(default_factory=list)
    outputs: list[Record] = field(default_factory=list)
    texts: list[Record] = field(default_factory=list)
    source: str | None = None
    attributes: Mapping[str, Any] | None = None
    members: tuple[int, ...] | None = None

    @cached_property
    def read(self) -> tuple[bytes, ...]:
        """Digests of the inputs."""
        return tuple(map(content, self.inputs))

    @cached_property
    def made(self) -> tuple[bytes, ...]:
        """Digests of the outputs."""
        return tuple(map(content, self.outputs))

    @cached_property
    def said(self) -> tuple[bytes, ...]:
        """Digests of the arguments."""
        return tuple(map(content, self.texts))

    @cached_property
    def kind(self) -> str:
        """See ``kind_of``."""
        return kind_of(self.op_type)

    @cached_property
    def settings(self) -> dict[str, str]:
        """The arguments that a text or a graph states, by name."""
        found = settings_of(self.attributes) if self.attributes is not None else {}
        for record in self.texts:
            array = record.load() if record.dtype == "UInt8" else None
            if array is not None:
                found |= dict(_SETTINGS.findall(array.tobytes().decode("utf-8", "replace")))
        return found

    @property
    def group(self) -> tuple[int, ...] | None:
        """The ranks of a collective's group; None where it does not say."""
        text = self.settings.get("group", "")
        return tuple(map(int, re.findall(r"\d+", text))) if re.fullmatch(r"\[[\d, ]*\]", text) else self.members

    @property
    def shapes(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Dtypes and shapes of the inputs."""
        return tuple((each.dtype, each.shape) for each in self.inputs)

    def values(self, io: str = "output") -> list[Array] | None:
        """The values of its outputs or inputs; None where they were not kept."""
        found = [record.load() for record in (self.outputs if io == "output" else self.inputs)]
        return None if any(each is None for each in found) else [np.asarray(each) for each in found]

    @property
    def operator(self) -> str:
        """Its operator's name."""
        return self.place[2]

    @property
    def iteration(self) -> int:
        """The label of its step."""
        return self.place[1]


@dataclass(eq=False)
class Meeting:
    """One collective: the same call of all ranks of a group.

    Attributes:
        group: its ranks, in order.
        calls: each rank's call; a rank that did not call is not there.
        known: whether the group is; else it may be a part of ``group``, which are all ranks.
    """

    group: tuple[int, ...]
    calls: dict[int, Execution]
    known: bool = True


class Run:
    """A run of several ranks.

    Args:
        records: of all ranks, each rank's in execution order.
        calls: what operators state beside their records.
        weights: gives the names of parameters that are no data; None if nobody knows.
        arguments: gives what graphs state of an operator's inputs.

    Attributes:
        ranks: in order.
        timeline: each rank's executions, in order.
        placed: each rank's executions by place.
    """

    def __init__(
        self,
        records: Iterable[Record],
        calls: Calls | None = None,
        weights: Callable[[], Container[str] | None] = lambda: None,
        arguments: Arguments = lambda _rank, _graph, _operator: (),
    ) -> None:
        self.timeline: dict[int, list[Execution]] = {}
        self.placed: dict[int, dict[Place, Execution]] = {}
        for record in records:
            key = record.key
            place: Place = key.graph, key.iteration, key.operator, key.execution
            placed = self.placed.setdefault(key.rank, {})
            found = placed.get(place)
            if found is None:
                line = self.timeline.setdefault(key.rank, [])
                found = placed[place] = Execution(key.rank, place, len(line), record.op_type, source=record.source)
                line.append(found)
            if record.format == ARGUMENT_FORMAT and key.io == "input":
                found.texts.append(record)
            else:
                (found.inputs if key.io == "input" else found.outputs).append(record)
        self.ranks = sorted(self.timeline)
        self._state_weights, self.arguments = weights, arguments
        if calls is not None:
            self._state(calls)

    def _state(self, calls: Calls) -> None:
        """Takes over what collectives state. A group's name stands for the ranks that call it."""
        named: dict[str, set[int]] = {}
        stated = []
        for rank, line in self.timeline.items():
            for each in line:
                if each.kind and not each.texts:
                    each.attributes = calls(rank, each.place[0], each.operator)
                    name = each.attributes.get("group") if each.attributes is not None else None
                    if isinstance(name, str):
                        stated.append((each, name))
                        named.setdefault(name, set()).add(rank)
        for each, name in stated:
            each.members = tuple(self.ranks if name in _WORLDS else sorted(named[name]))

    @cached_property
    def _weights(self) -> Container[str] | None:
        return self._state_weights()

    def is_weight(self, parameter: Execution) -> bool:
        """Whether a parameter is a weight or a state, and no data; where no graph tells, it may be."""
        return self._weights is None or parameter.operator in self._weights

    def group_of(self, call: Execution) -> tuple[tuple[int, ...], bool]:
        """The ranks of a collective's group, and whether that is known; else all ranks."""
        known = call.group
        return known or tuple(self.ranks), known is not None or call.op_type not in _PLAIN

    @cached_property
    def meetings(self) -> list[Meeting]:
        """All collectives, each group's calls paired by their number in it; by the first rank's order."""
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        found: dict[tuple[tuple[int, ...], int], Meeting] = {}
        for rank in self.ranks:
            for each in self.timeline[rank]:
                if each.kind and each.kind not in ("send", "recv"):
                    group, known = self.group_of(each)
                    number = numbers.get((rank, group), 0)
                    numbers[rank, group] = number + 1
                    found.setdefault((group, number), Meeting(group, {}, known)).calls[rank] = each
        return list(found.values())

    @cached_property
    def meeting_of(self) -> dict[int, Meeting]:
        """The meeting of each call, by its ``id``."""
        return {id(call): meeting for meeting in self.meetings for call in meeting.calls.values()}

    @cached_property
    def epochs(self) -> dict[int, list[int]]:
        """How many collectives each rank has passed before each of its executions."""
        found: dict[int, list[int]] = {}
        for rank in self.ranks:
            passed, counts = 0, []
            for each in self.timeline[rank]:
                counts.append(passed)
                passed += bool(each.kind)
            found[rank] = counts
        return found

    def when(self, execution: Execution) -> tuple[int, int, int]:
        """Orders executions of all ranks: by step, by the collectives passed, by number."""
        return execution.iteration, self.epochs[execution.rank][execution.at], execution.at

    def held(self, execution: Execution) -> bool:
        """Whether it is no operator but a parameter, a gradient, or what was returned."""
        return execution.op_type in _HELD or execution.op_type in ("Result", "Settings")


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays have the same dtype, shape and bytes."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def flipped_bit(a: Array, b: Array) -> tuple[int, int] | None:
    """The flat index and the bit in which alone two arrays differ; None if they differ otherwise."""
    if a.dtype != b.dtype or a.shape != b.shape or not a.size:
        return None
    size = a.dtype.itemsize
    one, other = (np.frombuffer(each.tobytes(), np.uint8).reshape(-1, size) for each in (a, b))
    rows = np.flatnonzero((one != other).any(axis=1))
    if len(rows) != 1:
        return None
    bits = int.from_bytes(bytes(one[rows[0]] ^ other[rows[0]]), "little")
    return (int(rows[0]), bits.bit_length() - 1) if bits & (bits - 1) == 0 else None


def plain(value: Any) -> Any:
    """A float64 view of numbers, for sums that are checked within their rounding."""
    return np.asarray(value).astype(np.complex128 if np.asarray(value).dtype.kind == "c" else np.float64)
