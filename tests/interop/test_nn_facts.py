"""The facts stored in ``tests/data/nn`` are those of the real MindSpore."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.side import Side
from tests.interop import nn_facts

pytestmark = pytest.mark.interop


def test_recorded_facts_hold(mindspore_side: Side, tmp_path: Path) -> None:
    mindspore_side.printed(Path(nn_facts.__file__), tmp_path / "run", tmp_path)
    stored = {path.name: path.read_text(encoding="utf-8") for path in nn_facts.DATA.glob("*.json")}
    for other in ("optimizers.json", "experimental.json"):
        del stored[other]  # recorded by others (optimizer_facts, experimental_facts)
    fresh = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.json")}
    assert fresh == stored
