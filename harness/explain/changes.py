"""The differences in an operator's inputs: attributes, constants, parameters, data."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.arguments import sides
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.arguments import Given, by_name
from harness.explain.case import Case
from harness.explain.claim import Claim, holds
from harness.explain.counted import seen_in_statistics
from harness.explain.evidence import is_of_records, loaded
from harness.explain.explanation import Change
from harness.explain.ir_values import Unreadable
from harness.explain.numbers import number, setting_text, value_text
from harness.explain.pair import is_bitwise
from harness.explain.patterns import Pair, find_pattern
from harness.explain.replay import read_during
from harness.explain.rewired import taken_instead
from harness.explain.statements import Argument, differing_attributes, same
from harness.records import Record

#: number of parameters to examine
_MOST = 16
#: attributes that follow from others, which say the same in the user's terms
DERIVED = {
    "pad_list": ("pad_mode", "pad"), "pad": ("pad_mode",), "groups": ("group",), "kernel_size": ("out_channel",),
    "mode": ("out_channel",),
}  # fmt: skip


def changed_settings(case: Case) -> list[Given]:
    """The differing attributes and constants, from the graphs and the dump."""
    one, other = case.statements
    if one is None or other is None or one.op != other.op:
        return []
    pairs = differing_attributes(one, other)
    names = {name for name, _, _ in pairs}
    found = [
        Given("attribute", Change(name, setting_text(name, e), setting_text(name, f)), value={name: f})
        for name, e, f in pairs
        if not (names & set(DERIVED.get(name, ())))
    ]
    # An attribute that follows from another one is listed with it.
    hidden = {name: f for name, _, f in pairs if names & set(DERIVED.get(name, ()))}
    if found and hidden:
        first = found[0]
        found[0] = Given(first.kind, first.change, value={**first.value, **hidden})
    for at, (e, f) in enumerate(zip(one.arguments, other.arguments, strict=False)):
        if at in case.inputs or not (e.is_constant and f.is_constant):
            continue
        if isinstance(e.value, Unreadable) or same(e.value, f.value):
            continue
        found.append(
            Given("constant", Change(e.name, setting_text(e.name, e.value), setting_text(e.name, f.value)), at, f.value)
        )
    return found


def changed_inputs(case: Case) -> list[Given]:
    """The differing inputs, with their kinds."""
    found = []
    statement = case.statements[0]
    for slot, (e, f) in sorted(case.inputs.items()):
        if e.format == f.format == ARGUMENT_FORMAT and by_name(case):
            continue  # told by their names
        argument = statement.arguments[slot] if statement and slot < len(statement.arguments) else None
        found.append(_input(case, slot, argument, e, f))
    return found


def _input(case: Case, slot: int, argument: Argument | None, e: Record, f: Record) -> Given:
    kind = "data" if case.given else "input"
    if is_of_records(case.found) and (instead := taken_instead(case, slot)) is not None:
        return Given("input", Change(instead[0]), slot, loaded(f))  # another one, none that changed
    name = argument.name if argument is not None else case.expected.input_name(case.op, slot)
    if argument is not None:
        if argument.is_constant:
            kind = "constant"
        elif argument.parameter is not None:
            known = not argument.is_data and case.expected.parameter(argument.parameter, *_step(case)) is not None
            kind = "parameter" if known else "data"
            name = argument.parameter
    if (told := sides(e, f)) is not None:
        named, one, other = told
        return Given(kind, Change(f"{name} ({named})" if named else name, one, other), slot, loaded(f))
    values = loaded(e), loaded(f)
    if values[0] is None or values[1] is None:
        return _without_values(case, Given(kind, Change(name), slot, values[1]), e, f)
    if values[0].size <= 6 and values[0].shape == values[1].shape:
        return Given(kind, Change(name, _text(name, values[0]), _text(name, values[1])), slot, values[1])
    least, most = np.unique(values[0]), np.unique(values[1])
    if values[0].shape == values[1].shape and least.size == most.size == 1:
        return Given(kind, Change(name, f"all {value_text(least)}", f"all {value_text(most)}"), slot, values[1])
    detail, exact = tensor_detail(case, values[0], values[1])
    return Given(kind, Change(name), slot, values[1], detail, exact)


def _text(name: str, values: np.ndarray[Any, Any]) -> str:
    """A few given values; a number of an enumeration by its name."""
    return setting_text(name, values.item() if values.size == 1 and values.dtype.kind in "iu" else values)


def _without_values(case: Case, given: Given, e: Record, f: Record) -> Given:
    """An input of which a side kept only digests and statistics: its only value, or the tensor with the same bits."""
    name, sides = given.change.name, [_only_value(each) for each in (e, f)]
    if None not in sides and e.shape == f.shape:
        lead = "all " if prod(e.shape) > 1 else ""
        return replace(given, change=Change(name, *(f"{lead}{each}" for each in sides)))
    other = _owner(case, f)
    if other:
        return replace(given, detail=f"it has the bits of {other}", exact=True)
    seen = seen_in_statistics(e, f)
    return given if seen is None else replace(given, detail=seen.text, exact=seen.exact)


def _only_value(record: Record) -> str | None:
    """The common value of all elements as a text; None if there are several values or it is unknown."""
    values = loaded(record)
    if values is not None:
        known = np.unique(values)
        return value_text(known) if known.size == 1 else None
    counted = record.extra.statistics or record.extra.row
    most, least = (getattr(counted, name, None) for name in ("max", "min"))
    if most is None or most != least:
        return None
    return value_text(np.asarray([most]).astype(dtypes.by_name(record.dtype).numpy))


def _owner(case: Case, found: Record) -> str | None:
    """The parameter of the golden's step that has the digest of the run's other parameter."""
    content = case.found.content(found)
    for record in case.expected.by_key.values():
        key = record.key
        if (
            key.io != "input"
            or key.iteration != case.where.iteration
            or record.shape != found.shape
            or prod(found.shape) < 2
        ):
            continue
        statement = case.expected.graphs.statement(key.graph, key.operator)
        argument = statement.arguments[key.slot] if statement and key.slot < len(statement.arguments) else None
        if (
            argument is not None
            and argument.parameter
            and content is not None
            and case.expected.content(record) == content
        ):
            return argument.parameter
    return None


def _step(case: Case) -> tuple[int, int]:
    return case.where.rank, case.where.iteration


def tensor_detail(case: Case, e: np.ndarray[Any, Any], f: np.ndarray[Any, Any]) -> tuple[str, bool]:
    """Describes the difference of an input tensor: another parameter's bits, or a pattern."""
    if e.shape != f.shape:
        return f"its shape is {list(f.shape)}, expected {list(e.shape)}", True
    names = dict.fromkeys(p.key.operator for p in case.expected.parameters if p.shape == f.shape)
    for name in list(names)[:_MOST] if f.size > 1 and f.any() else ():
        values = read_during(case.expected, name, case.where)
        if values is not None and is_bitwise(values, f):
            return f"it has the bits of {name}", True
    pair = Pair(e, f)
    changed = np.argwhere(pair.changed) if e.dtype.kind in "fiuV" and e.dtype == f.dtype else np.empty((0, 0))
    if len(changed) == 1:
        at = tuple(map(int, changed[0]))
        told = f"at {list(at)} alone, {number(e[at], e.dtype)} -> {number(f[at], f.dtype)}"
        one = Claim("one element", "put", {"at": changed, "value": f[at].tobytes()}, lambda _: told)
        if (held := holds(one, pair)) is not None and held.exact:
            return one.words(held), True
    finding = find_pattern(pair)
    return (finding.text, finding.exact) if finding is not None else ("", False)
