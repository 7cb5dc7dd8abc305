"""Why a whole is not the one rank's: each cause is said only where its check held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from harness.compare.ranks import rank_list
from harness.compare.shards import Shard, whole_of
from harness.explain.layouts.joining import Whole
from harness.explain.layouts.noise import within
from harness.explain.ranks.finding import Cause
from harness.explain.ranks.timeline import same_bits
from harness.records import Array

#: groups of ranks are tried up to so many ranks
_MOST = 8


@dataclass(frozen=True)
class Slot:
    """One slot whose whole differs.

    Attributes:
        whole: of all ranks.
        expected: the one rank's.
        inherited, floor: what may be apart, see ``noise``.
        earlier: the one rank's values of the slot in earlier iterations, by iteration, the last first.
        before: each rank's part at the end of the iteration before.
        given: an input of the call, whole by rank, if it agrees; and the one rank's.
        type: of the operator.
        reduced: whether a collective over a group gave a value, but for its scale, and no other group crosses it: else
            that one's reduction is missing; None where no collective is known.
    """

    whole: Whole
    expected: Array
    inherited: float
    floor: float
    earlier: Mapping[int, Array]
    before: Mapping[int, Array]
    given: tuple[Mapping[int, Array], Array] | None
    type: str
    reduced: Callable[[tuple[int, ...], Array], bool | None] = lambda _group, _value: None

    def fits(self, found: Array, expected: Array) -> bool:
        """Whether two arrays are equal up to what may be apart."""
        return found.shape == expected.shape and within(found, expected, self.inherited, self.floor)


Told = tuple[tuple[int, ...], Cause]


def of_whole(slot: Slot) -> Told | None:
    """The ranks that are wrong and why; None if no check held."""
    values = slot.whole.values
    wrong = tuple(rank for rank, each in values.items() if not slot.fits(each, slot.expected))
    tests = (of_rows, _reductions, _scaled, _stale, _shards, _ordered, of_masks, _replicas)
    return next((found for test in tests if (found := test(slot, wrong)) is not None), None)


def of_rows(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """Micro-batches that are not there."""
    for rank in () if slot.type in ("Parameter", "Gradient") else wrong:
        mine = slot.whole.values[rank]
        if not mine.ndim or mine.ndim != slot.expected.ndim or mine.shape[1:] != slot.expected.shape[1:]:
            continue
        short, size = len(slot.expected) - len(mine), slot.whole.pieces
        if short <= 0 or not size:
            continue
        for at in range(len(mine) + 1):
            rest = np.concatenate([slot.expected[:at], slot.expected[at + short :]])
            if slot.fits(mine, rest):
                ranks = _lacking(slot.whole, at, short)
                text = f"rows {at} to {at + short - 1} of the one rank are missing: a micro-batch was dropped"
                return ranks, Cause("micro-batch", text, "without them, the one rank's rows are those that are here")
    return None


def _lacking(whole: Whole, at: int, short: int) -> tuple[int, ...]:
    """The ranks that have fewer rows than the others, or all."""
    sizes = {rank: len(each) for rank, each in whole.parts.items()}
    most = max(sizes.values())
    fewer = tuple(rank for rank, size in sizes.items() if size < most)
    return fewer or tuple(sizes)


def _reductions(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """Values that were to be reduced over ranks, and were not, or over others."""
    distinct = _distinct(slot.whole.values)
    if len(distinct) < 2 or any(slot.fits(each, slot.expected) for each in slot.whole.values.values()):
        return None  # where a rank has what is right, sums with nothing in them fit by chance
    for name in ("sum", "mean"):
        for groups in _groups_of(distinct):
            parts = [slot.whole.values[group[0]] for group in groups]
            made = whole_of(parts, Shard("", kind="Partial", reduction=name), 0)
            if not slot.fits(made, slot.expected):
                continue
            check = f"the {name} over {_named(groups)} is the one rank's"
            if not any(_came_from(slot, group) for group in groups):
                if any(len(group) > 1 for group in groups):
                    text = f"it was not reduced over {_named(groups)}, which hold a value each"
                    return tuple(sorted(slot.whole.values)), Cause("not-reduced", text, check)
                text = f"it was not reduced over ranks {rank_list([group[0] for group in groups])}"
                return tuple(sorted(slot.whole.values)), Cause("not-reduced", text, check)
            text = f"it was reduced over {_named(groups)} alone: another group"
            return tuple(sorted(slot.whole.values)), Cause("group", text, check)
    return None


def _came_from(slot: Slot, group: tuple[int, ...]) -> bool:
    """Whether the value that a group's ranks share came from its reduction; it may be the same on all without one."""
    return len(group) > 1 and slot.reduced(group, slot.whole.values[group[0]]) is not False


