"""Shards of one tensor on several ranks, joined before they are compared with a run that was not sharded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from harness.compare.divergence import PARAMETER
from harness.compare.policy import Party
from harness.errors import ScaleError
from harness.records import Record, SlotKey, Streamed

Array = np.ndarray[Any, np.dtype[Any]]


KINDS = ("Shard", "Interleaved", "Vocabulary", "Partial", "Replicate", "Ignore")
_REDUCTIONS = ("sum", "mean", "max", "min")
_PLACEMENT = re.compile(r"(\w+)(?:\(([^()]*)\))?(?:@([\d,|]+))?")
_ACCEPTED = (
    "Shard(AXIS), Interleaved(AXIS, PARTS), Vocabulary(AXIS), Partial(sum|mean|max|min), Replicate or Ignore, "
    "each with @0,1|2,3 for groups of ranks"
)


@dataclass(frozen=True)
class Shard:
    """Slots of which each rank has a part.

    Attributes:
        pattern: pattern for ``OPERATOR:SLOT``; a parameter ``fc1.weight`` is also ``Default/fc1:weight``.
        axis: axis along which the parts are joined, in the order of ranks; counted from the end if below 0.
        kind: one of ``KINDS``. ``Interleaved`` parts consist of blocks (of q, k, v) that are joined one by one;
            ``Vocabulary`` is padded at its end; ``Partial`` is reduced; ``Ignore`` is left out.
        parts: how many blocks an interleaved part has.
        reduction: of a partial one.
        groups: the ranks that hold the whole together; empty for all of them.
    """

    pattern: str
    axis: int = 0
    kind: str = "Shard"
    parts: int = 1
    reduction: str = "sum"
    groups: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``PATTERN=AXIS`` or ``PATTERN=PLACEMENT``; ``ScaleError`` for anything else."""
        pattern, _, given = (each.strip() for each in text.rpartition("="))
        try:
            found = _PLACEMENT.fullmatch(given)
            if ":" not in pattern or not (found or given.lstrip("-").isdigit()):
                raise ValueError(given)
            return cls(pattern, **_placed(found)) if found and not given.isdigit() else cls(pattern, int(given))
        except ValueError:
            raise ScaleError(
                f"--shard is OPERATOR:SLOT=AXIS, such as 'Default/fc*:weight=0', or OPERATOR:SLOT=PLACEMENT: "
                f"{_ACCEPTED}; given was {text!r}"
            ) from None

    def fits(self, record: Record) -> bool:
        """Whether it declares a slot."""
        return any(fnmatchcase(name, self.pattern) for name in _names(record))

    @property
    def joins(self) -> bool:
        """Whether one tensor is made of the parts."""
        return self.kind not in ("Replicate", "Ignore")

    def group_of(self, rank: int, ranks: Sequence[int]) -> tuple[int, ...]:
        """The ranks that hold a tensor together with ``rank``; empty if it is in no group."""
        groups = self.groups or (tuple(ranks),)
        return next((group for group in groups if rank in group), ())


def _placed(found: re.Match[str]) -> dict[str, Any]:
    """The fields that ``Shard(0)@0,1`` states; ``ValueError`` for any other text."""
    kind, inside, ranks = found[1], [each.strip() for each in (found[2] or "").split(",") if each.strip()], found[3]
    if kind not in KINDS:
        raise ValueError(kind)
    made: dict[str, Any] = {"kind": kind}
    if ranks:
        made["groups"] = tuple(tuple(map(int, group.split(","))) for group in ranks.split("|"))
    if kind in ("Shard", "Vocabulary"):
        (axis,) = inside
        return made | {"axis": int(axis)}
    if kind == "Interleaved":
        axis, parts = inside
        if int(parts) < 1:
            raise ValueError(parts)
        return made | {"axis": int(axis), "parts": int(parts)}
    if kind == "Partial":
        (reduction,) = inside or ["sum"]
        if reduction not in _REDUCTIONS:
            raise ValueError(reduction)
        return made | {"reduction": reduction}
    if inside:
        raise ValueError(inside)
    return made


def _names(record: Record) -> Iterator[str]:
    key = record.key
    yield f"{key.operator}:{key.slot_name}"
    if record.op_type == PARAMETER:
        owner, _, name = key.operator.rpartition(".")
        yield f"{owner}:{name}"
        yield f"Default/{owner.replace('.', '/')}:{name}"


