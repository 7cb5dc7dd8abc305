"""The gate fails for the least change, and names exactly that place.

A golden is made in a directory of its own; then one weight, one kernel's result, one operator's name, or one stored
digest changes.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.store import GoldenStore, RunId
from tests.store.helpers import edit_index
from tests.subprocesses import pytest_run

TEST = """
import pytest
from tests.gate.networks import mlp

pytestmark = pytest.mark.msdump


def test_mlp(msdump):
    mlp.play(msdump)
"""
WEIGHT = """
import numpy as np
from harness import Tensor
from tests.gate.networks import mlp

filled = mlp.fill


def fill(network):
    filled(network)
    values = network.fc2.weight.asnumpy().copy()
    values[5, 3] = np.nextafter(values[5, 3], np.float32(2))
    network.fc2.weight.set_data(Tensor(values))
    return network


mlp.fill = fill
"""
KERNEL = """
import numpy as np
from harness.framework.ops.base import OPERATORS

operator = OPERATORS.get("SigmoidGrad")
kernel = operator.kernel


def changed(call, *arrays):
    result = np.array(kernel(call, *arrays), np.float32)
    result[2, 7] = np.nextafter(result[2, 7], np.float32(2))
    return result


operator.kernel = changed
"""
NAME = """
from harness import nn
from tests.gate.networks import mlp

given = mlp.MLP.__init__


def renamed(self, widths):
    given(self, widths)
    self.middle = self.fc2
    del self.fc2


mlp.MLP.__init__ = renamed
mlp.MLP.construct = lambda self, x: self.fc3(self.middle(self.fc1(x)))
"""
STORE = "golden/test_notices/test_mlp.h5"
RUN = "runs/cpu/tensor"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory with one gate test and its golden."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_notices.py").write_text(TEST)
    done = pytest_run(("--msdump-regen",), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert gate(tmp_path).returncode == 0
    return tmp_path


def gate(project: Path) -> subprocess.CompletedProcess[str]:
    return pytest_run(("--msdump",), project)


def failure(project: Path) -> str:
    """The gate's failure text; at most 25 lines and 4 kB."""
    done = gate(project)
    assert done.returncode == 1, done.stdout + done.stderr
    text = done.stdout.split("= FAILURES =", 1)[1].split("= msdump =", 1)[0]
    lines = text.splitlines()[2:-1]
    assert len(lines) <= 40
    assert len("\n".join(lines).encode()) <= 4096
    return text


@pytest.mark.long
def test_one_weight_by_one_ulp(project: Path) -> None:
    (project / "conftest.py").write_text(WEIGHT)
    text = failure(project)
    assert "Default/network-WithLossCell/_backbone-MLP/fc2-Dense/MatMul-op0" in text
    assert "input.1" in text
    assert "(5, 3)" in text or "[5, 3]" in text


@pytest.mark.long
def test_one_value_of_one_kernel(project: Path) -> None:
    (project / "conftest.py").write_text(KERNEL)
    text = failure(project)
    first = next(line for line in text.splitlines() if line.startswith("First divergence"))
    assert "Grad_Sigmoid/SigmoidGrad-op0" in first
    assert "iteration 0" in first
    assert "(2, 7)" in text or "[2, 7]" in text


@pytest.mark.long
def test_one_operators_name(project: Path) -> None:
    (project / "conftest.py").write_text(NAME)
    text = failure(project)
    assert "fc2-Dense/MatMul-op0" in text
    assert "middle-Dense/MatMul-op0" in text


@pytest.mark.long
def test_one_stored_digest(project: Path) -> None:
    run = RunId(*RUN.split("/")[1:])
    with GoldenStore.open(project / STORE) as store:
        keys = store.run(*run).index.keys
    row = next(number for number, key in enumerate(keys) if key.operator.endswith("/Tanh-op0"))
    edit_index(project / STORE, row, "digest", np.frombuffer(bytes(16), "V16")[0], run)
    text = failure(project)
    assert "fc3-Dense/activation-Tanh/Tanh-op0" in text
    assert "its tensor is missing" in text
