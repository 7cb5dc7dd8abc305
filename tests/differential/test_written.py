"""Programs of the second generator: they run here, in both modes, and each of its lines is drawn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.differential.sides import _in_order_of_memory
from tests.differential.written import CHOICES, Written


def test_equal_seeds_give_equal_programs() -> None:
    program = Written(5)
    assert program.source() == program.source() == Written(5).source() != Written(6).source()


def test_each_line_is_drawn() -> None:
    text = "\n".join(Written(seed).source() for seed in range(1500))
    names = {line.partition("(")[0] for lines in CHOICES.values() for line in lines if line.startswith(("nn.", "ops."))}
    assert {name for name in names if name not in text} == set()


@pytest.mark.parametrize("seed", [3, pytest.param(8, marks=pytest.mark.long), pytest.param(21, marks=pytest.mark.long)])
def test_programs_run_here(seed: int, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(Written(seed).source())
    command = [sys.executable, "-m", "harness.cli", "run", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_matrix_as_its_memory_lies() -> None:
    matrix = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    assert _in_order_of_memory(matrix, np.ascontiguousarray(matrix.T))
    assert not _in_order_of_memory(matrix, matrix)
    assert not _in_order_of_memory(matrix[0], matrix[0])
