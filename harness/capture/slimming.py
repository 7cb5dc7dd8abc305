"""What a golden of a training keeps by value: the first step, and of later ones as much as a bound admits.

A step of a training writes each weight several times, and an optimizer reads and writes it a dozen times; two steps
kept whole take ten times what an evaluation takes. What is left out has digest and statistics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import prod

from harness.capture.torch_names import GRADIENTS, OPTIMIZER
from harness.dtypes import ARGUMENT_FORMAT, by_name
from harness.records import Record
from harness.stats import Statistics, describe

#: Bytes of a slot's row in a store.
_ROW = 64
#: Bytes of a slot that always has its values: a name takes as much.
_SMALL = 256
_UPDATES = re.compile(rf"(?:^|/){OPTIMIZER}")
_KEPT_TYPES = frozenset({"Result", "Settings"})
#: How many times an evaluation's size a training of so many steps may have, without its slots' rows.
BOUND: Callable[[int], float] = lambda steps: 2 + steps / 2  # noqa: E731
#: the parts of a step, by how much their values tell
_FORWARD, _GRADIENT, _BACKWARD, _STATE, _UPDATE = range(5)


def slimmed(records: Sequence[Record]) -> list[Record]:
    """The records; those of trainings with an optimizer without the values that do not fit into ``BOUND`` times the
    first step's forward. In turn are taken the forward, gradients, backward and parameters of the first step, those of
    the later ones, and nothing of optimizers."""
    trained = {each.key.graph for each in records if _UPDATES.search(each.key.operator)}
    left: set[int] = set()
    for graph in trained:
        left |= _left_out([each for each in records if each.key.graph == graph])
    return [_without_values(each) if id(each) in left else each for each in records]


def _left_out(records: Sequence[Record]) -> set[int]:
    """Identities of the records of one training that keep no values."""
    groups: dict[tuple[int, int], list[Record]] = {}
    first = min(each.key.iteration for each in records)
    steps = len({each.key.iteration for each in records if _UPDATES.search(each.key.operator)})
    for each in records:
        if not _is_kept(each):
            groups.setdefault(_group(each, first), []).append(each)
    room = BOUND(steps) * _size(groups.get((0, _FORWARD), ())) - _ROW * len(records)
    kept: set[bytes | None] = set()
    for (_, part), group in sorted(groups.items(), key=lambda item: item[0]):
        for each in group if part != _UPDATE else ():
            if each.digest not in kept and (size := _bytes(each)) <= room:
                room -= size
                kept.add(each.digest)
    return {id(each) for group in groups.values() for each in group if each.digest not in kept}


def _group(record: Record, first: int) -> tuple[int, int]:
    """A step and the part of it: of the first step forward and backward, then the others' in turn."""
    return record.key.iteration - first, _part(record)


def _part(record: Record) -> int:
    if _UPDATES.search(record.key.operator):
        return _UPDATE
    if record.op_type == "Parameter":
        return _STATE
    if record.op_type == "Gradient":
        return _GRADIENT
    return _BACKWARD if record.key.operator.startswith(GRADIENTS) else _FORWARD


def _is_kept(record: Record) -> bool:
    """Whether a record keeps its values whatever the size: results, settings, arguments, and what is small."""
    if record.values is None or record.digest is None:
        return True
    return record.op_type in _KEPT_TYPES or record.format == ARGUMENT_FORMAT or _bytes(record) <= _SMALL


def _bytes(record: Record) -> int:
    return prod(record.shape) * by_name(record.dtype).itemsize


def _size(group: Iterable[Record]) -> int:
    """Bytes of the distinct arrays of a group."""
    return sum({each.digest: _bytes(each) for each in group}.values())


def _without_values(record: Record) -> Record:
    known = record.statistics()
    array = None if isinstance(known, Statistics) else record.load()
    if array is not None:
        known = describe(array, record.dtype)
    return replace(record, values=None, extra=replace(record.extra, statistics=known))
