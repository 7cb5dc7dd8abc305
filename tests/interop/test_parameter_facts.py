"""The facts of ``tests/data/tensor/parameters.json`` are those of the real MindSpore."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.framework.tensor.test_parameter import DATA, facts

pytestmark = pytest.mark.interop


def test_recorded_parameters_hold(mindspore_python: str, tmp_path: Path) -> None:
    assert facts([mindspore_python], tmp_path) == json.loads(DATA.read_text())
