"""These tests give every kernel every dtype, also those that a CPU refuses."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _every_dtype(every_dtype: None) -> None:
    """See ``every_dtype``."""
