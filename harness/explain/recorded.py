"""An operator to run again, from a run's records alone: its tensors by slot, its other arguments by their names."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.arguments import SETTINGS
from harness.compare.divergence import PARAMETER, Execution
from harness.dtypes import ARGUMENT_FORMAT, TORCH_FORMAT
from harness.errors import HarnessError
from harness.explain.evidence import PYTORCH_BACKEND as _BACKEND
from harness.explain.evidence import Evidence, is_of_records, loaded
from harness.explain.replay import Setting
from harness.explain.statements import Argument, Statement
from harness.recording.described import UNKNOWN_EDGE, Described
from harness.recording.replayer import Replayer
from harness.records import Record
from harness.replaying import PYTORCH, replayer_of

#: types of records that no operator made
NO_OPERATORS = frozenset({PARAMETER, "Gradient", "Result", "Settings", "Module"})


#: what runs the operators of captures without graphs
LIBRARY = "PyTorch"


_DISPATCHED = re.compile(r"-op\d+$")


def is_without_replayer(run: Evidence, where: Execution) -> bool:
    """Whether an operator could be run again if ``LIBRARY`` were installed."""
    is_theirs = run.backend == _BACKEND and _DISPATCHED.search(where.operator) is not None
    return is_theirs and is_of_records(run) and replayer_of(PYTORCH) is None


def recorded(run: Evidence, where: Execution, beside: Mapping[int, Record] | None = None) -> Setting | None:
    """An execution of a capture without graphs; None if an input is not known, or nothing runs it again.

    Args:
        beside: the inputs of the same operator on the other side, whose names a golden's records lack.
    """
    inputs, outputs = run.slots(where, "input"), run.slots(where, "output")
    kind = run.op_type(where)
    replayer = replayer_of(PYTORCH) if run.backend == _BACKEND and kind not in NO_OPERATORS else None
    if replayer is None or any(each.format not in (TORCH_FORMAT, ARGUMENT_FORMAT) for each in inputs.values()):
        return None
    tensors = {slot: each for slot, each in sorted(inputs.items()) if each.format == TORCH_FORMAT}
    values = {slot: loaded(each) for slot, each in tensors.items()}
    if sorted(values) != list(range(len(values))) or (outputs and 0 not in outputs):
        return None  # tensors without elements have no record
    made = [
        (each.dtype, tuple(each.shape)) if (each := outputs.get(slot)) is not None else (outputs[0].dtype, (0,))
        for slot in range(max(outputs, default=-1) + 1)
    ]
    if any(each is None for each in values.values()):
        return None
    given = given_by_name(inputs, beside)
    if given is None:
        given = _by_schema(replayer, kind, inputs, len(tensors))
    if given is None:
        return None
    names = tuple(each.extra.named or "" for each in tensors.values())
    described = Described(
        where.operator, kind, graph=where.graph, rank=where.rank, attributes=given,
        inputs=(UNKNOWN_EDGE,) * len(values), names=names, outputs=tuple(made),
    )  # fmt: skip
    arguments = tuple(Argument(names[slot] or f"input.{slot}") for slot in tensors)
    statement = Statement(
        where.operator, kind, arguments, described.attributes, know=replayer.facts, told=described
    )  # fmt: skip
    if statement.facts is None:
        return None
    kinds = tuple(dtypes.by_name(name) for name, _ in made)
    return Setting(statement, dict(values), dict(described.attributes), 0, run.backend, kinds, replayer)


def given_by_name(records: Mapping[int, Record], beside: Mapping[int, Record] | None = None) -> dict[str, Any] | None:
    """What an operator was given that is no tensor, by the names of its schema, as Python values; None if a name or a
    value is not known.

    Args:
        beside: see ``recorded``.
    """
    found: dict[str, Any] = {}
    for name, each in named_records(records, beside):
        values = named_values(each, name)
        if not name or values is None:
            return None
        found |= values
    return found


def _by_schema(replayer: Replayer, kind: str, records: Mapping[int, Record], tensors: int) -> dict[str, Any] | None:
    """Likewise, where neither side's records have names: the names are those of the operator's schema, in its order."""
    own = [each for _, each in sorted(records.items()) if each.format == ARGUMENT_FORMAT]
    found: dict[str, Any] = {}
    for each in own:
        if _is_text(each):
            found |= named_values(each, SETTINGS) or {}
    plain = [each for each in own if not _is_text(each)]
    names = replayer.numbers(kind, tuple(found), len(plain), tensors)
    for name, each in zip(names or (), plain, strict=False):
        found |= named_values(each, name) or {}
    return None if names is None else found


def named_records(
    records: Mapping[int, Record], beside: Mapping[int, Record] | None = None
) -> list[tuple[str, Record]]:  # fmt: skip
    """The records of numbers, texts and settings, with their names: their own, else those that records of ``beside``
    in their places have, equal values first; empty where neither is known."""
    own = [each for _, each in sorted(records.items()) if each.format == ARGUMENT_FORMAT]
    if all(each.extra.named for each in own):
        return [(each.extra.named or "", each) for each in own]
    others = [each for _, each in sorted((beside or {}).items()) if each.format == ARGUMENT_FORMAT]
    texts = [SETTINGS if _is_text(each) else "" for each in own]
    numbers = [each for each in own if not _is_text(each)]
    theirs = [each for each in others if not _is_text(each) and each.extra.named]
    if len(numbers) > len(theirs) or len(numbers) > _MOST:
        return [(each.extra.named or text, each) for text, each in zip(texts, own, strict=True)]
    alike = [[_content(one) == _content(other) for other in theirs] for one in numbers]
    places = max(
        combinations(range(len(theirs)), len(numbers)),
        key=lambda chosen: sum(alike[at][place] for at, place in enumerate(chosen)),
    )  # fmt: skip
    names = iter([theirs[place].extra.named or "" for place in places])
    return [(text or next(names), each) for text, each in zip(texts, own, strict=True)]


#: more numbers are not named after those of another record
_MOST = 12


def _is_text(record: Record) -> bool:
    return record.dtype == "UInt8" and len(record.shape) == 1


def _content(record: Record) -> Any:
    values = loaded(record)
    return record.digest if values is None else (values.dtype.str, values.shape, values.tobytes())


def named_values(record: Record, name: str) -> Mapping[str, Any] | None:
    """The arguments in one record: one number, or those of a text with one in a line; None where they are unknown."""
    try:
        array = record.load()
    except HarnessError:
        return None
    if array is None:
        return None
    plain = np.asarray(array)
    if not _is_text(record):
        return {name: plain.item() if plain.ndim == 0 else plain.tolist()}
    text = plain.tobytes().decode("utf-8", "replace")
    if name != SETTINGS:
        return {name: text}
    pairs = (line.partition("=") for line in text.split("\n"))
    return {key: _value(value) for key, mark, value in pairs if mark}


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
