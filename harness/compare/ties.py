"""Indices of sorted or largest elements may differ only where the scores that were recorded prove a tie.

Two equal scores may be taken in either order, and so may two that lie within the tolerance of the scores. An index is
admitted only if the operator's own scores, on both sides, show that: what the run chose must be as good as what the
golden chose. Where equal bits are asked, indices must be equal. What ``unique`` and non-maximum suppression give is
judged as a whole (``tied_groups``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from harness.compare.arguments import text_of
from harness.compare.floats import wide
from harness.compare.measure import admitted, measure
from harness.compare.tolerances import Tolerance, Tolerances
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.dtypes import ARGUMENT_FORMAT
from harness.errors import HarnessError
from harness.recording.described import Described
from harness.records import Record, SlotKey
from harness.words import among

Array = np.ndarray[Any, np.dtype[Any]]
Records = Callable[[], Iterable[Record]]
#: operators as they were described, by rank, graph and name
Operators = Callable[[], Mapping[tuple[int, int, str], Described]]

#: operators that give indices of their first floating input, by type
_TYPES = re.compile(r"(?:aten[.:]+)?(arg(?:max|min|sort)|topk|sort|max|min)(?:dim|withvalue|v2|ext)?(?:\..*)?")
#: operators that put equal values together; boxes that do not overlap
_UNIQUE = re.compile(r"(?:aten[.:]+)?_?unique(?:2|_?consecutive)?(?:\..*)?")
_BOXES = re.compile(r"(?:torchvision[.:]+)?nms(?:withmask)?(?:\..*)?")
#: larger tensors are left as they are
_MOST = 1 << 22


class _Choice(NamedTuple):
    """How indices choose among scores: along an axis, in order or as a set.

    Attributes:
        axis: of the scores; None for the flattened ones.
        kept: whether the indices have that axis.
        ordered: whether their order along it counts.
    """

    axis: int | None
    kept: bool
    ordered: bool = True


def admit_ties(
    comparison: Comparison, expected: Records, found: Records, tolerances: Tolerances, operators: Operators = dict
) -> Comparison:
    """The comparison in which indices that differ only between tied scores are within tolerance.

    Args:
        comparison: the comparison by slots.
        expected, found: give the records of both sides again.
        tolerances: those in force.
        operators: gives what is known of the expected side's operators.
    """
    wanted = {slot.key: slot for slot in comparison.apart() if _is_of_indices(slot) or _is_of_groups(slot)}
    if not wanted:
        return comparison
    sides = [_slots_of(records, keys) for records, keys in (
        (expected, [key[:5] for key in wanted]),
        (found, [(slot.found_as or slot.key)[:5] for slot in wanted.values()]),
    )]  # fmt: skip
    admitted: dict[SlotKey, SlotVerdict] = {}
    proven: dict[tuple[object, ...], bool] = {}
    for key, slot in wanted.items():
        pair = comparison.pairs.get(key)
        records = [side.get(each[:5], []) for side, each in zip(sides, (key, slot.found_as or key), strict=True)]
        if pair is None or not all(records):
            continue
        if not _is_of_indices(slot):
            if key[:5] not in proven:
                proven[key[:5]] = _are_tied_groups(slot, records, tolerances, operators)
            made = _as_tied(slot, *pair) if proven[key[:5]] else None
        else:
            made = _admitted(slot, pair, records, tolerances)
        if made is not None:
            admitted[key] = made
    if not admitted:
        return comparison
    admitted |= _read_by_others(comparison, admitted)
    slots = [admitted.get(slot.key, slot) for slot in comparison.slots]
    return replace(comparison, slots=slots)


def _is_of_groups(slot: SlotVerdict) -> bool:
    """Whether it is a result of ``unique`` or of a non-maximum suppression, of any dtype and shape."""
    kind = slot.op_type.lower()
    differs = slot.verdict is Verdict.DIFFERS and slot.key.io == "output"
    return differs and (_UNIQUE.fullmatch(kind) is not None or _BOXES.fullmatch(kind) is not None)


def _is_of_indices(slot: SlotVerdict) -> bool:
    whole = slot.dtype.startswith(("Int", "UInt"))
    output = whole and slot.verdict is Verdict.DIFFERS and slot.key.io == "output"
    return output and _TYPES.fullmatch(slot.op_type.lower()) is not None


def _slots_of(records: Records, executions: Iterable[tuple[object, ...]]) -> Mapping[tuple[object, ...], list[Record]]:
    """The slots of these executions."""
    found: dict[tuple[object, ...], list[Record]] = {each: [] for each in executions}
    for record in records():
        if record.key[:5] in found:
            found[record.key[:5]].append(record)
    return found


def _admitted(
    slot: SlotVerdict, pair: tuple[Record, Record], sides: list[list[Record]], tolerances: Tolerances
) -> SlotVerdict | None:
    scores = [next((each for each in side if each.key.io == "input" and "Float" in each.dtype), None) for side in sides]
    if scores[0] is None or scores[1] is None or scores[0].shape != scores[1].shape or _size(scores[0]) > _MOST:
        return None
    tolerance = tolerances.of(scores[0].key, slot.op_type, scores[0].dtype)
    try:
        arrays = [each.load() for each in (*pair, *scores)]  # type: ignore[union-attr]
    except HarnessError:
        return None
    if tolerance.exact or any(each is None for each in arrays) or scores[0].dtype != scores[1].dtype:
        return None
    golden, run, g, r = (np.asarray(each) for each in arrays)
    if golden.shape != run.shape or not all(_proves(golden, run, g, r, scores[0].dtype, tolerance)):
        return None
    return _as_tied(slot, golden, run, tolerance)


def _as_tied(slot: SlotVerdict, golden: Any, run: Any, tolerance: Tolerance | None = None) -> SlotVerdict:
    """The slot, within tolerance."""
    if golden.shape != run.shape:
        differ = f"{list(run.shape)} in place of {list(golden.shape)}"
    elif isinstance(golden, Record):
        differ = "other elements"
    else:
        differ = among(int(np.count_nonzero(golden != run)), golden.size, "index", "differ")
    differ = differ.replace("indexs", "indices")
    return replace(
        slot, verdict=Verdict.WITHIN, reason=f"{differ}, all between scores that tie",
        tolerance=slot.tolerance if tolerance is None else tolerance,
    )  # fmt: skip


def _are_tied_groups(
    slot: SlotVerdict, sides: list[list[Record]], tolerances: Tolerances, operators: Operators
) -> bool:
    """Whether the results of an operator that puts values or boxes together differ by ties alone."""
    from harness.compare.tied_groups import suppression_ties, unique_ties  # few runs have such operators

    if any(_size(record) > _MOST for side in sides for record in side):
        return False
    first = next((each for each in sides[0] if each.key.io == "input" and "Float" in each.dtype), None)
    if first is None or (tolerance := tolerances.of(first.key, slot.op_type, first.dtype)).exact:
        return False
    try:
        given, made = ((_loaded(sides[0], io), _loaded(sides[1], io)) for io in ("input", "output"))
    except HarnessError:
        return False
    if any(each is None for slots in (*given, *made) for each in slots.values()) or given[0].keys() != given[1].keys():
        return False
    slack = partial(_slack, tolerance)
    pairs = [(each, given[1][slot]) for slot, each in given[0].items()]
    if any(one.shape != other.shape or np.any(np.abs(one - other) > slack(one)) for one, other in pairs):
        return False
    if _BOXES.fullmatch(slot.op_type.lower()):
        return suppression_ties(given, made, slack, _threshold(sides[0], slot, operators))
    return 0 in made[0] and 0 in made[1] and unique_ties(given, made, slack, "consecutive" in slot.op_type.lower())


def _loaded(side: list[Record], io: str) -> dict[int, Any]:
    """Tensors of one kind of slot, by slot; floats wide."""
    found = {each.key.slot: each.load() for each in side if each.key.io == io and each.format != ARGUMENT_FORMAT}
    return {slot: wide(each) if each is not None and each.dtype.kind in "fV" else each for slot, each in found.items()}


def _slack(tolerance: Tolerance, values: Array) -> Array:
    """The admitted error of each value."""
    error = admitted(values, tolerance) if values.dtype.kind == "f" else None
    return np.zeros(values.shape) if error is None else error


def _threshold(side: list[Record], slot: SlotVerdict, operators: Operators) -> float | None:
    """The overlap from which on boxes are suppressed, if it was recorded."""
    for text in (text_of(record) or "" for record in side if record.format == ARGUMENT_FORMAT):
        if found := re.search(r"iou_threshold=([-+.\de]+)", text):
            return float(found[1])
    told = operators().get((slot.key.rank, slot.key.graph, slot.key.operator))
    value = told.attributes.get("iou_threshold") if told is not None else None
    return float(value) if isinstance(value, (int, float)) else None


def _size(record: Record) -> int:
    return int(np.prod(record.shape, dtype=np.int64))


def _proves(golden: Array, run: Array, g: Array, r: Array, dtype: str, tolerance: Tolerance) -> Iterator[bool]:
    """Whether some way of choosing explains the golden's indices, and admits the run's; more than one must agree."""
    ways = [way for way in _ways(golden.shape, g.shape) if _is_right(golden, g, way)]
    yield bool(ways)
    for way in ways:
        yield _is_valid(run, g.shape, way) and (
            _ties(golden, run, g, way, dtype, tolerance) and _ties(golden, run, r, way, dtype, tolerance)
        )


def _ways(indices: tuple[int, ...], scores: tuple[int, ...]) -> Iterator[_Choice]:
    """The ways in which indices of that shape may choose among scores of that shape."""
    if indices in ((), (1,)) and len(scores) > 1:
        yield _Choice(None, kept=False)
    for axis in range(len(scores)):
        one = (*scores[:axis], 1, *scores[axis + 1 :])
        if indices == scores[:axis] + scores[axis + 1 :]:
            yield _Choice(axis, kept=False)
        others = len(indices) == len(scores) and all(
            a == b for at, (a, b) in enumerate(zip(indices, scores, strict=True)) if at != axis
        )
        if others and indices[axis] <= scores[axis]:
            yield _Choice(axis, kept=True)
            if indices != one:
                yield _Choice(axis, kept=True, ordered=False)


def _laid(indices: Array, scores: Array, way: _Choice) -> tuple[Array, Array]:
    """Indices and scores with the chosen axis last, the indices with it, too."""
    if way.axis is None:
        return indices.reshape(1), scores.reshape(-1)
    laid = np.moveaxis(indices, way.axis, -1) if way.kept else indices[..., None]
    return laid, np.moveaxis(scores, way.axis, -1)


def _taken(indices: Array, scores: Array, way: _Choice) -> Array:
    laid, values = _laid(indices, scores, way)
    taken = np.take_along_axis(values, laid.astype(np.int64), -1)
    return taken if way.ordered else np.sort(taken, -1)


def _is_valid(indices: Array, scores: tuple[int, ...], way: _Choice) -> bool:
    """Whether all indices exist, and each is there once along the axis."""
    length = int(np.prod(scores)) if way.axis is None else scores[way.axis]
    if indices.size and (indices.min() < 0 or indices.max() >= length):
        return False
    if way.axis is None or not way.kept:
        return True
    ordered = np.sort(indices, way.axis)
    return not np.any(np.diff(ordered.astype(np.int64), axis=way.axis) == 0)


def _is_right(indices: Array, scores: Array, way: _Choice) -> bool:
    """Whether the indices are those of the largest or smallest scores, in that order."""
    if not _is_valid(indices, scores.shape, way):
        return False
    laid, values = _laid(indices, scores, way)
    ascending = np.sort(values, -1)
    number, taken = laid.shape[-1], _taken(indices, scores, way)
    for best in (ascending[..., ::-1][..., :number], ascending[..., :number]):
        if np.array_equal(taken, best if way.ordered else np.sort(best, -1)):
            return True
    return False


def _ties(golden: Array, run: Array, scores: Array, way: _Choice, dtype: str, tolerance: Tolerance) -> bool:
    """Whether the run's choice has, among these scores, the golden's within the tolerance."""
    one, other = (np.ascontiguousarray(_taken(each, scores, way)) for each in (golden, run))
    return measure(one, other, dtype, tolerance).is_within


def _read_by_others(comparison: Comparison, admitted: Mapping[SlotKey, SlotVerdict]) -> dict[SlotKey, SlotVerdict]:
    """Inputs of other operators that hold, on both sides, the very indices that were admitted."""
    known = {comparison.digests[key]: slot for key, slot in admitted.items() if key in comparison.digests}
    known = {digests: slot for digests, slot in known.items() if None not in digests}
    return {
        slot.key: replace(slot, verdict=Verdict.WITHIN, reason=known[digests].reason)
        for slot in comparison.apart()
        if slot.verdict is Verdict.DIFFERS and slot.key.io == "input"
        for digests in (comparison.digests.get(slot.key),)
        if digests in known and known[digests].key[:5] != slot.key[:5]
    }  # fmt: skip
