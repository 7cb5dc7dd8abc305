"""Memory that is out, and Ctrl-C, at any line of the rooms that keep goldens: nothing is damaged, commands go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.commands import Command
from tests.faults.lines import every_line
from tests.faults.power import GOLDEN

pytestmark = pytest.mark.faults


@pytest.mark.parametrize(
    ("name", "stride"),
    [
        ("accept", 251),
        *(pytest.param(name, 80, marks=pytest.mark.long) for name in ("update", "learn")),
        pytest.param("review", 400, marks=pytest.mark.long),  # its lines come by most often
        *(pytest.param(name, 20, marks=pytest.mark.deep) for name in ("update", "learn", "review")),
    ],
)
def test_nothing_is_damaged_whichever_line_fails(name: str, stride: int, tmp_path: Path) -> None:
    found = every_line(GOLDEN[name], tmp_path, stride=stride, start=7)
    assert found.lines > 1000
    assert found.runs > 8
    assert found.bad == []


def test_an_interrupt_while_libhdf5_calls_back(tmp_path: Path) -> None:
    """h5py made an error of the interpreter of it, and the command ended in a traceback."""
    sink = range(40, 90)
    found = every_line(
        GOLDEN["update"], tmp_path, stride=8,
        only=lambda line: line.module == "store/h5file.py" and line.line in sink,
    )  # fmt: skip
    assert found.runs >= 8
    assert found.bad == []


def _careless(folder: Path) -> None:
    """Writes a file in place, with a line of a room between its halves."""
    from harness.reading import read_bytes

    with (folder / "x").open("wb") as file:
        file.write(b"new ")
        file.flush()
        read_bytes(folder / "x", 100, ValueError)  # type: ignore[arg-type]
        file.write(b"content")


def test_a_writer_in_place_is_found(tmp_path: Path) -> None:
    command = Command(lambda folder: (folder / "x").write_bytes(b"old") and None, _careless)
    assert any("neither the old nor the new one" in told for told in every_line(command, tmp_path, stride=9).bad)
