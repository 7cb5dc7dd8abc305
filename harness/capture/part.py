"""What a capture holds under a name: of one operator, or of all in a layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from harness.recording.described import Described
from harness.records import Record

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Part:
    """Operators and slots of a capture that a name fits.

    Attributes:
        name: as it was asked for.
        operators: descriptions, in the order in which they were declared; empty where nobody described them.
        records: slots, in execution order.

    Examples:
        >>> from harness.capture import read_tree
        >>> part = read_tree("dump")["MatMul-op0"]
        >>> part.names, part["output.0"].shape
        (['Default/MatMul-op0'], (1, 3))
    """

    name: str
    operators: tuple[Described, ...]
    records: tuple[Record, ...]

    @property
    def names(self) -> list[str]:
        """Full names of its operators and parameters, in execution order."""
        return list(dict.fromkeys(record.key.operator for record in self.records))

    def __getitem__(self, slot: str) -> Array:
        """The values of the first slot of this name (``output.0``).

        Raises:
            KeyError: there is no such slot, or its values were not kept.
        """
        record = next((each for each in self.records if each.key.slot_name == slot), None)
        values = None if record is None else record.load()
        if values is None:
            there = ", ".join(dict.fromkeys(each.key.slot_name for each in self.records))
            why = f"it has {there}" if record is None else "its values were not kept"
            raise KeyError(f"{self.name} has no {slot}; {why}")
        return values


def found(name: str, records: Iterable[Record], operators: Mapping[Any, Described]) -> Part:
    """The part of a capture that ``name`` fits: the operator or parameter of this full name, or all that stand in a
    layer of this name (``fc1`` fits ``Default/fc1-Dense/MatMul-op0`` and ``fc1.weight``).

    Raises:
        KeyError: it fits nothing; the message names what comes near.
    """
    kept = list(records)
    names = dict.fromkeys([*(each.key.operator for each in kept), *(each.name for each in operators.values())])
    fits = {name} if name in names else {each for each in names if _is_in(each, name.split("/"))}
    if not fits:
        parts = dict.fromkeys(part for each in names for part in (each, *each.split("/")))
        near = get_close_matches(name, parts, 3, 0.4) or list(parts)[:3]
        raise KeyError(f"the capture has nothing named {name!r}" + (f"; it has {', '.join(near)}" if near else ""))
    described = tuple(each for each in operators.values() if each.name in fits)
    return Part(name, described, tuple(each for each in kept if each.key.operator in fits))


def _is_in(operator: str, wanted: list[str]) -> bool:
    """Whether the parts of a name follow each other in an operator's."""
    parts, many = operator.split("/"), len(wanted)
    return any(
        all(
            part == name or (name and part.startswith((f"{name}-", f"{name}.")))
            for part, name in zip(parts[at:], wanted, strict=False)
        )
        for at in range(len(parts) - many + 1)
    )
