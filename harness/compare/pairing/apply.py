"""Gives two paired runs the names of the expected one, so that they can be checked slot by slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from harness.compare.check import check
from harness.compare.divergence import FOUND_SUFFIX
from harness.compare.pairing.beside import operators_alone
from harness.compare.pairing.corresponding import same_layout
from harness.compare.pairing.pair import pair
from harness.compare.pairing.result import Pair, Pairing, key_of
from harness.compare.pairing.slots import Name, Run, records_of
from harness.compare.pairing.uncompared import uncompared
from harness.compare.verdict import Comparison
from harness.dtypes import by_name
from harness.records import Record, SlotKey


def check_paired(
    expected: Run, found: Run, tolerances: Any = None, *, by_name: bool = True, measured: bool = True
) -> tuple[Comparison, Pairing]:
    """Pairs two runs, and judges every slot under the expected name; ignores the order of execution.

    Args:
        expected, found: both runs; each is read twice.
        tolerances, measured: see ``check``.
        by_name: see ``pair``.
    """
    expected, found = operators_alone(expected, found)
    pairing = pair(expected, found, by_name=by_name)
    renamed = Renamed(pairing, expected, found)
    comparison = check(renamed.expected(), renamed.found(), tolerances, order=False, measured=measured)
    comparison.slots = [
        replace(slot, found_as=renamed.names[slot.key]) if renamed.names.get(slot.key, slot.key) != slot.key else slot
        for slot in comparison.slots
    ]
    comparison.further, comparison.counterparts = _further(pairing), _counterparts(pairing)
    comparison.uncompared = uncompared(pairing, renamed.names)
    return comparison, pairing


def _further(pairing: Pairing) -> dict[tuple[object, ...], list[SlotKey]]:
    """The further inputs of each expected operator: those of layouts before it, and of operators fused with it on the
    found side."""
    further: dict[tuple[object, ...], dict[SlotKey, None]] = defaultdict(dict)
    for step in pairing.steps:
        sharing: dict[Name, list[Pair]] = defaultdict(list)
        for each in step.pairs:
            sharing[each.found].append(each)
        for mine in step.pairs:
            slots = {slot.expected: None for mate in sharing[mine.found] for slot in mate.slots}
            others = [at for at in slots if at.io == "input" and at.name != mine.expected]
            for iteration in step.iterations if others else ():
                keys = (key_of(at, step.rank, iteration) for at in others)
                further[_execution(mine.expected, step.rank, iteration)].update(dict.fromkeys(keys))
    return {where: list(keys) for where, keys in further.items()}


def _counterparts(pairing: Pairing) -> dict[tuple[object, ...], list[str]]:
    """The found operators of each expected operator."""
    found: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for step in pairing.steps:
        for each in step.pairs:
            for iteration in step.iterations:
                found[_execution(each.expected, step.rank, iteration)].append(each.found.operator)
    return dict(found)


def _execution(name: Name, rank: int, iteration: int) -> tuple[object, ...]:
    return rank, name.graph, iteration, name.operator, name.execution


class Renamed:
    """Both runs, under one name for each pair of slots.

    Slots whose absence is explained are left out; other slots without a counterpart stay, as missing or unexpected.
    Split or merged axes follow the expected side; of different float types the narrower counts; whole numbers take the
    expected type if they fit.

    Args:
        pairing: pairing of these two runs.
        expected, found: the two runs; read again each time.

    Attributes:
        names: the found slot of each compared expected slot.
    """

    def __init__(self, pairing: Pairing, expected: Run, found: Run) -> None:
        self._looks, self._sides = pairing.facts, (expected, found)
        self.names: dict[SlotKey, SlotKey] = {}
        self._again: dict[SlotKey, list[SlotKey]] = defaultdict(list)
        covered = set()
        for one, other in pairing.slots():
            covered.add(other)
            if one not in self.names:
                self.names[one] = other
                self._again[other].append(one)
        self._out = _left_out(pairing, 0), _left_out(pairing, 1) | covered

    def expected(self) -> Iterator[Record]:
        """The expected side's records."""
        for record in records_of(self._sides[0]):
            other = self.names.get(record.key)
            known = self._known(record, 0)
            if other is not None:
                fact = self._looks[1][other]
                yield _converted(known, fact.dtype, known.shape, narrow=True)
            elif record.key not in self._out[0]:
                yield known

    def found(self) -> Iterator[Record]:
        """The found side's records, under the expected names."""
        for record in records_of(self._sides[1]):
            known = self._known(record, 1)
            again = self._again.get(record.key, ())
            for key in again:
                fact = self._looks[0][key]
                yield replace(_converted(known, fact.dtype, fact.shape, narrow=False), key=key)
            if not again and record.key not in self._out[1]:
                taken = record.key in self._looks[0]
                key = record.key._replace(operator=record.key.operator + FOUND_SUFFIX) if taken else record.key
                yield replace(known, key=key)

    def _known(self, record: Record, side: int) -> Record:
        """``record`` with its known digest."""
        fact = self._looks[side].get(record.key)
        return record if fact is None or record.digest is not None else replace(record, digest=fact.digest)


def _left_out(pairing: Pairing, side: int) -> set[SlotKey]:
    """The slots that need no counterpart."""
    return {
        key_of(at, rank, iteration)
        for rank, iteration, lone in pairing.alone(side)
        if lone.explained
        for at in lone.slots
    }


def _converted(record: Record, dtype: str, shape: tuple[int, ...], *, narrow: bool) -> Record:
    """``record`` with axes split or merged to ``shape``, and as ``dtype`` if it can only be compared so.

    Args:
        record: record of one side.
        dtype, shape: dtype and shape of the other side's slot.
        narrow: whether it is the expected record, which changes only to a narrower float.
    """
    kind, other = by_name(record.dtype), by_name(dtype)
    name = record.dtype
    rounds = kind.is_floating and other.is_floating and other.itemsize < kind.itemsize
    if rounds or (not narrow and kind.kind in "iu" and other.kind in "iu"):
        name = dtype
    if not same_layout(record.shape, shape):
        shape = record.shape
    if name == record.dtype and tuple(record.shape) == tuple(shape):
        return record
    array = record.load()
    if array is None:
        return replace(record, dtype=name, shape=tuple(shape))
    with np.errstate(over="ignore"):
        cast = array.astype(by_name(name).numpy)
    if kind.kind in "iu" and not np.array_equal(cast, array):
        name, cast = record.dtype, array
    return replace(record, dtype=name, shape=tuple(shape), values=cast.reshape(shape), digest=None)
