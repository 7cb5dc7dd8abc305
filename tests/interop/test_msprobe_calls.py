"""``PrecisionDebugger`` at levels L0, L1 and mix, beside the real msprobe on the real MindSpore in PyNative mode."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop.test_msprobe import Msprobe, compare, msprobe

__all__ = ["msprobe"]

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent
#: calls that read a shape: a layer of the real package makes them, and they compute nothing
SHAPES = ("Primitive.shape_op.", "Functional.shape.", "Functional.rank.")


def run(where: Path, *command: object) -> str:
    where.mkdir()
    script = shutil.copy(HERE / "msprobe_calls.py", where / "script.py")
    full = [str(part) if part != "SCRIPT" else str(script) for part in command]
    done = subprocess.run(full, cwd=where, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ours(where: Path, *arguments: str) -> str:
    return run(where, sys.executable, "-m", "harness.cli", "run", "SCRIPT", *arguments)


def step(where: Path, level: str, number: int) -> Path:
    (found,) = (where / f"dump_{level}" / f"step{number}").iterdir()
    return found


def loaded(where: Path, name: str) -> Any:
    return json.loads((where / name).read_text(encoding="utf-8"))


def without_shapes(entries: Any) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if not key.startswith(SHAPES)}


def assert_alike(ours: Any, real: Any, where: str) -> None:
    """The same structure, texts and numbers; floating-point numbers to their rounding."""
    assert type(ours) is type(real) or {type(ours), type(real)} <= {int, float}, where
    if isinstance(real, dict):
        assert set(ours) == set(real), where
        for key, value in real.items():
            assert_alike(ours[key], value, f"{where}/{key}")
    elif isinstance(real, list):
        assert len(ours) == len(real), where
        for at, value in enumerate(real):
            assert_alike(ours[at], value, f"{where}/{at}")
    elif isinstance(real, float):
        assert np.isclose(ours, real, rtol=1e-4, atol=1e-5), (where, ours, real)
    else:
        assert ours == real, where


@pytest.mark.parametrize(("level", "task"), [("L0", "tensor"), ("L1", "tensor"), ("mix", "statistics")])
def test_the_dump_is_that_of_the_real_one(
    level: str, task: str, tmp_path: Path, msprobe_python: str, msprobe: Msprobe
) -> None:
    said = ours(tmp_path / "ours", level, task)
    real = run(tmp_path / "real", msprobe_python, HERE / "msprobe_real.py", "SCRIPT", level, task)
    assert [line for line in real.splitlines() if line.replace(".", "").isdigit()] == said.split()
    for number in (0, 2):
        mine, theirs = step(tmp_path / "ours", level, number), step(tmp_path / "real", level, number)
        expected = without_shapes(loaded(theirs, "dump.json")["data"])
        assert_alike(loaded(mine, "dump.json")["data"], expected, "")
        assert loaded(mine, "construct.json") == without_shapes(loaded(theirs, "construct.json"))
        names = [sorted(n for entry, _ in loaded(at, "stack.json").values() for n in entry) for at in (mine, theirs)]
        assert names[0] == sorted(without_shapes(dict.fromkeys(names[1])))
        rows = compare(msprobe, mine.parent, theirs.parent, tmp_path / f"out{number}")
        assert rows
        assert {row["Result"] for row in rows} <= {"pass", "warning"}
    assert not (tmp_path / "ours" / f"dump_{level}" / "step1").exists()


def moved(row: dict[str, str]) -> bool:
    try:
        return float(row["MaxAbsErr"]) > 0
    except ValueError:  # what is no tensor has no error
        return False


def test_compare_shows_the_first_call_that_differs(tmp_path: Path, msprobe: Msprobe) -> None:
    ours(tmp_path / "a", "mix", "tensor")
    ours(tmp_path / "b", "mix", "tensor", "-3")
    at = [step(tmp_path / name, "mix", 0).parent for name in ("b", "a")]
    rows = compare(msprobe, *at, tmp_path / "out")
    first = next(row["NPU Name"] for row in rows if moved(row))
    assert first == "Primitive.matmul.MatMul.1.forward.input.1"
