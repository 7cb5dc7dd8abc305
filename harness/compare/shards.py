"""Shards of one tensor on several ranks, joined before they are compared with a run that was not sharded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from harness.compare.divergence import PARAMETER
from harness.compare.policy import Party
from harness.errors import ScaleError
from harness.records import Record, Streamed

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Shard:
    """Slots of which each rank has a part.

    Attributes:
        pattern: pattern for ``OPERATOR:SLOT``; a parameter ``fc1.weight`` is also ``Default/fc1:weight``.
        axis: axis along which the parts are joined, in the order of ranks; counted from the end if below 0.
    """

    pattern: str
    axis: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``PATTERN=AXIS``; ``ScaleError`` for anything else."""
        pattern, _, axis = text.rpartition("=")
        try:
            return cls(pattern, int(axis)) if ":" in pattern else cls("", int("?"))
        except ValueError:
            raise ScaleError(
                f"--shard is OPERATOR:SLOT=AXIS, such as 'Default/fc*:weight=0'; given was {text!r}"
            ) from None

    def fits(self, record: Record) -> bool:
        """Whether it declares a slot."""
        return any(fnmatchcase(name, self.pattern) for name in _names(record))


def _names(record: Record) -> Iterator[str]:
    key = record.key
    yield f"{key.operator}:{key.slot_name}"
    if record.op_type == PARAMETER:
        owner, _, name = key.operator.rpartition(".")
        yield f"{owner}:{name}"
        yield f"Default/{owner.replace('.', '/')}:{name}"


class _Joined(Streamed):
    """The values of shards, joined on request."""

    __slots__ = ("axis", "parts")

    def __init__(self, parts: Sequence[Record], axis: int) -> None:
        self.parts, self.axis = parts, axis

    def __call__(self) -> Array:
        arrays = [array for part in self.parts if (array := part.load()) is not None]
        return np.ascontiguousarray(np.concatenate(arrays, self.axis))

    def pieces(self) -> Iterator[Array] | None:
        return None


def joined(one: Party, other: Party, shards: Sequence[Shard]) -> tuple[Party, Party]:
    """Both sides with declared slots joined; unchanged if nothing is declared.

    If one side has one rank and the other several, undeclared slots count as equal on all ranks (replicated parameters,
    for example): each rank's slot is compared with that of the one rank. A slot that a rank lacks is not joined, so it
    is missing.

    Raises:
        ScaleError: one of ``shards`` declares no slot, no side has several ranks, or parts do not fit together.
    """
    if not shards:
        return one, other
    sides = [list(party.records()) for party in (one, other)]
    ranks = [sorted({record.key.rank for record in side}) for side in sides]
    if all(len(each) < 2 for each in ranks):
        raise ScaleError("--shard joins slots of several ranks; either side has one rank")
    for shard in shards:
        if not any(shard.fits(record) for side in sides for record in side):
            raise ScaleError(f"--shard {shard.pattern}={shard.axis}: nothing matches {shard.pattern}")
    first = min(rank for each in ranks if len(each) > 1 for rank in each)
    made = []
    for side, mine, theirs in zip(sides, ranks, reversed(ranks), strict=True):
        several = _with_joined(side, mine, shards, first) if len(mine) > 1 else side
        made.append(_on_all(several, theirs, shards, first) if len(mine) == 1 and len(theirs) > 1 else several)
    return replace(one, content=made[0]), replace(other, content=made[1])


def _declared(record: Record, shards: Sequence[Shard]) -> Shard | None:
    return next((shard for shard in shards if shard.fits(record)), None)


def _on_all(records: Sequence[Record], ranks: Sequence[int], shards: Sequence[Shard], first: int) -> list[Record]:
    """Repeats the records of one rank for several ranks; declared slots only once."""
    declared = [_declared(record, shards) is not None for record in records]
    return [
        replace(record, key=record.key._replace(rank=rank))
        for rank in ranks
        for record, once in zip(records, declared, strict=True)
        if rank == first or not once
    ]


def _with_joined(records: Sequence[Record], ranks: Sequence[int], shards: Sequence[Shard], first: int) -> list[Record]:
    """Records of several ranks, with one record in place of each declared slot's parts."""
    parts: dict[tuple[Any, ...], list[Record]] = {}
    declared: dict[tuple[Any, ...], Shard] = {}
    for record in records:
        if (shard := _declared(record, shards)) is not None:
            parts.setdefault(tuple(record.key[1:]), []).append(record)
            declared[tuple(record.key[1:])] = shard
    made = []
    for record in records:
        slot = tuple(record.key[1:])
        if slot not in declared:
            made.append(record)
        elif record.key.rank == first and len(parts[slot]) == len(ranks):
            made.append(_join(sorted(parts[slot], key=lambda part: part.key.rank), declared[slot]))
    return made


def _join(parts: Sequence[Record], shard: Shard) -> Record:
    head = parts[0]
    axes = len(head.shape)
    axis = shard.axis + axes if shard.axis < 0 else shard.axis
    said = f"--shard {shard.pattern}={shard.axis}: {head.key.operator} {head.key.slot_name}"
    if not 0 <= axis < axes:
        raise ScaleError(f"{said} has {axes} axes, {list(head.shape)}")
    for part in parts[1:]:
        alike = [size for at, size in enumerate(part.shape) if at != axis]
        if (
            part.dtype != head.dtype
            or len(part.shape) != axes
            or alike != [*head.shape[:axis], *head.shape[axis + 1 :]]
        ):
            raise ScaleError(
                f"{said} is {head.dtype}{list(head.shape)} on rank {head.key.rank} and "
                f"{part.dtype}{list(part.shape)} on rank {part.key.rank}; they cannot be joined along axis {axis}"
            )
    shape = tuple(sum(part.shape[axis] for part in parts) if at == axis else size for at, size in enumerate(head.shape))
    kept = all(part.values is not None for part in parts)
    return Record(
        head.key, head.op_type, head.dtype, shape, head.format, _Joined(parts, axis) if kept else None, head.source
    )


def parse_all(given: Iterable[str]) -> tuple[Shard, ...]:
    """See ``Shard.parse``."""
    return tuple(Shard.parse(each) for each in given)
