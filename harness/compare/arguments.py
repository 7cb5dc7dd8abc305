"""Arguments that are no tensors: what they are in words, and how two of them differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.dtypes import ARGUMENT_FORMAT, by_name
from harness.errors import HarnessError
from harness.records import Array, Record
from harness.stats import Statistics

#: Characters of a text that are shown, and numbers of a list.
_SHOWN, _MOST = 60, 6
#: What stands for an argument that is listed on the other side alone.
_DEFAULT = "not given"


#: The name of a text that lists several arguments, one in a line: ``dim=1``.
SETTINGS = "settings"
#: Numbers may be computed from tensors, whose last bits depend on the machine.
_NEAR = 1e-6


def changed_argument(expected: Record, found: Record) -> str | None:
    """``(eps) 1e-05 -> 0.9``, of two records of which one is an argument; None if both are tensors, or if what they
    are is not known."""
    told = sides(expected, found)
    if told is None or told[1] == told[2]:
        return None
    return (f"({told[0]}) " if told[0] else "") + f"{told[1]} -> {told[2]}"


def sides(expected: Record, found: Record) -> tuple[str, str, str] | None:
    """The name of an argument, which may be empty, and what both sides gave; of several in one text those that differ.
    None if both are tensors, or if what they are is not known."""
    if ARGUMENT_FORMAT not in (expected.format, found.format):
        return None
    name = found.extra.named or expected.extra.named or ""
    if name == SETTINGS:
        texts = text_of(expected), text_of(found)
        if texts[0] is not None and texts[1] is not None:
            return _settings(_items(texts[0]), _items(texts[1]))
    one, other = shown(expected), shown(found)
    return (name, one, other) if one is not None and other is not None else None


def nearly(expected: Record, found: Record) -> bool:
    """Whether both are floating-point arguments that differ by a millionth at most."""
    if not expected.format == found.format == ARGUMENT_FORMAT or not expected.dtype == found.dtype == "Float64":
        return False
    one, other = _numbers(expected), _numbers(found)
    if one is None or other is None or one.shape != other.shape:
        return False
    return bool(np.all((one == other) | (np.abs(one - other) <= _NEAR * np.maximum(np.abs(one), np.abs(other)))))


def shown(record: Record) -> str | None:
    """An argument as Python writes it, a tensor by its dtype and shape; None if an argument's value is not known."""
    if record.format != ARGUMENT_FORMAT:
        return f"a tensor {record.dtype}{list(record.shape)}"
    if record.dtype == "UInt8":
        text = text_of(record)
        return None if text is None else repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")
    array = _numbers(record)
    if array is None or not array.size:
        return None
    if array.size == 1:
        return repr(array.item())
    more = ", ..." if array.size > _MOST else ""
    return f"[{', '.join(map(repr, array[:_MOST].tolist()))}{more}]"


def _numbers(record: Record) -> Array | None:
    """The elements of a number or a list of numbers, [n]; of one whose values were not kept, if statistics tell it."""
    try:
        value: Any = record.load()
    except HarnessError:
        value = None
    if value is not None:
        return np.asarray(value).reshape(-1)
    kept = record.statistics()
    if isinstance(kept, Statistics) and kept.count == 1:
        return np.asarray([kept.max]).astype(by_name(record.dtype).numpy)
    return None


def text_of(record: Record) -> str | None:
    """A text that was an argument; None if it is not known."""
    try:
        value: Any = record.load()
    except HarnessError:
        value = None
    return None if value is None else np.asarray(value).tobytes().decode("utf-8", "replace")


def _items(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.split("\n"))
    return {name: value for name, mark, value in pairs if mark}


def _settings(one: dict[str, str], other: dict[str, str]) -> tuple[str, str, str]:
    changed = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
    return ", ".join(changed), _listed(one, changed), _listed(other, changed)


def _listed(side: dict[str, str], names: list[str]) -> str:
    text = ", ".join(side.get(name, _DEFAULT) for name in names)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
