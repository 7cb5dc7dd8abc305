"""Operators of PyTorch, run again by PyTorch: ATen's, and those of other libraries that the process has loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np

from harness import dtypes
from harness.recording.described import Described
from harness.recording.replayer import Call, Facts, Replayed, Replayer
from harness.replaying.aten import binding
from harness.replaying.aten.binding import Reading
from harness.replaying.aten.noise import noise
from harness.replaying.aten.running import REFUSALS, Way, orders_of, run
from harness.replaying.aten.script import expression
from harness.replaying.aten.views import solutions

Array = np.ndarray[Any, np.dtype[Any]]

#: one text that lists several arguments, one in a line: ``dim=1``
SETTINGS, DEFAULTS = "settings", "defaults"
#: ways that are offered for one record
_MOST = 32
#: They only move elements, but their schemas call none of their results a view.
_MOVES = frozenset({
    "_reshape_alias", "_unsafe_view", "cat", "clone", "constant_pad_nd", "contiguous", "copy", "expand_copy", "flip",
    "gather", "index", "index_select", "repeat", "repeat_interleave", "roll", "stack", "view_copy",
})  # fmt: skip
#: arguments without whose share nothing is drawn
_SHARES = frozenset({"dropout", "dropout_p"})


class Aten(Replayer):
    """Operators by their names in a capture of PyTorch (``addmm``, ``aten.addmm``, ``mylib.scale``).

    ``Call.before`` has arrays for tensors and Python values, or their texts, for all else; ``Described.attributes``
    may have the latter, too, by the names of the schema.
    """

    def facts(self, operator: Described) -> Facts | None:
        """See ``Replayer.facts``; None for a name that this process's PyTorch has no operator of."""
        found = binding.overloads(operator.type)
        if not found:
            return None
        _, name, _ = binding.plain_name(operator.type)
        return Facts((), any(each.random for each in found), name in _MOVES or all(each.views for each in found))

    def readings(self, call: Call) -> Iterator[Call]:
        """See ``Replayer.readings``: overloads, optional tensors, outputs that were not asked for, memory formats."""
        yield from (replace(call, reading=way) for way in islice(_ways(call), _MOST))

    def replay(self, call: Call) -> Replayed | None:
        """See ``Replayer.replay``. A random operator is run from the recorded state of its generator alone."""
        if call.rng is None and _is_random(call):
            return None
        for way in self._of(call):
            if (made := _run(way, call)) is not None and (call.reading is not None or _fits(call, made[0])):
                return Replayed(tuple(made[0]), made[1])
        return None

    def widen(self, call: Call) -> Replayed | None:
        """See ``Replayer.widen``: in float64 or complex128."""
        if call.rng is None and _is_random(call):
            return None
        for way in self._of(call):
            if (made := _run(way, call, wide=True)) is not None and len(made[0]) == (len(call.outputs) or len(made[0])):
                return Replayed(tuple(made[0]), made[1])
        return None

    def solve(self, call: Call, outputs: Sequence[Array]) -> Mapping[str, Any] | None:
        """See ``Replayer.solve``: of views."""
        parts = split(call)
        if parts is None or len(parts[0]) != 1 or not any(each.views for each in binding.overloads(call.operator.type)):
            return None
        found = solutions(_name(call), parts[0][0], outputs)
        return found[0] if len(found) == 1 else None

    def numbers(self, operator: str, listed: Sequence[str], count: int, tensors: int) -> tuple[str, ...] | None:
        """See ``Replayer.numbers``: as the schema of an overload orders them."""
        return binding.numbers(operator, listed, count, tensors)

    def script(self, call: Call) -> str | None:
        """See ``Replayer.script``."""
        way, parts = next(self._of(call), None), split(call)
        if way is None or parts is None:
            return None
        types = {each.name: each.type for each in way.reading.overload.parameters}
        given = {name: binding.value_of(value, types.get(name, "")) for name, value in parts[1].items()}
        return expression(way, call, given)

    def noise(self, call: Call) -> tuple[Array, ...] | None:
        """See ``Replayer.noise``."""
        return noise(self, call)

    def _of(self, call: Call) -> Iterator[Way]:
        return iter([call.reading]) if call.reading is not None else islice(_ways(call, plain=True), _MOST)


def _is_random(call: Call) -> bool:
    """Whether a generator decides on the results: not of an attention without dropout."""
    found = [each for each in binding.overloads(call.operator.type) if each.random]
    if not found:
        return False
    parts = split(call)
    given = parts[1] if parts is not None else {}
    shares = {each.name: given.get(each.name, each.default) for each in found[0].parameters if each.name in _SHARES}
    return not shares or any(float(share) != 0.0 for share in shares.values() if isinstance(share, (int, float)))


