"""Programs print what they print under the real MindSpore."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.framework.programs import DATA, NAMES, printed, told


@pytest.fixture(scope="module")
def side() -> Iterator[Side]:
    side = Side(sys.executable, own=True)
    yield side
    side.close()


@pytest.mark.parametrize("name", NAMES)
def test_it_prints_what_was_recorded(name: str, side: Side, tmp_path: Path) -> None:
    assert printed(side, name, tmp_path) == told(name)


def test_every_program_was_recorded() -> None:
    assert sorted(path.stem for path in DATA.glob("*.told")) == NAMES
