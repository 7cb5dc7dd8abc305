"""``msdump audit``: exit codes, limits, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.store import RunData, RunId, update
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
