"""The slots of an entry of msprobe's ``dump.json``: tensors, and arguments that are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from harness.dump.msprobe.step_files import OPERATOR
from harness.dump.names import PARAMETER

Array = np.ndarray[Any, np.dtype[Any]]

_INPUTS = ("input_args", "input_kwargs", "input")
_NAMED = "input_kwargs"
_PARAMETERS = "parameters"
_CALL = frozenset({"input_args", _NAMED, "output"})
#: Fields that only a tensor's description has.
_OF_TENSORS = frozenset({"dtype", "shape", "data_name"})
#: What an argument's description says of it, in this order: a number or text, a layout of memory, ranks of a group.
_SAID = ("value", "format", "group_ranks")
#: Types whose value alone says what they are.
_PLAIN = frozenset({"str", "int", "float", "bool"})
_LARGEST = 2**63


class Leaf(NamedTuple):
    """One tensor or argument of an entry.

    Attributes:
        io, slot: ``input`` or ``output``, and the position.
        said: what ``dump.json`` says of it.
        name: of a keyword argument; else empty.
        tensor: whether it is a tensor.
    """

    io: str
    slot: int
    said: Mapping[str, Any]
    name: str = ""
    tensor: bool = True


class Part(NamedTuple):
    """What of an entry belongs to one operator: the suffix of the entry's name, and the type if it differs."""

    suffix: str
    op_type: str | None
    leaves: list[Leaf]


#: The entry that was taken apart last, and its parts: the same one may come from both sides of a comparison.
_last: tuple[Any, tuple[Part, ...]] = None, ()


def parts(entry: Any) -> tuple[Part, ...]:
    """An entry's own slots, then those of parameters (level L0) and of their gradients, by their names.

    A variable of level debug is its entry.
    """
    global _last
    known, found = _last
    if known is not entry:
        found = _plain_part(entry) or tuple(_parts(entry))
        _last = entry, found
    return found


def _plain_part(entry: Any) -> tuple[Part] | None:
    """The parts of a call of PyTorch's or MindSpore's whose arguments are neither nested nor named; None of others."""
    if type(entry) is not dict or entry.keys() != _CALL or entry[_NAMED]:
        return None
    leaves: list[Leaf] = []
    for io, values in ("input", entry["input_args"]), ("output", entry["output"]):
        if type(values) is not list:
            return None
        for at, value in enumerate(values):
            if type(value) is not dict or type(value.get("type")) is not str:
                return None
            if "dtype" in value:
                leaves.append(_new(Leaf, (io, at, value, "", True)))
            elif _OF_TENSORS.isdisjoint(value) and "value" in value:
                leaves.append(_new(Leaf, (io, at, value, "", False)))
            else:
                return None
    return (_new(Part, ("", None, leaves)),)


def _parts(entry: Any) -> Iterator[Part]:
    if isinstance(entry, list) or is_tensor(entry):
        entry = {"output": entry}
    own: list[Leaf] = []
    at = 0
    for field in _INPUTS:
        if given := entry.get(field):
            at = _add(own, "input", given, at, field == _NAMED)
    if given := entry.get("output"):
        _add(own, "output", given, 0)
    yield Part("", None, own)
    if len(entry) <= 3 and _PARAMETERS not in entry and "output" in entry and ("input_args" in entry):
        return  # nothing but the fields above
    for field, values in entry.items():
        if field in _INPUTS or field in ("output", OPERATOR) or not isinstance(values, (dict, list)):
            continue
        op_type = PARAMETER if field == _PARAMETERS else None
        named = values if isinstance(values, dict) and not _is_leaf(values) else {"": values}
        for name, value in named.items():
            leaves: list[Leaf] = []
            _add(leaves, "output", value, 0)
            yield Part(f".{field}.{name}".rstrip("."), op_type, leaves)


def _add(leaves: list[Leaf], io: str, values: Any, at: int, named: bool = False) -> int:
    """Adds the slots of one of an entry's lists; each value takes a position, also one that says nothing.

    Args:
        at: the first position.
        named: whether ``values`` are keyword arguments.

    Returns:
        The next position.
    """
    if named and isinstance(values, dict) and not _is_leaf(values):
        for name, value in values.items():
            first = len(leaves)
            at = _add(leaves, io, value, at)
            leaves[first:] = [leaf._replace(name=name) for leaf in leaves[first:]]
        return at
    stack = [values] if type(values) is not list else values[::-1]
    while stack:
        value = stack.pop()
        if type(value) is dict and "dtype" in value and type(value.get("type")) is str:  # most are
            leaves.append(_new(Leaf, (io, at, value, "", True)))
            at += 1
            continue
        if isinstance(value, list):
            stack.extend(reversed(value))
        elif isinstance(value, dict) and not _is_leaf(value):
            stack.extend(reversed(list(value.values())))
        else:
            if is_tensor(value):
                leaves.append(Leaf(io, at, value))
            elif isinstance(value, dict):
                if any(field in value for field in _SAID):
                    leaves.append(Leaf(io, at, value, tensor=False))
            elif value is not None:
                leaves.append(Leaf(io, at, {"type": type(value).__name__, "value": value}, tensor=False))
            at += 1
    return at


#: Makes a leaf in half the time of its class.
_new = tuple.__new__


def _is_leaf(value: dict[str, Any]) -> bool:
    return isinstance(value.get("type"), str) or is_tensor(value)


def is_tensor(value: Any) -> bool:
    """Whether an entry's value describes a tensor, even a damaged one; named arguments may have the same keys."""
    if not isinstance(value, dict) or not ("type" in value or "data_name" in value):
        return False
    return not isinstance(value.get("type"), (dict, list)) and not _OF_TENSORS.isdisjoint(value)


def argument(said: Mapping[str, Any]) -> tuple[str, Array]:
    """The dtype and the array that stand for an argument: a number, or the bytes of a text (UTF-8).

    Args:
        said: ``{"type": "float", "value": 1e-05}``, and the like.
    """
    value = next((said[field] for field in _SAID if field in said), None)
    kind = str(said.get("type"))
    if kind in _PLAIN:
        if isinstance(value, bool):
            return "Bool", np.array(value)
        if isinstance(value, float):
            return "Float64", np.array(value)
        if isinstance(value, int) and -_LARGEST <= value < _LARGEST:
            return "Int64", np.array(value, np.int64)
    text = value if isinstance(value, str) else str(value)
    if kind != "str" and not text.startswith(kind):
        text = f"{kind} {text}"
    return "UInt8", np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
