"""A few mutated files for every parser; ``tox -e fuzz`` takes very many."""

from __future__ import annotations

import pytest

from tests.fuzz.engine import fuzz
from tests.fuzz.targets import Target, targets

TARGETS = targets()
pytestmark = pytest.mark.faults


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_files_are_one_clear_error(name: str) -> None:
    assert fuzz(TARGETS[name], 60, seed=2) == []


@pytest.mark.parametrize(("raised", "told"), [(ValueError, "ValueError"), (MemoryError, "MemoryError")])
def test_what_is_no_clear_error_is_found(raised: type[Exception], told: str) -> None:
    def read(path: object) -> None:
        raise raised

    found = fuzz(Target(b"abc", ".x", read), 3, seed=1)
    assert len(found) == 3
    assert all(told in each for each in found)
