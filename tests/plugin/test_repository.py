"""A repository of a few files, none of ours: arrays, PyTorch modules and a network of MindSpore's in one gate, from the
first golden to the last one's end. Each command runs in a process of its own, as at a desk."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.conftest import INSTALLED, PLUGIN
from tests.subprocesses import ROOT

pytest.importorskip("torch")

FILES = {
    "pytest.ini": "[pytest]\ntestpaths = tests\nmsdump_golden = expected\n",
    "src/signal_tools.py": """
import os
import numpy as np

def spectrum(samples, window):
    gain = 1.5 if os.environ.get("FAULT") in ("arrays", "all") else 1.0
    return {"power": gain * np.abs(np.fft.rfft(samples * window)) ** 2, "peak": int(np.argmax(samples))}
""",
    "tests/test_signal.py": """
import sys
from pathlib import Path
import numpy as np
import pytest
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
from signal_tools import spectrum

@pytest.mark.parametrize("length", [16, 64])
def test_spectrum(msdump, length):
    samples = np.sin(np.arange(length) / 3.0)
    msdump.check("spectrum", spectrum(samples, np.hanning(length)))
""",
    "tests/test_vision.py": """
import os
import pytest
import torch
from torch import nn

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.blocks = nn.ModuleList([nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 8, 3, stride=2)])
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(x.mean((2, 3)))

@pytest.mark.msdump(backends="torch")
def test_training(msdump):
    network = Small()
    momentum = 0.8 if os.environ.get("FAULT") in ("cnn", "all") else 0.9
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=momentum)
    batches = [(torch.randn(4, 3, 12, 12), torch.randint(5, (4,))) for _ in range(2)]
    msdump.train(network, nn.CrossEntropyLoss(), optimizer, batches)
""",
    "tests/test_language.py": """
import math, os
import pytest
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        root = 1.0 if os.environ.get("FAULT") in ("transformer", "all") else math.sqrt(q.shape[-1])
        mixed = torch.softmax(q @ k.transpose(-1, -2) / root, -1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.after(x))))

@pytest.mark.msdump(backends="torch")
def test_block(msdump):
    msdump.run(Block().eval(), torch.randn(2, 5, 8))
""",
    "tests/test_mind.py": """
import os
import numpy as np
from harness import nn, ops

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 3)
        self.norm = nn.LayerNorm((3,))

    def construct(self, x):
        y = self.norm(self.fc(x))
        return ops.tanh(y) if os.environ.get("FAULT") != "all" else ops.sigmoid(y)

def test_net(msdump):
    msdump.run(Net(), np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6), steps=2)
""",
}
#: the test a fault is in, and what the gate has to name
FAULTS = (
    ("tests/test_signal.py::test_spectrum", r"First divergence: iteration 0, check/spectrum\.power"),
    ("tests/test_vision.py::test_training", r"momentum\)? 0\.9 -> 0\.8|First divergence: iteration 1, .*optimizer-SGD"),
    ("tests/test_language.py::test_block", r"First divergence: .*div.* \(tests/test_language\.py:\d+\)"),
    ("tests/test_mind.py::test_net", r"Tanh|Sigmoid"),
)


class Repository:
    """The repository, and commands run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        kept = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS", "FAULT")}
        self._environment = {**kept, "PYTHONPATH": str(ROOT), "PYTEST_PLUGINS": "" if INSTALLED else PLUGIN}

    def run(self, module: str, *arguments: str, code: int = 0, fault: str = "", answers: str = "") -> str:
        """Standard output and error of ``python -m MODULE ARGUMENTS``, which has to end with ``code``."""
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments], cwd=self.root, env={**self._environment, "FAULT": fault},
            input=answers, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == code, (arguments, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def gate(self, *arguments: str, code: int = 0, fault: str = "") -> str:
        return self.run("pytest", "--msdump", "-p", "no:cacheprovider", *arguments, code=code, fault=fault)

    def msdump(self, *arguments: str, code: int = 0, fault: str = "", answers: str = "") -> str:
        return self.run("harness.cli", *arguments, code=code, fault=fault, answers=answers)

    def goldens(self) -> dict[str, bytes]:
        folder = self.root / "expected"
        return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The repository with its goldens made."""
    made = Repository(tmp_path_factory.mktemp("repository"))
    made.msdump("regen")
    assert len([name for name in made.goldens() if name.endswith(".h5")]) == 5
    return made


def test_the_same_bytes_from_several_processes(repository: Repository) -> None:
    pytest.importorskip("xdist")
    before = repository.goldens()
    assert "5 passed" in repository.gate("-n", "2")
    assert repository.goldens() == before
    for path in (repository.root / "expected").rglob("*.h5"):
        path.unlink()
    repository.msdump("regen", "-n", "2")
    assert repository.goldens() == before


def test_each_fault_is_named(repository: Repository) -> None:
    text = repository.gate(fault="all", code=1)
    failed = set(re.findall(r"^FAILED ([^[]+)\[", text, re.MULTILINE))
    assert failed == {test for test, _ in FAULTS}
    told = text.partition("= FAILURES")[2].partition("= msdump")[0]
    blocks = re.split(r"^_+ (\w+)\[\S+\] _+$", told, flags=re.MULTILINE)
    named = dict(zip(blocks[1::2], blocks[2::2], strict=True))
    for test, wanted in FAULTS:
        assert re.search(wanted, named[test.partition("::")[2]]), told


def test_what_changed_is_reviewed_and_taken_over(repository: Repository) -> None:
    before = repository.goldens()
    repository.gate(fault="arrays", code=1)
    listed = repository.msdump("review", "--list", "--golden=expected", code=1)
    assert len(re.findall(r"moved first: iteration 0, check/spectrum\.power", listed)) == 2
    repository.msdump("review", "--golden=expected", answers="y\nn\n")
    assert "1 failed, 4 passed" in repository.gate(fault="arrays", code=1)
    (bundle,) = (repository.root / ".msdump" / "candidates").iterdir()
    repository.msdump("accept", str(bundle), "--golden=expected", "--only", "test_spectrum")
    repository.gate(fault="arrays")
    repository.msdump("regen", "tests/test_signal.py")
    changed = {name for name, text in repository.goldens().items() if before.get(name) != text}
    assert not {name for name in changed if name.endswith(".h5")}


def test_what_nobody_owns_is_removed(repository: Repository) -> None:
    path = repository.root / "tests" / "test_signal.py"
    text = path.read_text()
    path.write_text(text.replace("[16, 64]", "[16]"))
    try:
        (command,) = re.findall(r"until `msdump (prune.*)` has removed them", repository.gate(code=1))
        assert "removed: tests/test_signal/test_spectrum@64.h5" in repository.msdump(*shlex.split(command))
        assert "4 passed" in repository.gate()
    finally:
        path.write_text(text)
        repository.msdump("regen", "tests/test_signal.py")


def test_what_rotted_is_named(repository: Repository) -> None:
    repository.msdump("verify", "expected")
    path = repository.root / "expected" / "tests" / "test_mind" / "test_net.h5"
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[: len(whole) // 2])
        assert str(path.relative_to(repository.root)) in repository.msdump("verify", "expected", code=1)
        assert "cannot be checked" in repository.gate(code=1)
    finally:
        path.write_bytes(whole)
    repository.msdump("verify", "expected")
