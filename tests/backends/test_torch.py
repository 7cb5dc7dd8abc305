"""The backend torch: what it supports, what it reports about itself, and its message without PyTorch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from harness.backends import get
from harness.errors import SettingError, UnsupportedError
from harness.framework.engines import available
from tests.subprocesses import ROOT


@pytest.fixture(autouse=True)
def _looked_for_anew() -> None:
    available.torch_missing.cache_clear()


def test_it_is_real_and_has_the_modes_of_a_capture() -> None:
    backend = get("torch")
    assert not backend.emulated
    assert backend.compiles
    assert backend.modes == ("tensor", "statistic", "full")


def test_missing_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available, "find_spec", lambda name: None)
    why = get("torch").available()
    assert why == "PyTorch is not installed; get it with: pip install 'pytest-msdump[torch]'"


def test_no_cuda_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available, "find_spec", lambda name: object())
    monkeypatch.setattr(available, "DRIVER", (str(Path(__file__) / "none"),))
    monkeypatch.setenv("MSDUMP_TORCH_DEVICE", "cuda")
    assert get("torch").available() == "there is no CUDA device here (no NVIDIA driver shows itself)"


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cpu:1", "CUDA"])
def test_a_device_there_is_none_of(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_TORCH_DEVICE", name)
    with pytest.raises(SettingError, match="MSDUMP_TORCH_DEVICE: cpu, cuda or cuda:N is accepted"):
        get("torch").available()


def test_asking_whether_it_is_there_does_not_import_it() -> None:
    code = "import sys; from harness.backends import get; get('torch').available(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
def test_a_script_cannot_run_on_it_without(tmp_path: Path) -> None:
    from harness.backends import stand_in

    with pytest.raises(UnsupportedError, match="backend torch cannot run a script here: PyTorch is not installed"):
        stand_in("torch")
