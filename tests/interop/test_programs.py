"""What is recorded of the programs of ``tests/data/programs`` holds under the real MindSpore."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.framework.programs import NAMES, printed, told

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recorded_holds(name: str, mindspore_side: Side, tmp_path: Path) -> None:
    assert printed(mindspore_side, name, tmp_path) == told(name)
