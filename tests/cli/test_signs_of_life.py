"""Long commands show their progress on a terminal, and nothing elsewhere."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.progress import Progress
from harness.store import RunId, manifest, update
from tests.store.helpers import CPU, run_data

OTHER = RunId("gpu", "tensor")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one store of two runs; bars show at once."""
    monkeypatch.setitem(Progress.__init__.__kwdefaults__, "after", 0.0)
    monkeypatch.setattr("harness.progress._EVERY", 0.0)
    monkeypatch.setenv("COLUMNS", "100")
    update(tmp_path / "a.h5", "a", {CPU: run_data(), OTHER: run_data()})
    manifest.rebuild(tmp_path)
    return tmp_path


COMMANDS = {
    "diff": ("diff {0}/a.h5::cpu/tensor {0}/a.h5::gpu/tensor", "iteration 0"),
    "audit": ("audit {0}", "a gpu/tensor: "),
    "verify": ("verify {0}", "a cpu/tensor: "),
    "learn": ("learn {0}/a.h5 --run cpu/tensor --dry-run {0}/a.h5::gpu/tensor {0}/a.h5::gpu/tensor", "iteration 0"),
}


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_bar_on_a_terminal_only(
    golden: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command, wanted = COMMANDS[name]
    words = shlex.split(command.format(golden))
    code = main(words)
    plain = capsys.readouterr()
    assert plain.err == ""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(words) == code
    assert wanted in terminal.getvalue()
    assert capsys.readouterr().out == plain.out
    assert terminal.getvalue().endswith("\x1b[2K")  # and it is gone again