def split(call: Call) -> tuple[dict[int, Array], dict[str, Any]] | None:
    """A call's tensors by slot, and its other arguments by name; None if a tensor's values are not known."""
    names = call.operator.names
    arrays: dict[int, Array] = {}
    given: dict[str, Any] = {}
    for slot, value in sorted(call.before.items()):
        name = names[slot] if slot < len(names) else ""
        if isinstance(value, np.ndarray):
            arrays[slot] = value
        elif name == SETTINGS:
            given |= listed(value)
        elif name:
            given[name] = value
    for name, value in call.operator.attributes.items():
        given |= listed(value) if name == SETTINGS else {name: value}
    known = sorted(arrays)
    missing = [slot for slot in range(len(call.operator.inputs)) if slot not in call.before]
    if known != list(range(len(known))) or missing:
        return None  # a tensor of no elements, or one that was not read, has no slot
    return arrays, given


def listed(text: Any) -> dict[str, str]:
    """The arguments in one text: ``dim=1`` and so on, one in a line."""
    pairs = (line.partition("=") for line in str(text).split("\n"))
    return {name: value for name, mark, value in pairs if mark}


def _ways(call: Call, plain: bool = False) -> Iterator[Way]:
    """Ways to run a call; with ``plain`` those alone whose tensors lie in memory as numbered."""
    parts = split(call)
    if parts is None:
        return
    arrays, given = parts
    names = call.operator.names
    slots = [(slot, names[slot] if slot < len(names) else "") for slot in sorted(arrays)]
    found = list(binding.readings(call.operator.type, slots, given))
    ways = [Way(reading, more, {}) for reading in found for more in _more(reading, call)]
    yield from ways
    if not plain:
        yield from (replace(way, orders=orders) for orders in _orders(arrays) for way in ways[:2])


def _more(reading: Reading, call: Call) -> Iterator[Mapping[str, Any]]:
    """What is not recorded of a call's arguments."""
    names = {each.name for each in reading.overload.parameters}
    open_: dict[str, Any] = {}
    outputs = call.operator.outputs
    if "size" in names and "size" not in reading.plain:
        if not outputs or outputs[0] is None:
            return
        open_["size"] = list(outputs[0][1])
    for each in reading.overload.parameters:
        if each.unread and not each.keyword:  # what is overwritten has no record: its result is like it
            if not outputs or outputs[0] is None:
                return
            open_[each.name] = np.zeros(outputs[0][1], dtypes.by_name(outputs[0][0]).numpy)
    if "output_mask" not in names:
        yield open_
        return
    count = len(call.outputs) or len(outputs)
    length = len(reading.overload.function._schema.returns)
    for mask in sorted(product((True, False), repeat=length), key=lambda m: [not each for each in m]):
        if not count or sum(mask) == count:
            yield {**open_, "output_mask": list(mask)}


def _name(call: Call) -> str:
    return binding.plain_name(call.operator.type)[1]


def _orders(arrays: Mapping[int, Array]) -> Iterator[dict[int, tuple[int, ...]]]:
    """Other places in memory: of one tensor, of two, of all alike."""
    every = {slot: orders_of(each.ndim) for slot, each in arrays.items() if each.ndim > 1 and each.size > 1}
    for slot, orders in every.items():
        yield from ({slot: order} for order in orders)
    slots = list(every)
    for one, other in ((a, b) for at, a in enumerate(slots) for b in slots[at + 1 :]):
        yield from ({one: first, other: second} for first in every[one][:3] for second in every[other][:3])
    if len(slots) > 2:
        yield {slot: orders[0] for slot, orders in every.items()}


def _run(way: Way, call: Call, wide: bool = False) -> tuple[list[Array], dict[int, Array]] | None:
    parts = split(call)
    if parts is None:
        return None
    arrays, given = parts
    types = {each.name: each.type for each in way.reading.overload.parameters}
    if not set(given) <= set(types):
        return None
    changed = {name: binding.value_of(value, types[name]) for name, value in given.items()}
    try:
        # The arguments of a way are those it was read from; the call's own may have been changed since.
        return run(replace(way, reading=replace(way.reading, plain=changed)), arrays, call.rng, wide)
    except REFUSALS:
        return None


def _fits(call: Call, results: list[Array]) -> bool:
    """Whether results are of the kinds that were recorded."""
    if call.outputs and [dtypes.from_numpy(each.dtype).name for each in results] != list(call.outputs):
        return False
    shapes = [each[1] for each in call.operator.outputs if each is not None]
    return not shapes or len(shapes) != len(results) or [each.shape for each in results] == [*map(tuple, shapes)]
