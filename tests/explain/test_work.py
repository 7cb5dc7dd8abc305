"""What an explanation may compute is counted, so that a busy machine finds what an idle one does."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness.explain
from harness.explain.replay import Setting
from harness.explain.statements import Statement
from harness.explain.work import CALL, Work, of_setting

ROOT = Path(harness.explain.__file__).parent
#: how long an explanation took is said, and decides nothing
TOLD = {"build.py"}


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT)))
def test_no_explanation_asks_the_clock(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "time" not in imported or file.name in TOLD


@given(st.integers(1, 1000), st.lists(st.integers(1, 300), max_size=40))
def test_work_ends_once_it_is_spent(most: int, asked: list[int]) -> None:
    work = Work(most)
    admitted = [each for each in asked if work.admits(each)]
    assert admitted == asked[: len(admitted)]
    assert sum(admitted[:-1]) < most
    assert len(admitted) == len(asked) or sum(admitted) >= most


def counted(op: str, *shapes: tuple[int, ...]) -> int:
    values = {slot: np.zeros(shape, np.float32) for slot, shape in enumerate(shapes)}
    return of_setting(Setting(Statement("a", op, (), {}), values, {}))


def test_products_of_matrices_count_more_than_sums() -> None:
    shapes = (512, 512), (512, 512)
    assert counted("Add", *shapes) == CALL + 2 * 512**2
    assert counted("MatMul", *shapes) - counted("Add", *shapes) == 512**3 // 16
    assert counted("aten.mm", *shapes) == counted("MatMul", *shapes)
    assert counted("Exp") == CALL
