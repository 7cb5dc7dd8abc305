"""A few calls of commands that hold a session, killed and failed; ``test_every_step`` takes every one."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.faults.commands import every_step
from tests.faults.sessions import SESSIONS
from tests.faults.steps import AFTER, BEFORE

pytestmark = pytest.mark.faults


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "stride"), [("verify --fix", 7), ("init", 6)])
def test_some_steps(name: str, stride: int, tmp_path: Path) -> None:
    found = every_step(SESSIONS[name], tmp_path, ways=(BEFORE, AFTER, errno.ENOSPC), stride=stride)
    assert found.runs >= 6
