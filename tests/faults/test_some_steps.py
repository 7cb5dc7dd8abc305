"""A few calls of commands that write, killed and failed; ``test_every_step`` (``tox -e deep``) takes every one."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.faults.commands import every_step
from tests.faults.steps import AFTER, BEFORE
from tests.faults.writing import COMMANDS

pytestmark = pytest.mark.faults


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "stride"),
    [
        ("update", 68),
        ("ckpt", 2),
        ("summary", 2),
        ("dump, long names", 40),
        ("dump, asynchronous", 6),
        ("dump, msprobe", 12),
        ("rdr", 3),
    ],
)
def test_some_steps(name: str, stride: int, tmp_path: Path) -> None:
    found = every_step(COMMANDS[name], tmp_path, ways=(BEFORE, AFTER, errno.ENOSPC), stride=stride)
    assert found.runs >= 6
