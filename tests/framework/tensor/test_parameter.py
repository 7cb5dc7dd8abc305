"""Parameters share what MindSpore's share, and take and refuse what they do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.errors import UnsupportedNameError
from harness.framework import Parameter, Tensor, context, ops
from tests.subprocesses import ROOT

DATA = ROOT / "tests" / "data" / "tensor" / "parameters.json"
PROGRAM = ROOT / "tests" / "interop" / "parameter_facts.py"


@pytest.mark.parametrize("mode", [0, 1])
def test_set_data_shares_memory(mode: int) -> None:
    """As MindSpore 2.10.0, measured in both modes; another dtype is copied."""
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        one, two = (Parameter(Tensor(np.full(3, n, np.float32)), name=f"p{n}") for n in (1, 2))
        two.set_data(one)
        ops.assign(one, one + 1)
        assert two.asnumpy().tolist() == [2, 2, 2]
        half = Parameter(Tensor(np.zeros(3, np.float16)), name="half")
        half.set_data(one)
        ops.assign(one, one + 1)
        assert half.asnumpy().tolist() == [2, 2, 2]
    finally:
        context.set_context(mode=before)


def facts(command: list[str], folder: Path) -> dict[str, str]:
    """What ``command`` makes of the program."""
    out = folder / "facts.json"
    done = subprocess.run([*command, str(PROGRAM), str(out)], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, str] = json.loads(out.read_text())
    return found


def test_settings_and_assignments_are_those_recorded(tmp_path: Path) -> None:
    recorded: dict[str, str] = json.loads(DATA.read_text())
    assert sum(text.endswith("Error") for text in recorded.values()) > 200
    assert facts([sys.executable, "-m", "harness.cli", "run"], tmp_path) == recorded


def test_a_name_that_is_not_supported_says_so() -> None:
    """The lookup of a parameter's attribute that refuses to be read once called itself."""
    with pytest.raises(UnsupportedNameError, match="is_meta"):
        _ = Parameter(Tensor([1.0])).is_meta