def _named(groups: Sequence[Sequence[int]]) -> str:
    return " and ".join(f"{'ranks' if len(group) > 1 else 'rank'} {rank_list(list(group))}" for group in groups)


def _distinct(values: Mapping[int, Array]) -> list[tuple[int, ...]]:
    """The ranks by equal bits."""
    found: dict[tuple[object, ...], list[int]] = {}
    for rank, each in sorted(values.items()):
        found.setdefault((each.shape, each.tobytes()), []).append(rank)
    return [tuple(ranks) for ranks in found.values()]


def _groups_of(distinct: Sequence[tuple[int, ...]]) -> Iterator[Sequence[tuple[int, ...]]]:
    """All of the ranks' values, then parts of them."""
    if len(distinct) > _MOST:
        yield distinct
        return
    for size in range(len(distinct), 1, -1):
        yield from combinations(distinct, size)


def _scaled(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """A number by which all is too large, or too small."""
    factors: set[Fraction] = set()
    for rank in wrong:
        mine = slot.whole.values[rank]
        near = _factor(mine, slot.expected)
        if near is None or not slot.fits(_divided(mine, near), slot.expected):
            return None
        factors.add(near)
    if len(factors) != 1:
        return None
    (factor,) = factors
    if slot.type == "Parameter" and len(wrong) < len(slot.whole.values) and 1 not in factor.as_integer_ratio():
        return None  # other ranks hold the one rank's, and no count is such a fraction
    ranks, count = len(slot.whole.parts), slot.whole.pieces
    why = f", the number of ranks being {ranks}" if factor in (ranks, Fraction(1, ranks)) else ""
    why = why or (f", the number of micro-batches being {count}" if factor in (count, Fraction(1, count)) else "")
    text = f"it is {factor} times the one rank's: a wrong scale{why}"
    return tuple(wrong), Cause("scale", text, f"divided by {factor}, it is the one rank's")


def _stale(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """Ranks whose part is that of an earlier iteration."""
    old = tuple(
        rank for rank, part in slot.whole.parts.items() if rank in slot.before and same_bits(part, slot.before[rank])
    )  # fmt: skip
    last = next(iter(slot.earlier.values()), None)
    moved = last is not None and last.tobytes() != slot.expected.tobytes()
    if old and moved and slot.type == "Parameter":
        text = f"it was not updated on {_named([old])}: what it holds is stale"
        return old, Cause("stale", text, "its bits are those of the iteration before; the one rank's changed")
    for iteration, values in slot.earlier.items():
        ranks = tuple(rank for rank in wrong if slot.fits(slot.whole.values[rank], values))
        if ranks and not slot.fits(values, slot.expected):
            text = f"it is that of iteration {iteration}: stale"
            return ranks, Cause("stale", text, f"it is the one rank's of iteration {iteration}")
    return None


def _shards(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """Ranks that hold another's part, or one of an earlier iteration."""
    step = next((step for step in slot.whole.chain if step.kind in ("Shard", "Interleaved")), None)
    if step is None or len(slot.whole.chain) != 1:
        return None
    found: dict[int, str] = {}
    check = ""
    for group in {step.group_of(rank, sorted(slot.whole.parts)) for rank in slot.whole.parts}:
        ranks = [rank for rank in group if rank in slot.whole.parts]
        right = _cut(slot, step, ranks, slot.expected)
        for rank in ranks:
            if slot.fits(slot.whole.parts[rank], right[rank]):
                continue
            told = _of_part(slot, step, ranks, rank)
            if told is None:
                return None
            found[rank], check = told
    if len(set(found.values())) != 1:
        return None
    bad = tuple(found)
    name, _, factor = found[bad[0]].partition(" ")
    said = {"shard": "another rank's shard", "stale": "a stale shard"}.get(
        name, f"its shard is {factor} times the one's"
    )
    return bad, Cause(name, f"{_named([bad])}: {said}", check)


def _of_part(slot: Slot, step: Shard, ranks: Sequence[int], rank: int) -> tuple[str, str] | None:
    """What a rank's part is, if not what it should be, and how that is known."""
    mine = slot.whole.parts[rank]
    right = _cut(slot, step, ranks, slot.expected)
    whose = next((each for each in ranks if each != rank and slot.fits(mine, right[each])), None)
    if whose is not None:
        return "shard", f"rank {rank} holds what rank {whose} should hold"
    for iteration, values in slot.earlier.items():
        if slot.fits(mine, _cut(slot, step, ranks, values)[rank]):
            return "stale", f"rank {rank} holds what it should have held in iteration {iteration}"
    factor = _factor(mine, right[rank])
    if factor is None or not slot.fits(_divided(mine, factor), right[rank]):
        return None
    return f"scale {factor}", f"rank {rank}'s part divided by {factor} is the one rank's"


def _ordered(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """Parts that make the one rank's in another order of rows: they were cut otherwise."""
    step = slot.whole.chain[-1] if slot.whole.chain else None
    if step is None or step.kind not in ("Shard", "Interleaved") or not slot.expected.ndim:
        return None
    axis = step.axis % slot.expected.ndim
    right = np.moveaxis(slot.expected, axis, 0)
    for rank in wrong:
        mine = np.moveaxis(slot.whole.values[rank], axis, 0)
        if mine.shape != right.shape or sorted(map(bytes, mine)) != sorted(map(bytes, right)):
            return None
    text = f"its parts along axis {step.axis} lie in another order than the one rank's: it was cut otherwise"
    return tuple(slot.whole.parts), Cause("shard", text, "in the one rank's order, all have its bits")


def _divided(array: Array, factor: Fraction) -> Array:
    wide = np.asarray(array).astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    found: Array = (wide / float(factor)).astype(array.dtype)
    return found


def _factor(mine: Array, right: Array) -> Fraction | None:
    """By how much one array is larger than another, a fraction; None if it is not."""
    if mine.shape != right.shape or mine.dtype.kind not in "fcV":
        return None
    a, b = (np.asarray(each).astype(np.complex128).ravel() for each in (mine, right))
    with np.errstate(all="ignore"):
        size, product = float(np.vdot(b, b).real), float(np.vdot(b, a).real)
    if not size or not np.isfinite([size, product]).all():
        return None
    near = Fraction(product / size).limit_denominator(64)
    return near if near not in (0, 1) else None


def is_multiple(mine: Array, right: Array) -> bool:
    """Whether one array is a multiple of another, up to rounding."""
    if mine.shape != right.shape or mine.dtype.kind not in "fc" or not right.any():
        return False
    a, b = (np.asarray(each).astype(np.complex128).ravel() for each in (mine, right))
    factor = np.vdot(b, a) / np.vdot(b, b).real
    if not factor or not np.isfinite(factor):
        return False
    made = (a / factor).reshape(right.shape)
    return within((made if right.dtype.kind == "c" else made.real).astype(right.dtype), right)


def _cut(slot: Slot, step: Shard, ranks: Sequence[int], whole: Array) -> dict[int, Array]:
    """What of a whole each rank should hold."""
    axis = step.axis % whole.ndim
    block = whole.shape[axis] // step.parts
    ends = np.cumsum([0, *(slot.whole.parts[rank].shape[axis] // step.parts for rank in ranks)])
    found = {}
    for at, rank in enumerate(ranks):
        mine = range(int(ends[at]), min(int(ends[at + 1]), block))
        found[rank] = np.take(whole, [number * block + each for number in range(step.parts) for each in mine], axis)
    return found


def of_masks(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """Random masks of another seed: what is kept of the input is kept elsewhere."""
    if slot.given is None:
        return None
    given, expected = slot.given
    known = _mask(slot.expected, expected)
    if known is None or not wrong or not all(rank in given for rank in wrong):
        return None
    masks = [_mask(slot.whole.values[rank], given[rank]) for rank in wrong]
    if any(mask is None or mask.shape != known.shape or (mask == known).all() for mask in masks):
        return None
    text = f"other elements are dropped on {_named([tuple(wrong)])}: another seed or state of its random numbers"
    return tuple(wrong), Cause("seed", text, "its input agrees; what it keeps is scaled alike, other elements are 0")


def _mask(made: Array, given: Array) -> Array | None:
    """What a call keeps of its input, if it does nothing but drop elements and scale the others."""
    if made.shape != given.shape or made.dtype.kind != "f":
        return None
    with np.errstate(all="ignore"):
        ratio = (made.astype(np.float64) / given.astype(np.float64))[given != 0]
    kept = ratio[ratio != 0]
    if not 0 < len(kept) < len(ratio) or np.ptp(kept) > 1e-5 * abs(kept[0]) or kept[0] < 1:
        return None
    return np.asarray(made != 0)


def _replicas(slot: Slot, wrong: Sequence[int]) -> Told | None:
    """Ranks that hold other values than those that have the one rank's."""
    right = sorted(set(slot.whole.values) - set(wrong))
    if not right or not wrong:
        return None
    verb = "hold" if len(wrong) > 1 else "holds"
    text = f"{_named([tuple(wrong)])} {verb} other values than {_named([right])}"
    return tuple(wrong), Cause(
        "replicated", text, f"{_named([right])} {'hold' if len(right) > 1 else 'holds'} the one rank's"
    )
