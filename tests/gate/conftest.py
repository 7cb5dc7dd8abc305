"""Settings and fixtures of the gate."""

from __future__ import annotations

from typing import Any

from tests.gate.never_written import AGAINST_REAL


def pytest_msdump_tolerance(backend: str, against: str) -> Any:
    """The real MindSpore's own runs are not the same from one to the next, and mean nothing in some slots."""
    return AGAINST_REAL if backend == against == "mindspore" else None
