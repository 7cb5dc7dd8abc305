"""The traps: the right verdict, from the comparison and from the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.cli import main
from harness.compare import Verdict, check
from harness.records import Record, SlotKey
from harness.store import RunData, RunId, update
from harness.testing.traps import Trap, traps

TRAPS = {trap.name: trap for trap in traps()}
NAMES = {kind.numpy: kind.name for kind in dtypes.ALL}


def records(tensors: Any) -> list[Record]:
    """An output of an operator for each tensor."""
    return [
        Record(
            SlotKey(0, 0, 0, f"Default/{name}", 0, "output", 0), "Add", NAMES[array.dtype], array.shape, values=array
        )
        for name, array in tensors.items()
    ]


@pytest.mark.parametrize("name", TRAPS)
def test_the_verdict_is_right(name: str) -> None:
    trap: Trap = TRAPS[name]
    for measured in (True, False):
        comparison = check(records(trap.expected), records(trap.found), "default", measured=measured)
        assert comparison.holds == trap.holds
        if not trap.holds:
            assert all(slot.reason for slot in comparison.failures())


@pytest.mark.parametrize("name", [name for name, trap in TRAPS.items() if not trap.holds])
def test_what_does_not_hold_is_not_exact_either(name: str) -> None:
    assert not check(records(TRAPS[name].expected), records(TRAPS[name].found), "exact").holds


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TRAPS)
def test_the_command_ends_with_the_right_code(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trap, store = TRAPS[name], tmp_path / "trap.h5"
    for side, tensors in (("expected", trap.expected), ("found", trap.found)):
        stored = {key: np.array(array, order="C", ndmin=array.ndim) for key, array in tensors.items()}
        update(store, "trap", {RunId("mindspore", side): RunData(records(stored))})
    code = main(["diff", f"{store}::mindspore/expected", f"{store}::mindspore/found"])
    assert code == (0 if trap.holds else 1)


def test_there_are_enough_and_all_differ() -> None:
    assert len(TRAPS) == len(list(traps())) >= 60
    assert sum(trap.holds for trap in TRAPS.values()) >= 15


def test_identical_ones_are_identical() -> None:
    for name in ("equal", "bools", "empty", "other memory order"):
        slot = check(records(TRAPS[name].expected), records(TRAPS[name].found), "default").slots[0]
        assert slot.verdict is Verdict.IDENTICAL
