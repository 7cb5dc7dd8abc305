"""Memory plans of shipped networks beside those the real MindSpore 2.10.0 makes of them now."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from harness.memory import parse, plan
from harness.memory.plan import prepared
from harness.memory.solver import all_solutions
from tests.data.memory.make import totals
from tests.framework.compile.build import compiled
from tests.gate.networks.recorder import Recorder

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("network", ["mlp", "lenet", "residual"])
def test_tensors_blocks_totals_and_solutions(network: str, tmp_path: Path, mindspore_python: str) -> None:
    solutions = totals(mindspore_python, network, tmp_path / "real")
    real = parse((tmp_path / "real" / "CPU_somas_tensor_offset_0.ir").read_text())
    with compiled() as graphs:
        importlib.import_module(f"tests.gate.networks.{network}").play(Recorder())
    own = plan(graphs[0])
    assert own.state.tensors == real.tensors
    assert (own.state.unions, own.merged, own.total) == (real.unions, real.merged, real.total)
    blocks, shares, _ = prepared(own.state)
    shared, single = all_solutions(blocks, shares)
    assert [solution.total for solution in shared + single] == solutions
