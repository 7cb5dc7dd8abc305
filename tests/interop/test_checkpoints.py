"""Checkpoints are exchanged with the real MindSpore 2.10.0, both ways, and have its names, sizes and contents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("checkpoints.py")


def run(command: list[str], *arguments: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GLOG_v": "4"}
    done = subprocess.run(
        [*command, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


OWN = [sys.executable, "-m", "harness.cli", "run"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, mindspore_python: str) -> dict[str, Path]:
    """What each side wrote."""
    out = {side: tmp_path_factory.mktemp(side) for side in ("own", "real")}
    run(OWN, "write", out["own"])
    run([mindspore_python], "write", out["real"])
    return out


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and mode of every file; the graph's size is each side's own."""
    return {
        path.relative_to(folder).as_posix(): (0 if path.suffix == ".meta" else path.stat().st_size, path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_files_are_left(files: dict[str, Path]) -> None:
    assert listing(files["own"]) == listing(files["real"])
    assert len(listing(files["own"])) > 20


def test_files_without_computed_values_are_byte_for_byte_the_same(files: dict[str, Path]) -> None:
    for name in ("all.ckpt", "all.safetensors"):
        assert (files["own"] / name).read_bytes() == (files["real"] / name).read_bytes()


@pytest.mark.parametrize("writer", ["own", "real"])
def test_each_side_reads_what_the_other_wrote(writer: str, files: dict[str, Path], mindspore_python: str) -> None:
    ours: dict[str, Any] = json.loads(run(OWN, "read", files[writer]).splitlines()[-1])
    theirs: dict[str, Any] = json.loads(run([mindspore_python], "read", files[writer]).splitlines()[-1])
    assert ours == theirs
    assert ours["all.ckpt"]["text"] == "naïve text"


def test_values_agree(files: dict[str, Path]) -> None:
    found = [json.loads(run(OWN, "read", files[side]).splitlines()[-1]) for side in ("own", "real")]
    compared = 0
    for name, (_, missing, (_, _, value)) in ((key, row) for key, row in found[0].items() if "/" in key):
        assert not missing
        np.testing.assert_allclose(value, found[1][name][2][2], rtol=1e-5, atol=1e-6)
        compared += 1
    assert compared > 20
