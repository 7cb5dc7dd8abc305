"""A sample of flips in goldens and trees; ``python -m tests.faults.flips`` (``tox -e deep``) takes 20,000."""

from __future__ import annotations

import pytest

from tests.faults.flips import run, silent, table

pytestmark = pytest.mark.faults


@pytest.mark.long
def test_a_sample_of_flips() -> None:
    found = run(60, seed=3)
    assert silent(found) == []
    assert found.total() == 60
    assert "| all | 60 |" in table(found)


@pytest.mark.deep
def test_flips() -> None:
    found = run(20_000, seed=1)
    print(table(found))
    assert silent(found) == []
