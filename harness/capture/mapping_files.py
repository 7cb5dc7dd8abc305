"""msprobe's mapping files: which cell, function or tensor of one framework is which of the other."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.capture.simple_yaml import parse_yaml
from harness.errors import TreeError
from harness.reading import read_bytes

_LONGEST = 1 << 24
_SLOT = re.compile(
    r"(.+\.(?:forward|backward)(?:\.\d+)?)\.(input|output|parameters)\.(.+)|(.+\.parameters_grad\.\d+)\.(.+)"
)
_SLOTS = {"args": "input", "output": "output"}
_TOP = ("TopLayer", "Cell")
#: A function as a line of msprobe's own table of functions calls it: ``Functional.swapaxes: Torch.transpose``.
_FUNCTION = re.compile(r"(?:Functional|Tensor|Torch|Mint|MintFunctional|Primitive|NPU|Aten|VF|Distributed)\.\w+")
_ACCEPTED = (
    "a mapping of layers (a mapping for each class), of functions (a list of ms_api and pt_api, or Functional.dense: "
    "Functional.linear), of cells (fc2.Dense: fc2.Linear) or of tensors (full names)"
)


@dataclass
class Names:
    """What mapping files say, in the direction they say it.

    Attributes:
        layers: by class (empty for the whole): a path within it, and what it is called on the other side.
        functions: function of the one side -> of the other, and its slots where they have other positions or names.
        cells: ``fc2.Dense`` -> ``fc2.Linear``.
        slots: full name of a tensor -> of the other side's.
    """

    layers: dict[str, dict[str, str]] = field(default_factory=dict)
    functions: dict[str, tuple[str, dict[tuple[str, int | str], int | str]]] = field(default_factory=dict)
    cells: dict[str, str] = field(default_factory=dict)
    slots: dict[str, str] = field(default_factory=dict)


def read_mappings(files: Sequence[str | os.PathLike[str]]) -> Names:
    """What several files say together; ``TreeError`` for a file of any other kind than these four."""
    names = Names()
    for file in files:
        where = os.fspath(file)
        try:
            text = read_bytes(where, _LONGEST, TreeError).decode("utf-8")
        except UnicodeDecodeError:
            raise TreeError(f"{where}: the file is not UTF-8 text") from None
        _add(names, parse_yaml(text, where), where)
    return names


def _add(names: Names, value: Any, where: str) -> None:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        for each in value:
            _add_function(names, each, where)
    elif isinstance(value, dict) and value and all(isinstance(each, dict) for each in value.values()):
        for kind, paths in value.items():
            _require_texts(paths, where)
            renamed = {path: other.split("(")[0] for path, other in paths.items()}
            names.layers.setdefault("" if kind in _TOP else str(kind), {}).update(renamed)
    elif isinstance(value, dict) and value:
        _require_texts(value, where)
        slots = {name: other for name, other in value.items() if _SLOT.fullmatch(name)}
        names.slots.update(slots)
        left = {name: other for name, other in value.items() if name not in slots}
        functions = {name: other for name, other in left.items() if all(map(_FUNCTION.fullmatch, (name, other)))}
        names.functions.update({name: (other, {}) for name, other in functions.items()})
        names.cells.update({name: other for name, other in left.items() if name not in functions})
    else:
        raise TreeError(f"{where}: no mapping; accepted is {_ACCEPTED}")


def _require_texts(value: Mapping[Any, Any], where: str) -> None:
    wrong = [each for pair in value.items() for each in pair if not isinstance(each, str)]
    if wrong:
        raise TreeError(f"{where}: {str(wrong[0])[:80]!r} is not a name; accepted is {_ACCEPTED}")


def _add_function(names: Names, said: Mapping[str, Any], where: str) -> None:
    one, other = said.get("ms_api"), said.get("pt_api")
    if not isinstance(one, str) or not isinstance(other, str):
        raise TreeError(f"{where}: an entry without the texts ms_api and pt_api; accepted is {_ACCEPTED}")
    slots: dict[tuple[str, int | str], int | str] = {}
    for name, io in _SLOTS.items():
        mine, theirs = said.get(f"ms_{name}") or [], said.get(f"pt_{name}") or []
        both = isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs)
        if not both or not all(isinstance(at, str) or (type(at) is int and at >= 0) for at in (*mine, *theirs)):
            raise TreeError(f"{where}: {one}: ms_{name} and pt_{name} are lists of as many positions or names")
        slots.update({(io, at): to for at, to in zip(mine, theirs, strict=True)})
    names.functions[one] = other, slots


def slot_of(name: str) -> tuple[str, str, str] | None:
    """The entry, ``input`` or ``output``, and the position or name of a tensor's full name; None for other names."""
    match = _SLOT.fullmatch(name)
    if match is None:
        return None
    if match[4]:
        return f"{match[4]}.{match[5]}", "output", "0"
    if match[2] == "parameters":
        return f"{match[1]}.parameters.{match[3]}", "output", "0"
    return match[1], match[2], match[3]
