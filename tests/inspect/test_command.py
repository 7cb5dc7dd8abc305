"""``msdump inspect`` and ``harness.inspect``: exit codes, text, JSON, rules by name, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import harness
from harness import GRAPH_MODE, Tensor, backends, nn, ops, set_context
from harness.capture import Capture
from harness.cli import main
from harness.errors import SettingError, SettingTypeError
from harness.inspect import RULES, inspect, lines
from harness.store import RunData, RunId, update
from tests.inspect.made import Made

GOLDEN = Path(__file__).parents[2] / "golden" / "tests" / "gate"


def sick() -> Capture:
    """A training on the emulated CPU that takes the logarithm of what a ReLU gives."""

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.relu = nn.Dense(4, 6), nn.ReLU()

        def construct(self, x: Tensor) -> Tensor:
            return ops.log(self.relu(self.inner(x)))

    def program() -> None:
        set_context(mode=GRAPH_MODE)
        net = Net()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
        x = Tensor(np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))
        for _ in range(2):
            step(x, Tensor(np.zeros((5, 6), np.float32)))

    return backends.get("cpu").run(program, network="Net", rootdir=str(Path(__file__).parent))


def test_from_a_store_to_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = sick()
    report = harness.inspect(capture)
    assert [each.kind for each in report.errors][:1] == ["log of zero"]
    update(
        tmp_path / "net.h5", "Net", {RunId("cpu", "tensor"): RunData(capture.records(), artefacts=capture.artefacts)}
    )
    assert main(["inspect", str(tmp_path / "net.h5"), "--json", str(tmp_path / "found.json"), "--annotations"]) == 1
    out = capsys.readouterr().out
    assert "Error, log of zero [nonfinite]: Log makes infinity" in out
    assert "test_command.py:" in out
    assert "proven: the logarithm of 0" in out
    assert "::error file=test_command.py,line=" in out
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["code"] == 1
    assert found["findings"][0]["kind"] == "log of zero"
    assert main(["inspect", str(tmp_path / "net.h5"), "--rules", "nonfinite", "--off", "nonfinite:*Log-op0"]) == 0


@pytest.mark.parametrize("network", ["test_mlp", "test_transformer", "test_half"])
def test_shipped_networks_have_no_error(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(GOLDEN / "test_networks" / f"{network}.h5")
    assert main(["inspect", store, "--run", "cpu/tensor"]) == 0, capsys.readouterr().out


def test_an_injected_fault_is_told_from_statistics_alone(capsys: pytest.CaptureFixture[str]) -> None:
    store = str(GOLDEN / "test_faults" / "test_forward_is_no_number.h5")
    assert main(["inspect", store, "--run", "ascend-o1/overflow"]) == 1
    out = capsys.readouterr().out
    assert "wrong result" in out
    assert "inner-Dense/MatMul-op0" in out
    assert "iteration 1" in out


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    store = str(GOLDEN / "test_networks" / "test_mlp.h5")
    for arguments in (
        [], [str(tmp_path / "none")], [str(tmp_path / "empty")], [store],
        [store, "--run", "cpu/tensor", "--rules", "x"],
        [store, "--run", "cpu/tensor", "--set", "nonfinite.x=1"], [store, "--run", "cpu/tensor", "--set", "x"],
        [store, "--run", "cpu/tensor", "--set", "nonfinite.skipped=much"],
    ):  # fmt: skip
        assert main(["inspect", *arguments]) == 2, arguments
        said = capsys.readouterr()
        assert said.out.count("\n") + said.err.count("\n") <= 2, said


def test_nothing_recorded_cannot_be_told() -> None:
    report = inspect(Made().capture())
    assert report.code == 2
    assert "nothing was recorded" in "\n".join(lines(report))
    with pytest.raises(SettingTypeError, match="got str"):
        inspect("dump")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no rule or group"):
        inspect(Made().capture(), ["no*such"])


def test_every_rule_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name}" in out for name in RULES)
    assert "nonfinite.skipped=4" in out
