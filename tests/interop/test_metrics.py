"""Metrics over random data give what the real MindSpore's give, or the same errors."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.differential.side import Side
from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("metric_programs.py")


def results(side: Side, seed: int, out: Path) -> list[Any]:
    return json.loads(side.printed(SCRIPT, out, seed, PYTHONPATH=str(ROOT)).splitlines()[-1])


def same(own: Any, real: Any) -> bool:
    if isinstance(real, list):
        return isinstance(own, list) and len(own) == len(real) and all(map(same, own, real))
    return own == pytest.approx(real, rel=1e-6, nan_ok=True) if isinstance(real, float) else own == real


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_uses(seed: int, both: tuple[Side, Side], tmp_path: Path) -> None:
    own, real = (results(side, seed, tmp_path) for side in both)
    assert [name for name, _ in own] == [name for name, _ in real]
    for (name, found), (_, wanted) in zip(own, real, strict=True):
        assert same(found, wanted), f"{name}: {found}, the real one gives {wanted}"
    kinds = Counter(isinstance(wanted, str) for _, wanted in real)
    assert kinds[False] > 1000
    assert kinds[True] > 50
