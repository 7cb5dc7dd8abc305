"""When memory is shared."""

from __future__ import annotations

from itertools import product

import pytest

from harness.errors import SettingError
from harness.memory import reuse_applies


def test_every_condition_counts() -> None:
    for level, allowed, dumped, mode in product(("O0", "O1"), (True, False), (True, False), (0, 1, 2)):
        found = reuse_applies(level, allowed, dumped, mode)
        assert found == (level == "O1" and allowed and not (dumped and mode == 0))


def test_no_reuse_unless_asked_for() -> None:
    assert not reuse_applies()


def test_other_levels_are_refused() -> None:
    with pytest.raises(SettingError, match="'O2'"):
        reuse_applies("O2")
