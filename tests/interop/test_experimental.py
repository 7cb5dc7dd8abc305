"""The recorded steps of ``mindspore.experimental.optim`` are those of the real MindSpore."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.interop
HERE = Path(__file__).parent


def test_recorded_steps_hold(mindspore_python: str) -> None:
    done = subprocess.run(
        [mindspore_python, str(HERE / "experimental_facts.py")], capture_output=True, text=True, check=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    stored = (HERE.parent / "data" / "nn" / "experimental.json").read_text(encoding="utf-8")
    assert json.loads(done.stdout.splitlines()[-1]) == json.loads(stored)
