"""Tests that are known to be wrong: what they run is no golden, and not to be taken for one."""

from __future__ import annotations

import pytest
from _pytest.skipping import xfailed_key

from pytest_msdump.options import Settings


def is_known_wrong(item: pytest.Item) -> bool:
    """Whether a test is marked ``xfail``, under a condition that holds."""
    return item.stash.get(xfailed_key, None) is not None and not item.config.option.runxfail


def is_left_out(item: pytest.Item, settings: Settings, error: BaseException | None = None) -> bool:
    """Whether a session writes goldens and leaves this test's out; ``error`` is how it ended, and ``pytest.xfail`` says
    that it is wrong."""
    wrong = isinstance(error, pytest.xfail.Exception) or is_known_wrong(item)
    return (settings.regen or settings.learn > 0) and wrong
