"""A disk that loses power while goldens are written: whatever reached it, they are whole, and commands go on."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.faults.commands import Command
from tests.faults.power import GOLDEN, Disk, Event, apply, every_state

pytestmark = pytest.mark.faults


@pytest.mark.parametrize(
    ("name", "stride"),
    [("accept, in folders", 61), *(pytest.param(name, 23, marks=pytest.mark.long) for name in ("import", "review"))],
)
def test_goldens_are_whole_whatever_reached_the_disk(name: str, stride: int, tmp_path: Path) -> None:
    found = every_state(GOLDEN[name], tmp_path, states=2, seed=44, stride=stride)
    assert found.states > 4
    assert found.bad == []


def _careless(folder: Path) -> None:
    """Writes without waiting for the disk, but at the end."""
    scratch = folder / "new"
    scratch.write_bytes(b"new content")
    os.replace(scratch, folder / "x")
    with (folder / "x").open("rb") as file:
        os.fsync(file.fileno())


def test_a_writer_that_does_not_wait_is_found(tmp_path: Path) -> None:
    command = Command(lambda folder: (folder / "x").write_bytes(b"old") and None, _careless)
    found = every_state(command, tmp_path, states=8, seed=1)
    assert any("neither the old nor the new one" in each for each in found.bad)


def test_what_is_synced_is_certain_and_the_rest_may_be_lost() -> None:
    disk, rng = Disk(entries={"x": 1}, contents={1: b"old"}), random.Random(1)
    for event in (Event("enter", "y", 2), Event("content", "y", 2, b"new!"), Event("move", "x", 2, source="y")):
        disk.take(event)
    seen = {state.get("x") for state, _ in zip(disk.states(rng), range(60), strict=False)}
    assert seen == {b"old", b"", b"ne", b"\0\0w!", b"new!"}
    disk.take(Event("sync", "x", 2))
    seen = {state.get("x") for state, _ in zip(disk.states(rng), range(60), strict=False)}
    assert seen == {b"old", b"new!"}
    disk.take(Event("sync", "."))
    seen = {tuple(state.items()) for state, _ in zip(disk.states(rng), range(60), strict=False)}
    assert seen == {(("x", b"new!"),)}
    entries = {"a": 1}
    apply(entries, Event("move", "b", 1, source="a"), twice=True)
    apply(entries, Event("leave", "c"))
    assert entries == {"a": 1, "b": 1}


def test_what_lies_in_a_folder_that_is_lost_is_lost() -> None:
    disk = Disk(contents={1: b"x"}, pending=[Event("enter", "d"), Event("enter", "d/x", 1)])
    seen = {tuple(state.items()) for state, _ in zip(disk.states(random.Random(1)), range(30), strict=False)}
    assert seen == {(), (("d", None),), (("d", None), ("d/x", b"x"))}
