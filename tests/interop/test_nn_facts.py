"""The facts stored in ``tests/data/nn`` are those of the real MindSpore."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.interop import nn_facts

pytestmark = pytest.mark.interop


def test_recorded_facts_hold(mindspore_python: str, tmp_path: Path) -> None:
    script = Path(nn_facts.__file__)
    done = subprocess.run(
        [mindspore_python, str(script), str(tmp_path)], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    stored = {path.name: path.read_text(encoding="utf-8") for path in nn_facts.DATA.glob("*.json")}
    for other in ("optimizers.json", "experimental.json"):
        del stored[other]  # recorded by others (optimizer_facts, experimental_facts)
    fresh = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.json")}
    assert fresh == stored
