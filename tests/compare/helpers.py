"""Pairs of runs for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.compare import Comparison, SlotVerdict, check
from harness.records import Record
from tests.store.helpers import record


def judge(expected: Any, found: Any, tolerance: Any = None) -> SlotVerdict:
    """The verdict on one slot."""
    comparison = check([record(expected)], [record(found)], tolerance)
    assert len(comparison.slots) == 1
    return comparison.slots[0]


def verdicts(comparison: Comparison) -> dict[str, str]:
    """``operator input.0`` -> verdict."""
    return {f"{slot.key.operator} {slot.key.slot_name}": slot.verdict.value for slot in comparison.slots}


def operator(
    name: str, inputs: Sequence[Any], outputs: Sequence[Any], op_type: str = "Add", **more: Any
) -> list[Record]:
    """The records of one execution of one operator."""
    made = [record(array, name, "input", slot, op_type=op_type, **more) for slot, array in enumerate(inputs)]
    return made + [record(array, name, "output", slot, op_type=op_type, **more) for slot, array in enumerate(outputs)]
