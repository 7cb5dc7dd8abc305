"""The repositories below ``examples/``, and a mistake for each."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.subprocesses import ROOT

EXAMPLES = ROOT / "examples"
#: repository -> file, what stands in it, what somebody writes by mistake
FAULTS = {
    "mindspore-style": ("net.py", "nn.LayerNorm((8,))", "nn.LayerNorm((8,), epsilon=1e-3)"),
    "pytorch": ("net.py", "torch.relu", "torch.tanh"),
    "numpy": ("orbit.py", "1 - eccentricity**2", "1 - eccentricity"),
}

Run = Callable[[Sequence[str], Path], subprocess.CompletedProcess[str]]


def holds_and_sees_a_fault(name: str, home: Path, run: Run) -> None:
    """Copies a repository to ``home``: its gate holds there, fails after the mistake, and names a first divergence.

    ``run`` runs pytest with arguments in a directory.
    """
    shutil.copytree(EXAMPLES / name, home, ignore=shutil.ignore_patterns("__pycache__", ".msdump", ".pytest_cache"))
    done = run(("--msdump", "-p", "no:cacheprovider"), home)
    assert done.returncode == 0, done.stdout + done.stderr
    file, right, wrong = FAULTS[name]
    text = (home / file).read_text(encoding="utf-8")
    assert right in text
    (home / file).write_text(text.replace(right, wrong), encoding="utf-8")
    done = run(("--msdump", "-p", "no:cacheprovider"), home)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "First divergence" in done.stdout
