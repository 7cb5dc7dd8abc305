"""Logs that the real tools write: what PyTorch's DebugMode prints, and Polygraphy's JSON, value for value."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.capture import read_tree
from harness.cli import main
from tests.examples import FRESH
from tests.interop.conftest import oracle_python

pytestmark = pytest.mark.interop
PROGRAM = Path(__file__).with_name("logs_real.py")


def written(python: str, kind: str, folder: Path, round_: int) -> int:
    seed = random.SystemRandom().randrange(2**32) if FRESH else round_
    subprocess.run([python, str(PROGRAM), kind, str(folder), str(seed)], check=True, capture_output=True)
    return seed


def test_a_log_of_debug_mode_names_where_runs_part(
    tmp_path: Path, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = written(torch_python, "debug-mode", tmp_path, 3)
    good, same, bad = (str(tmp_path / f"{name}.log") for name in ("good", "same", "bad"))
    assert main(["diff", good, same]) == 0, seed
    capsys.readouterr()
    assert main(["diff", good, bad]) == 1, seed
    said = capsys.readouterr().out
    assert "First divergence: iteration 0, Sequential.0/aten::t, output.0 torch.float32[4, 3]" in said, (seed, said)
    records = list(read_tree(good).records())
    linear = [r for r in records if r.key.operator == "Sequential.0/aten::addmm"]
    assert [(r.key.io, r.shape) for r in linear] == [
        ("input", (3,)), ("input", (2, 4)), ("input", (4, 3)), ("output", (2, 3)),
    ]  # fmt: skip
    assert all(set(r.extra.row) == {"l1 norm", "xor of bits"} for r in linear)


@pytest.mark.parametrize("round_", range(2))
def test_values_of_polygraphy_are_those_that_it_saved(round_: int, tmp_path: Path) -> None:
    seed = written(oracle_python("polygraphy"), "polygraphy", tmp_path, round_)
    records = list(read_tree(str(tmp_path / "outputs.json")).records())
    assert len(records) == 2 * 2 * 8, seed
    for record in records:
        key, found = record.key, record.load()
        wanted = np.load(tmp_path / f"{key.graph}-{key.iteration}-{key.operator}.npy")
        assert found is not None
        looks = (found.dtype, found.shape, found.tobytes())
        assert looks == (wanted.dtype, wanted.shape, wanted.tobytes("C")), (seed, key)
    assert main(["convert", str(tmp_path / "outputs.json"), str(tmp_path / "written.json")]) == 0
    written(oracle_python("polygraphy"), "check", tmp_path, seed)
