"""Checkpoints are exchanged with the real MindSpore 2.10.0, both ways, and have its names, sizes and contents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.differential.side import Side
from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("checkpoints.py")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, both: tuple[Side, Side]) -> dict[str, Path]:
    """What each side wrote."""
    out = {name: tmp_path_factory.mktemp(name) for name in ("own", "real")}
    for side, folder in zip(both, out.values(), strict=True):
        side.printed(SCRIPT, tmp_path_factory.mktemp("write"), "write", folder, PYTHONPATH=str(ROOT))
    return out


def told(side: Side, folder: Path, out: Path) -> dict[str, Any]:
    """What a side reads in ``folder``."""
    found: dict[str, Any] = json.loads(side.printed(SCRIPT, out, "read", folder, PYTHONPATH=str(ROOT)).splitlines()[-1])
    return found


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
def test_each_side_reads_what_the_other_wrote(
    writer: str, files: dict[str, Path], both: tuple[Side, Side], tmp_path: Path
) -> None:
    ours, theirs = (told(side, files[writer], tmp_path) for side in both)
    assert ours == theirs
    assert ours["all.ckpt"]["text"] == "naïve text"


def test_values_agree(files: dict[str, Path], own_side: Side, tmp_path: Path) -> None:
    found = [told(own_side, files[side], tmp_path) for side in ("own", "real")]
    compared = 0
    for name, (_, missing, (_, _, value)) in ((key, row) for key, row in found[0].items() if "/" in key):
        assert not missing
        np.testing.assert_allclose(value, found[1][name][2][2], rtol=1e-5, atol=1e-6)
        compared += 1
    assert compared > 20
