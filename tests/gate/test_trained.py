"""A watched training: its log is checked against the golden too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gate.emulated import TORCH
from tests.gate.networks import trained

pytestmark = pytest.mark.msdump(backends=["cpu"], modes=["tensor"], against=TORCH)


def test_trained(msdump: Any) -> None:
    trained.play(msdump)
