"""``msdump audit``: exit codes, limits, errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.store import RunData, RunId, update
from harness.testing.faults.networks import draw
from harness.testing.faults.roads import captured
from tests.store.helpers import record

VALUES = np.linspace(1, 2, 12, dtype=np.float32)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    runs = {
        RunId("cpu", "tensor"): RunData([record(VALUES)], attrs={"emulated": True}),
        RunId("mindspore", "tensor"): RunData([record(VALUES)]),
        RunId("mindspore", "loose"): RunData([record(VALUES * np.float32(1e-7))], attrs={"tolerance": {"atol": 1e-5}}),
        RunId("mindspore", "digest"): RunData([record(VALUES)], level="digest"),
    }
    (tmp_path / "golden").mkdir()
    update(tmp_path / "golden" / "net.h5", "net", runs)
    return tmp_path / "golden"


def test_each_run_is_audited_with_its_own_tolerance(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(golden)]) == DIFFERS
    out = capsys.readouterr().out
    assert "net [cpu/tensor]: 1 slot, the largest change that passes is 0, 0 too loose" in out
    assert "net [mindspore/loose]: 1 slot" in out
    assert "all zero, other sign, twice as large" in out
    last = out.splitlines()[-1]
    assert last.startswith("in all: 3 slots of 4 runs, the largest change that passes is ")
    assert "(net [mindspore/loose], iteration " in last
    assert last.endswith("1 too loose; not audited: 1 slot without values")
    assert main(["audit", str(golden / "net.h5"), "--run", "mindspore/tensor"]) == HOLDS


def test_a_limit(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["audit", str(golden / "net.h5"), "--run", "mindspore/tensor"]
    assert main([*run, "--limit", "1e-4"]) == HOLDS
    assert main([*run, "--limit", "1e-6"]) == DIFFERS
    file = tmp_path / "t.toml"
    file.write_text("[tolerance]\ndefault = 0.01\n")
    assert main([*run, "--limit", "1e-4", "--tolerances", str(file)]) == DIFFERS
    capsys.readouterr()
    assert main([*run, "--all"]) == HOLDS
    assert "Float32" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing.h5"], "no such golden store"),
        (["GOLDEN", "--limit", "-1"], "at least 0"),
        (["GOLDEN", "--limit", "nan"], "at least 0"),
        (["GOLDEN", "--run", "gpu/tensor"], "gpu"),
    ],
)
def test_bad_arguments(arguments: list[str], says: str, golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *(str(golden) if each == "GOLDEN" else each for each in arguments)]) == CANNOT_TELL
    assert says in capsys.readouterr().err


def test_nothing_to_audit(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(golden / "net.h5"), "--run", "mindspore/digest"]) == CANNOT_TELL
    assert "nothing to audit" in capsys.readouterr().out


def test_a_directory_without_goldens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(tmp_path)]) == CANNOT_TELL
    assert "no golden store lies in this directory" in capsys.readouterr().err


def test_which_operators_use_up_a_tolerance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = next(each for each in map(draw, range(50)) if each.family == "cnn")
    for backend in ("cpu", "gpu"):
        captured(network, None, tmp_path / backend, backend)
    about = ["audit", str(tmp_path / "cpu"), "--beside", str(tmp_path / "gpu")]
    assert main([*about, "--json", str(tmp_path / "audit.json")]) == DIFFERS
    lines = capsys.readouterr().out.splitlines()
    assert "of its first step that differs" in lines[0]
    assert lines[2].split()[4].endswith("Conv2D-op0") or "Conv2D" in lines[2]  # TF32 is what the device does there
    told = json.loads((tmp_path / "audit.json").read_text())["budget"]
    assert max(told["shares"], key=lambda each: each["used_alone"])["slot"][3] in lines[2]
    loose = tmp_path / "loose.toml"
    loose.write_text("[tolerance]\ndefault = [0.5, 0.5]\n")
    assert main([*about, "--tolerances", str(loose), "--all"]) == HOLDS
    assert len(capsys.readouterr().out.splitlines()) == len(told["shares"]) + 3
    assert main(["audit", str(tmp_path / "cpu"), "--beside", str(tmp_path / "cpu")]) == HOLDS
    assert "no operator's error is known" in capsys.readouterr().out
