"""``msdump run --missing``: unsupported names with file and line, nothing run."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.missing import list_missing, missing_of


def found(text: str) -> list[tuple[int, str]]:
    """Lines, and the first name their message holds."""
    return [(line, told.split(" is a name")[0]) for line, told in missing_of(textwrap.dedent(text).encode())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import mindspore as ms\nms.scipy.linalg.inv", [(2, "mindspore.scipy.linalg.inv")]),
        ("import mindspore.ops as P\nx = P.ormqr\nP.add", [(2, "mindspore.ops.ormqr")]),
        ("from mindspore import ops\nq = ops\nq.ormqr(1)", [(3, "mindspore.ops.ormqr")]),
        ("from mindspore.ops import ormqr as s, add", [(1, "mindspore.ops.ormqr")]),
        (
            "import mindspore\nclass A:\n  def f(self): return mindspore.ops.ormqr",
            [(3, "mindspore.ops.ormqr")],
        ),
        ("def f():\n  return ops.ormqr\nfrom mindspore import ops", [(2, "mindspore.ops.ormqr")]),
        ("from mindspore.ops import *\normqr(add(1, 2))", [(2, "mindspore.ops.ormqr")]),
        ("from mindspore.ops import *\ndef f(ormqr): return ormqr(1)", []),
        ("from mindspore import ops\ndef f(ops): return ops.ormqr", []),
        (
            "from mindspore import ops\nclass A:\n  ops = 3\n  def f(self): return ops.ormqr",
            [(4, "mindspore.ops.ormqr")],
        ),
        ("from mindspore import ops\nclass A:\n  ops = 3\n  x = ops.ormqr", []),
        ("import os\nos.nothing\nimport mindsporelike\nmindsporelike.ops.ormqr", []),
        ("from . import ops\nfrom .mindspore import ormqr\nops.ormqr", []),
        ("from mindspore import Tensor, float32, nn\nnn.Dense(1, 2)", []),
    ],
)
def test_aliases_and_scopes_are_followed(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text) == expected


def test_what_is_no_name_of_mindspore_is_listed_too() -> None:
    (line, told), (_, module) = missing_of(b"from mindspore import nn\nnn.Conv2D\nimport mindspore.nope")
    assert line == 2
    assert "has no attribute 'Conv2D'" in told
    assert "did you mean Conv2d" in told
    assert "nope" in module


def test_old_places_are_followed() -> None:
    assert found("import mindspore.dataset.vision.c_transforms as CV\nCV.Resize") == []
    assert found("from mindspore.dataset.transforms.c_transforms import TypeCast") == []


def test_a_tree_is_listed_and_the_exit_code_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("from mindspore import nn\nnn.Dense")
    (tmp_path / "sub" / "b.py").write_text("import mindspore.ops\n\nmindspore.ops.ormqr\n")
    (tmp_path / "c.txt").write_text("import mindspore.nope")
    assert list_missing([str(tmp_path / "a.py")]) == 0
    assert list_missing([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{tmp_path / 'sub' / 'b.py'}:3: mindspore.ops.ormqr is a name of MindSpore's that is not supported" in out
    assert "1 unsupported name in 1 of 2 files" in out


def test_what_cannot_be_read_is_told_and_the_rest_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("x = = 1")
    (tmp_path / "b.py").write_text("import mindspore.ops\nmindspore.ops.ormqr")
    (tmp_path / "d.py").write_bytes(b"\0")
    assert list_missing([str(tmp_path), str(tmp_path / "no.py")]) == 2
    out, err = capsys.readouterr()
    assert "b.py:2" in out
    assert err.count("msdump: ") == 3
    assert list_missing([str(tmp_path / "sub")]) == 2


@pytest.mark.long
def test_nothing_of_the_script_is_run(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print('ran')\nraise SystemExit(9)")
    command = [sys.executable, "-m", "harness.cli", "run", "--missing", "a.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 unsupported names in 0 of 1 file\n"


@given(st.binary(max_size=60))
def test_any_bytes_are_listed_or_refused(source: bytes) -> None:
    try:
        missing_of(source)
    except (SyntaxError, ValueError):
        return
