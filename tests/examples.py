"""The number of examples of a property: few and fixed in block 2 of the README, many and fresh in ``tox -e deep``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

FRESH = os.environ.get("MSDUMP_EXAMPLES") == "fresh"


def register() -> None:
    """Makes the profile of this run hypothesis's default."""
    # How fast examples are drawn is the machine's affair.
    calm = [HealthCheck.too_slow]
    settings.register_profile(
        "same everywhere", deadline=None, database=None, derandomize=True, max_examples=30, suppress_health_check=calm
    )
    settings.register_profile(
        "fresh", deadline=None, database=None, print_blob=True, max_examples=200, suppress_health_check=calm
    )
    settings.load_profile("fresh" if FRESH else "same everywhere")


def examples(few: int, many: int, **more: Any) -> settings:
    """``hypothesis.settings`` with ``few`` examples in block 2 and ``many`` in ``tox -e deep``."""
    more["suppress_health_check"] = [*more.get("suppress_health_check", ()), HealthCheck.too_slow]
    return settings(max_examples=many if FRESH else few, deadline=None, **more)


def diagonal(rows: Iterable[Any], columns: Iterable[Any]) -> list[Any]:
    """Pairs for ``parametrize``: every row and column at least once in block 2, all of them in ``tox -e deep``."""
    left, right = list(rows), list(columns)
    step = min(len(left), len(right))
    return [
        pytest.param(row, column, marks=() if (i - j) % step == 0 else pytest.mark.deep)
        for i, row in enumerate(left)
        for j, column in enumerate(right)
    ]
