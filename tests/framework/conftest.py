"""What several tests of the framework need."""

from __future__ import annotations

import pytest

from harness.framework.ops import taken


@pytest.fixture
def every_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels take every dtype, as no CPU's do: for slopes in float64, and for what other devices have."""
    monkeypatch.setattr(taken, "refused", dict)
