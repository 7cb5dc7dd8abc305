"""Every call of every command that writes, killed and failed (``tox -e deep``): old or new, whole, nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.commands import every_step
from tests.faults.sessions import SESSIONS
from tests.faults.writing import COMMANDS

pytestmark = [pytest.mark.faults, pytest.mark.deep]


EVERY = {**COMMANDS, **SESSIONS}


@pytest.mark.parametrize("name", EVERY)
def test_every_step(name: str, tmp_path: Path) -> None:
    found = every_step(EVERY[name], tmp_path)
    print(f"{name}: {found.steps} calls, {found.runs} runs")