class _Joined(Streamed):
    """The values of shards, joined on request."""

    __slots__ = ("axis", "parts", "shard", "size")

    def __init__(self, parts: Sequence[Record], shard: Shard, axis: int, size: int | None) -> None:
        self.parts, self.shard, self.axis, self.size = parts, shard, axis, size

    def __call__(self) -> Array:
        arrays = [array for part in self.parts if (array := part.load()) is not None]
        return whole_of(arrays, self.shard, self.axis, self.size)

    def pieces(self) -> Iterator[Array] | None:
        return None

    def holder(self, index: Sequence[int]) -> str:
        """The rank that holds an element of the whole, and where it lies there."""
        if self.shard.kind == "Partial":
            return f"ranks {', '.join(str(part.key.rank) for part in self.parts)}, each with its share"
        at, sizes = index[self.axis], [part.shape[self.axis] // self.shard.parts for part in self.parts]
        block, within = divmod(at, sum(sizes))
        for part, size in zip(self.parts, sizes, strict=True):
            if within < size:
                there = [*index]
                there[self.axis] = block * size + within
                return f"rank {part.key.rank}, there at {there}"
            within -= size
        return "no rank"


def whole_of(arrays: Sequence[Array], shard: Shard, axis: int, size: int | None = None) -> Array:
    """The tensor that parts make.

    Args:
        arrays: each rank's part, in the order of the group.
        shard: how they are joined.
        axis: from 0; of no meaning for a partial one.
        size: the whole's length along the axis, if what is beyond it is padding.

    Raises:
        ValueError: the parts do not fit together.
    """
    if shard.kind == "Partial":
        if len({each.shape for each in arrays}) > 1:
            raise ValueError("parts of several shapes")
        return np.ascontiguousarray(_reduced(arrays, shard.reduction)).reshape(arrays[0].shape)
    blocks = [np.split(each, shard.parts, axis) for each in arrays]
    whole = np.concatenate([each[at] for at in range(shard.parts) for each in blocks], axis)
    if size is not None:
        whole = np.take(whole, np.arange(size), axis)
    return np.ascontiguousarray(whole)


def _reduced(arrays: Sequence[Array], reduction: str) -> Array:
    wide = [each.astype(np.float64) if each.dtype.kind == "f" else each for each in arrays]
    if reduction in ("max", "min"):
        found: Array = (np.maximum if reduction == "max" else np.minimum).reduce(wide)
    else:
        found = np.add.reduce(wide)
        found = found / len(wide) if reduction == "mean" else found
    return found.astype(arrays[0].dtype)


def holder(records: Iterable[Record], key: SlotKey, index: Sequence[int]) -> str:
    """Which rank holds an element of a joined slot, and where; empty for any other slot."""
    for record in records:
        if record.key == key and isinstance(record.values, _Joined) and len(index) == len(record.shape):
            return record.values.holder(index)
    return ""


def left_out(records: Iterable[Record], shards: Sequence[Shard]) -> int:
    """How many slots the table leaves out."""
    return sum((found := _declared(record, shards)) is not None and found.kind == "Ignore" for record in records)


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
    sides = [_kept(side, shards) for side in sides]
    sizes = [_sizes(side, shards, len(mine)) for side, mine in zip(sides, ranks, strict=True)]
    made = []
    for at, (side, mine, theirs) in enumerate(zip(sides, ranks, reversed(ranks), strict=True)):
        several = _with_joined(side, mine, shards, sizes[1 - at]) if len(mine) > 1 else side
        made.append(_on_all(several, theirs, shards) if len(mine) == 1 and len(theirs) > 1 else several)
    return replace(one, content=made[0]), replace(other, content=made[1])


def _kept(records: Sequence[Record], shards: Sequence[Shard]) -> list[Record]:
    return [record for record in records if (found := _declared(record, shards)) is None or found.kind != "Ignore"]


def _sizes(records: Sequence[Record], shards: Sequence[Shard], ranks: int) -> dict[tuple[Any, ...], tuple[int, ...]]:
    """The shapes that vocabularies have where nothing is padded: on a side of one rank."""
    if ranks > 1:
        return {}
    return {
        tuple(record.key[1:]): record.shape
        for record in records
        if (found := _declared(record, shards)) is not None and found.kind == "Vocabulary"
    }


def _declared(record: Record, shards: Sequence[Shard]) -> Shard | None:
    return next((shard for shard in shards if shard.fits(record)), None)


def _on_all(records: Sequence[Record], ranks: Sequence[int], shards: Sequence[Shard]) -> list[Record]:
    """Repeats the records of one rank for several ranks; declared slots only once for each group."""
    declared = [_declared(record, shards) for record in records]
    return [
        replace(record, key=record.key._replace(rank=rank))
        for rank in ranks
        for record, shard in zip(records, declared, strict=True)
        if shard is None or not shard.joins or shard.group_of(rank, ranks)[:1] == (rank,)
    ]


def _with_joined(
    records: Sequence[Record], ranks: Sequence[int], shards: Sequence[Shard],
    sizes: Mapping[tuple[Any, ...], tuple[int, ...]],
) -> list[Record]:  # fmt: skip
    """Records of several ranks, with one record in place of each declared slot's parts."""
    parts: dict[tuple[Any, ...], list[Record]] = {}
    declared: dict[int, Shard] = {}
    for record in records:
        shard = _declared(record, shards)
        if shard is not None and shard.joins:
            parts.setdefault((shard.group_of(record.key.rank, ranks), record.key[1:]), []).append(record)
            declared[id(record)] = shard
    made = []
    for record in records:
        joins = declared.get(id(record))
        if joins is None:
            made.append(record)
            continue
        group = joins.group_of(record.key.rank, ranks)
        found = parts[group, record.key[1:]]
        if group[:1] == (record.key.rank,) and len(found) == len(group):
            found = sorted(found, key=lambda part: group.index(part.key.rank))
            made.append(_join(found, joins, sizes.get(tuple(record.key[1:]))))
    return made


def _join(parts: Sequence[Record], shard: Shard, size: tuple[int, ...] | None) -> Record:
    head = parts[0]
    axes = len(head.shape)
    axis = shard.axis + axes if shard.axis < 0 else shard.axis
    said = f"--shard {shard.pattern}={shard.axis}: {head.key.operator} {head.key.slot_name}"
    whole = shard.kind == "Partial"
    if not whole and not 0 <= axis < axes:
        raise ScaleError(f"{said} has {axes} axes, {list(head.shape)}")
    for part in parts[1:]:
        alike = [each for at, each in enumerate(part.shape) if whole or at != axis]
        expected = [*head.shape] if whole else [*head.shape[:axis], *head.shape[axis + 1 :]]
        if part.dtype != head.dtype or len(part.shape) != axes or alike != expected:
            raise ScaleError(
                f"{said} is {head.dtype}{list(head.shape)} on rank {head.key.rank} and "
                f"{part.dtype}{list(part.shape)} on rank {part.key.rank}; they cannot be joined along axis {axis}"
            )
    if any(part.shape[axis] % shard.parts for part in parts if not whole):
        raise ScaleError(f"{said} has {list(head.shape)}, which is not {shard.parts} blocks along axis {axis}")
    length = sum(part.shape[axis] for part in parts) if not whole else 0
    cut = size[axis] if size is not None and len(size) == axes and size[axis] < length else None
    shape = tuple(
        (cut or length) if at == axis and not whole else each for at, each in enumerate(head.shape)
    )  # fmt: skip
    kept = all(part.values is not None for part in parts)
    return Record(
        head.key, head.op_type, head.dtype, shape, head.format, _Joined(parts, shard, axis, cut) if kept else None,
        head.source,
    )  # fmt: skip


def parse_all(given: Iterable[str]) -> tuple[Shard, ...]:
    """See ``Shard.parse``; ``@FILE`` stands for the lines of a file, ``PATTERN = PLACEMENT``, ``#`` for comments.

    Raises:
        ScaleError: a line is no placement, or the file cannot be read.
    """
    return tuple(Shard.parse(line) for each in given for line in (lines_of(each[1:]) if each[:1] == "@" else [each]))


def lines_of(path: str) -> list[str]:
    """The lines of a table in a file, without comments; ``ScaleError`` if it cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScaleError(f"--shard @{path}: the table of placements cannot be read: {error}") from None
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line]
