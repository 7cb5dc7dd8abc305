"""Where the content of memory comes from: the operator that gave or wrote it last, a parameter, a constant, or what a
step was given. Tensors are told apart by their memory, so that views and updates in place have their edges, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from harness.capture.torch.memo import Looked, look
from harness.capture.torch.parts import is_plain
from harness.capture.torch.scalars import Scalar
from harness.capture.torch.values import host_array
from harness.capture.torch_names import GRADIENTS, OPTIMIZER, ROOT
from harness.recording.described import UNKNOWN_EDGE, Described, Edge

#: what an edge brings: its kind, the operator or the name it comes from, the slot there, and a constant's value
Source = tuple[str, Any, int, Any]
UNKNOWN: Source = ("unknown", "", 0, None)
#: memory that nothing has filled yet
UNFILLED: Source = ("unknown", "unfilled", 0, None)
#: what of one storage is remembered
_MOST = 4096
#: bytes of the largest constant
_STATED = 4096


class Ran:
    """One operator of a step that ran; it is renamed when its thread ends.

    There are many, and each object costs time when Python collects garbage: what is noted lies in flat lists.

    Attributes:
        name, type, line: as in its records.
        mutates: slots of inputs whose memory it updates; None: nobody knows.
        attributes: what no slot shows.
        writes: ids of the tensors that it writes in place, while it runs.
    """

    __slots__ = (
        "_aliases",
        "_inputs",
        "_memory",
        "_outputs",
        "attributes",
        "line",
        "mutates",
        "name",
        "type",
        "writes",
    )

    def __init__(self, name: str, kind: str, line: str | None) -> None:
        self.name, self.type, self.line = name, kind, line
        self.mutates: tuple[int, ...] | None = ()
        self.attributes: Mapping[str, Any] = _NONE
        self.writes: frozenset[int] = _NO_IDS
        #: slot, source and name of each input; slot, dtype's name and shape of each output
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        #: slot and address of each input, while it runs; output and input that lie in one memory
        self._memory: list[int] = []
        self._aliases: tuple[int, ...] = ()

    def takes(self, slot: int, address: int, source: Source, named: str, is_written: bool) -> None:
        """Notes an input by its storage's address, what it brings, and whether it is written, too."""
        self._inputs += (slot, source, named)
        self._memory += (slot, address)
        if is_written and self.mutates is not None:
            self.mutates += (slot,)

    def states(self, first: int, scalars: Iterable[Scalar]) -> None:
        """Notes the numbers among the arguments that are no tensors, whose slots begin at ``first``; the text of the
        others stands in its slot alone. Their slots follow those of tensors that are not empty."""
        while self._inputs and self._inputs[-3] >= first:
            del self._inputs[-3:]
        for slot, (named, value) in enumerate(scalars, first):
            if not isinstance(value, str):
                self._inputs += (slot, ("constant", "", 0, value), named)

    def gives(self, slot: int, address: int, dtype: str, shape: tuple[int, ...]) -> None:
        """Notes an output."""
        self._outputs += (slot, dtype, shape)
        for at in range(1, len(self._memory), 2):
            if self._memory[at] == address:
                self._aliases += (slot, self._memory[at - 1])
                break

    def ended(self) -> None:
        """It ran; what only mattered meanwhile is forgotten."""
        self._memory, self.writes = [], _NO_IDS

    def seen(self) -> tuple[Any, ...]:
        """What tells it from another operator of its name: its type, what it was given from where, and attributes."""
        edges = tuple((slot, *edge_of(source)[:3], named) for slot, source, named in _threes(self._inputs))
        return self.type, edges, self.mutates, repr(self.attributes)

    def described(self, name: str, graph: int, rank: int) -> Described:
        """It as a capture keeps it, under ``name``."""
        given = {slot: (source, named) for slot, source, named in _threes(self._inputs)}
        inputs = [given.get(slot, (UNKNOWN, "")) for slot in range(max(given, default=-1) + 1)]
        made = {slot: (dtype, shape) for slot, dtype, shape in _threes(self._outputs)}
        scope = self.name.rpartition("/")[0]
        return Described(
            name, self.type, scope, graph, rank, self.attributes,
            tuple(edge_of(source, slot) for slot, (source, _) in enumerate(inputs)),
            tuple(named for _, named in inputs) if any(named for _, named in inputs) else (),
            tuple(made.get(slot) for slot in range(max(made, default=-1) + 1)), self.mutates,
            dict(zip(self._aliases[::2], self._aliases[1::2], strict=True)), (), phase_of(scope), self.line,
        )  # fmt: skip


