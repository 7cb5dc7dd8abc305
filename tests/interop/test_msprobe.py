"""The real msprobe compares what our ``ascend-o2`` leaves in its layout, and reports a perturbed operator."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.framework.runtime.launch import Launch
from tests.differential.side import Side
from tests.dump.msprobe.build import NETWORKS, dump_json, observer, play

pytestmark = pytest.mark.interop

Msprobe = Callable[..., None]

#: network -> an operator of it, and what runs before and after it
PERTURBED = {
    "mlp": "Default/network-WithLossCell/_backbone-MLP/fc2-Dense/MatMul-op0",
    "lenet": "Default/network-WithLossCell/_backbone-LeNet5/conv2-Conv2d/Conv2D-op0",
    "transformer": "Default/network-WithLossCell/_backbone-Encoder/block-EncoderBlock/attention-Attention/"
    "softmax-Softmax/Softmax-op0",
    "control": "Default/Abs-op0",
}  # fmt: skip


@contextmanager
def perturbed(monkeypatch: pytest.MonkeyPatch, operator: str) -> Iterator[list[str]]:
    """Within the block ``operator`` gives other values; the list holds a name for each time it ran."""
    original, ran = Launch.run, []

    def run(self: Launch, *arguments: Any) -> Any:
        results = original(self, *arguments)
        if self.node.name == operator:
            ran.append(operator)
            results = tuple(np.asarray(3 - 7 * result, result.dtype) for result in results)
        return results

    with monkeypatch.context() as patch:
        patch.setattr(Launch, "run", run)
        yield ran


@pytest.fixture(scope="module")
def msprobe(msprobe_python: str, msprobe_side: Side) -> Msprobe:
    """Runs the command ``msprobe`` with these arguments; it must succeed."""
    tool = Path(msprobe_python).with_name("msprobe")

    def run(*arguments: object) -> None:
        with tempfile.TemporaryDirectory() as place:
            msprobe_side.printed(tool, Path(place), *arguments)

    return run


def compare(msprobe: Msprobe, target: Path, golden: Path, out: Path) -> list[dict[str, str]]:
    """Rows of the table that ``msprobe compare`` makes of two steps."""
    out.mkdir()
    msprobe("compare", "-tp", target, "-gp", golden, "-o", out)
    (table,) = out.glob("compare_result*.csv")
    with table.open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def slots(dump: Path) -> set[str]:
    """Every tensor of the first step, as msprobe's table names it."""
    found = set()
    for key, entry in dump_json(dump)["data"].items():
        for field, io in (("input_args", "input"), ("input", "input"), ("output", "output")):
            leaves = enumerate(entry.get(field, ()))
            found |= {f"{key}.{io}.{slot}" for slot, leaf in leaves if leaf is not None}
    return found


@pytest.mark.parametrize("task", ["tensor", "statistics"])
@pytest.mark.parametrize("network", PERTURBED)
def test_compare_reports_the_perturbed_operator(
    network: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, msprobe: Msprobe
) -> None:
    play(network, observer(tmp_path / "golden", task=task))
    with perturbed(monkeypatch, PERTURBED[network]) as ran:
        play(network, observer(tmp_path / "target", task=task))
    assert ran
    rows = compare(msprobe, tmp_path / "target/step0", tmp_path / "golden/step0", tmp_path / "out")
    assert slots(tmp_path / "target") <= {row["NPU Name"] for row in rows}
    first = next(row for row in rows if row["Result"] != "pass")
    stem = PERTURBED[network].replace("/", ".")
    assert first["NPU Name"] == f"Kernel.{stem}.forward.0.output.0"
    assert first["Result"] == "error"


@pytest.mark.parametrize("network", NETWORKS)
def test_a_capture_agrees_with_itself(network: str, tmp_path: Path, msprobe: Msprobe) -> None:
    play(network, observer(tmp_path / "a"), observer(tmp_path / "b"))
    rows = compare(msprobe, tmp_path / "a/step0", tmp_path / "b/step0", tmp_path / "out")
    assert {row["Result"] for row in rows} == {"pass"}
    assert slots(tmp_path / "a") <= {row["NPU Name"] for row in rows}


def test_md5(tmp_path: Path, msprobe: Msprobe, monkeypatch: pytest.MonkeyPatch) -> None:
    section = {"summary_mode": "md5"}
    play("mlp", observer(tmp_path / "golden", task="statistics", section=section))
    with perturbed(monkeypatch, PERTURBED["mlp"]):
        play("mlp", observer(tmp_path / "target", task="statistics", section=section))
    rows = compare(msprobe, tmp_path / "target/step0", tmp_path / "golden/step0", tmp_path / "out")
    first = next(row for row in rows if row["Result"] == "error")
    assert first["NPU Name"] == f"Kernel.{PERTURBED['mlp'].replace('/', '.')}.forward.0.output.0"


def test_the_hierarchy_can_be_drawn(tmp_path: Path, msprobe: Msprobe) -> None:
    play("transformer", observer(tmp_path / "a"))
    (tmp_path / "out").mkdir()
    msprobe("graph_visualize", "-tp", tmp_path / "a/step0/rank", "-o", tmp_path / "out")
    assert list((tmp_path / "out").glob("*.vis.db"))
