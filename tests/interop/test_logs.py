"""Logs that the real tools write: what PyTorch's DebugMode prints, and Polygraphy's JSON, value for value."""

from __future__ import annotations

import json
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


def written(python: str, kind: str, folder: Path, round_: int, *more: str) -> int:
    seed = random.SystemRandom().randrange(2**32) if FRESH else round_
    subprocess.run([python, str(PROGRAM), kind, str(folder), str(seed), *more], check=True, capture_output=True)
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


#: How DebugMode is asked, and what it hashes.
_ASKED: tuple[dict[str, object], ...] = (
    {"record_nn_module": True, "record_ids": True, "hash_fn": ["norm"]},
    {"record_torchfunction": True, "record_stack_trace": True, "hash_fn": "hash_tensor"},
    {"record_nn_module": True, "record_output": False, "hash_fn": "norm"},
    {},
)
#: A change of the model, and the operator where the logs part.
_CHANGED = {
    "slope": "leaky_relu", "dim": "softmax", "scale": "mul", "skip": "layer_norm", "extra": "clone", "act": "gelu",
}  # fmt: skip


@pytest.mark.parametrize("asked", _ASKED, ids=["norms", "functions", "no-outputs", "no-hashes"])
def test_numbers_calls_and_values_of_debug_mode(
    asked: dict[str, object], tmp_path: Path, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = written(torch_python, "changed", tmp_path, 4, json.dumps(asked))
    good = str(tmp_path / "none.log")
    assert main(["diff", good, str(tmp_path / "same.log")]) == (0 if asked else 2), (seed, capsys.readouterr())
    for change, operator in _CHANGED.items():
        capsys.readouterr()
        assert main(["diff", good, str(tmp_path / f"{change}.log")]) == 1, (seed, change)
        said = capsys.readouterr().out
        first = next(line for line in said.splitlines() if line.startswith("First divergence"))
        assert operator in first, (seed, change, said)


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