_NONE: Mapping[str, Any] = {}
_NO_IDS: frozenset[int] = frozenset()


def _threes(flat: list[Any]) -> Iterator[tuple[Any, Any, Any]]:
    return zip(flat[::3], flat[1::3], flat[2::3], strict=True)


def edge_of(source: Source, at: int = 0) -> Edge:
    """A source as an edge of a capture; ``at``: the slot of the input, which an argument's edge repeats."""
    kind, what, slot, value = source
    if kind == "unknown":
        return UNKNOWN_EDGE
    return Edge(kind, what.name if isinstance(what, Ran) else what, at if kind == "argument" else slot, value)  # type: ignore[arg-type]


def phase_of(scope: str) -> str:
    """The phase in which the operators of a scope run."""
    if scope.startswith(GRADIENTS):
        return "backward"
    return "optimizer" if scope.startswith(f"{ROOT}/{OPTIMIZER}") else "forward"


#: what happened to a stretch of a storage, and its source: it was laid out as a view, written, or written with all
#: else there
_Event = tuple[tuple[Any, ...], int, Source]
_VIEW, _WRITE, _WHOLE = range(3)
_OUTSIDE = frozenset({"parameter", "argument"})


class Origins:
    """The origins of what one step computes with; valid only while every operator is seen.

    Args:
        is_whole: whether all operators are seen, so that unknown memory was given to the step from outside.

    Attributes:
        parameters: names of parameters and buffers by the ``id`` of their tensors.
    """

    def __init__(self, is_whole: bool) -> None:
        self._is_whole = is_whole
        self._storages: dict[int, tuple[Any, list[_Event]]] = {}
        self._given = 0
        self.parameters: dict[int, str] = {}

    def states_of(self, optimizer: Any) -> Iterator[tuple[str, Any]]:
        """The tensors that an optimizer keeps for parameters, with their names: ``fc1.weight.exp_avg``."""
        for group in optimizer.param_groups:
            for each in group["params"]:
                name, held = self.parameters.get(id(each)), optimizer.state.get(each)
                if name is not None and isinstance(held, Mapping):
                    yield from ((f"{name}.{key}", value) for key, value in held.items())

    def known(self, kind: str, name: str, tensor: Any) -> None:
        """Notes that a parameter or an argument lies in this memory."""
        self._note(tensor, (kind, name, 0, None), True)

    def unseen(self, kind: str, name: str, tensor: Any) -> None:
        """Likewise, of memory that no operator has seen yet."""
        if self._is_whole and tensor.untyped_storage()._cdata not in self._storages:
            self.known(kind, name, tensor)

    def constant(self, tensor: Any) -> None:
        """Notes a value that the program states; a large one, or one that may be made of others' values, is none."""
        if not self._is_whole:
            self.lost(tensor)
        elif tensor.numel() * tensor.element_size() <= _STATED and is_plain(tensor):
            value = np.array(host_array(tensor), order="C", copy=True)
            self._note(tensor, ("constant", "", 0, value), True)

    def lost(self, tensor: Any) -> None:
        """Notes that nobody knows what this memory holds, or who wrote it."""
        self._note(tensor, UNKNOWN, True)

    def unfilled(self, tensor: Any) -> None:
        """Notes new memory, which holds what was there before unless PyTorch was told to fill it."""
        self._note(tensor, UNKNOWN if fills_memory() else UNFILLED, True)

    def made(self, tensor: Any, looked: Looked, by: Ran, slot: int, is_write: bool) -> None:
        """Notes an operator's output; ``is_write``: it wrote into memory that was there, and did not lay it out."""
        self._note(tensor, ("result", by, slot, None), is_write, looked)

    def of(self, tensor: Any, looked: Looked | None = None, *, is_read: bool = True) -> Source:
        """What a tensor's content is; memory that is read and came from outside is given a name."""
        _, address, where = looked or look(tensor)
        found = self._storages.get(address)
        if found is not None:
            for place, kind, source in reversed(found[1]):
                if place == where or kind == _WHOLE or (kind == _WRITE and overlap(place, where)):
                    return source
            if found[1][0][2][0] not in _OUTSIDE:
                return UNKNOWN
        if not self._is_whole or not is_read:
            return UNKNOWN
        made: Source = "argument", f"given[{self._given}]", 0, None
        self._given += 1
        self._note(tensor, made, True)
        return made

    def blind(self) -> None:
        """From now on memory may come from anywhere."""
        self._is_whole = False

    def forget(self) -> None:
        """Forgets all writes: some went by unseen."""
        self._storages.clear()
        self._is_whole = False

    def _note(self, tensor: Any, source: Source, is_write: bool, looked: Looked | None = None) -> None:
        storage, address, where = looked or look(tensor)
        known = self._storages.get(address)
        fills = is_write or known is None
        if fills and tensor.is_contiguous() and tensor.numel() * where[3].itemsize >= storage.nbytes():
            event: _Event = where, _WHOLE, source
        else:
            event = where, _WRITE if fills else _VIEW, source
        if known is None:
            self._storages[address] = StorageWeakRef(storage), [event]
            return
        events = known[1]
        if event[1] == _WHOLE:
            events[:] = [event]
        elif event[1] == _WRITE or not self._is_there(events, where):
            if len(events) >= _MOST:
                events[: _MOST // 2] = [(where, _WHOLE, UNKNOWN)]
            events.append(event)

    @staticmethod
    def _is_there(events: list[_Event], where: tuple[Any, ...]) -> bool:
        """Whether the same was there before it was laid out, and was not written since."""
        for place, kind, _ in reversed(events):
            if place == where:
                return True
            if kind == _WHOLE or (kind == _WRITE and overlap(place, where)):
                return False
        return False


def fills_memory() -> bool:
    """Whether PyTorch fills new memory, so that it is the same in each run."""
    return bool(torch.are_deterministic_algorithms_enabled() and torch.utils.deterministic.fill_uninitialized_memory)


def overlap(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two places of a storage (see ``memo.place``) share an element; True where that is not easily told."""
    spans = []
    for start, shape, stride, dtype, *_ in (one, other):
        if 0 in shape:
            return False
        end = start + sum((length - 1) * step for length, step in zip(shape, stride, strict=True)) + 1
        spans.append((start * dtype.itemsize, end * dtype.itemsize))
    if spans[0][1] <= spans[1][0] or spans[1][1] <= spans[0][0]:
        return False
    return bool(one[3].itemsize != other[3].itemsize) or _boxes_overlap(one, other)


def _boxes_overlap(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Likewise, of two boxes of one grid: slices of the same tensor."""
    lengths: list[dict[int, int]] = []
    for _, shape, stride, *_ in (one, other):
        sizes = {step: length for length, step in zip(shape, stride, strict=True) if length > 1}
        if len(sizes) < sum(length > 1 for length in shape) or 0 in sizes:
            return True
        lengths.append(sizes)
    rest = [start - min(one[0], other[0]) for start in (one[0], other[0])]
    above = 0
    apart = False
    for step in sorted({*lengths[0], *lengths[1]}, reverse=True):
        starts = [each // step for each in rest]
        ends = [start + sizes.get(step, 1) for start, sizes in zip(starts, lengths, strict=True)]
        if above and (above % step or any(end * step > above for end in ends)):
            return True
        apart = apart or ends[0] <= starts[1] or ends[1] <= starts[0]
        rest = [each % step for each in rest]
        above = step
    return not (apart or rest[0] != rest[1])
