"""Extreme sizes: each works, or ends with one error that names the limit. The cost of each is printed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.backends.dump_tree import sections
from harness.capture import read_tree
from harness.devices import DEVICES
from harness.dump.npy import header
from harness.store import GoldenStore, RunData, Transaction, manifest
from harness.store.verify import verify
from tests.store.helpers import CPU, record

pytestmark = [pytest.mark.faults, pytest.mark.deep]

#: names a file that keeps the figures
KEPT = "MSDUMP_LIMITS"
ROOT = Path(__file__).parents[2]
GIB = 2**30
_MSDUMP = """
import os, sys
from harness.cli import main
code = main(sys.argv[1:])
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(f"{sum(os.times()[:2]):.1f} CPU s, {peak // 1024} MiB", file=sys.stderr)
sys.exit(code)
"""


def note(what: str, seconds: float, mebibytes: int | None = None) -> None:
    """Prints what something took, and keeps it for ``python -m tests.faults.limits``."""
    print(what, f"{seconds:.1f} CPU s", *([f"{mebibytes} MiB"] if mebibytes is not None else []))
    if kept := os.environ.get(KEPT):
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition("::")[2].partition(" ")[0]
        with open(kept, "a", encoding="utf-8") as file:
            file.write(json.dumps([test, what, round(seconds, 1), mebibytes]) + "\n")


def run(command: list[str], cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, as long as it takes."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", "CI": "", **environ}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=3000, check=False)


def msdump(cwd: Path, *arguments: str) -> str:
    """``msdump ARGUMENTS``, which ends with 0; what it printed."""
    done = run([sys.executable, "-c", _MSDUMP, *arguments], cwd)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    took = re.fullmatch(r"([\d.]+) CPU s, (\d+) MiB", done.stderr.splitlines()[-1])
    assert took, done.stderr
    note(f"msdump {arguments[0]}{' --exact' * ('--exact' in arguments)}", float(took[1]), int(took[2]))
    return done.stdout


def gate(cwd: Path, *arguments: str) -> str:
    """``pytest ARGUMENTS``, which passes."""
    before = sum(os.times()[2:4])
    done = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    note(f"pytest {arguments[0]}", sum(os.times()[2:4]) - before)
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where there is room, and many files are quick."""
    return tmp_path


def test_ten_thousand_goldens_in_one_directory(folder: Path) -> None:
    golden, count = folder / "golden", 10_000
    for value in (1.0, 2.0):
        before = sum(os.times()[:2])
        with Transaction(golden) as change:
            for number in range(count):
                data = RunData([record(np.float32([number, value]))])
                change.update(f"test_it/test_n@{number}.h5", f"test_it.py::test_n[{number}]", {CPU: data})
            assert len(change.commit()) == count
        note(
            "all goldens changed, committed once" if value > 1 else "all goldens written", sum(os.times()[:2]) - before
        )
    assert not list(golden.rglob(".*"))
    found = verify(golden)
    assert (found.problems, found.stores) == ([], count)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(
        "import numpy as np, pytest\n"
        f'@pytest.mark.msdump\n@pytest.mark.parametrize("n", range({count}))\n'
        'def test_n(msdump, n):\n    msdump.check("row", np.float32([n, 2.0]))\n'
    )
    gate(folder, "--msdump-regen")
    assert f"{count} passed" in gate(folder, "--msdump")


def test_a_hundred_thousand_files(folder: Path) -> None:
    tree, values, count = folder / "tree", np.zeros(4, np.float32), 100_000
    for number in range(count):
        directory = tree / "rank_0" / "Net" / "0" / str(number // 10_000)
        if number % 10_000 == 0:
            directory.mkdir(parents=True)
        operator = number // 3 % 3333
        name = f"MatMul.Default_layer{operator}-Dense_MatMul-op{operator}.0.0"
        values[0] = number
        path = directory / f"{name}.{1_700_000_000_000_000 + number}.output.{number % 3}.DefaultFormat.Float32.npy"
        path.write_bytes(header("<f4", values.shape) + values.tobytes())
    msdump(folder, "import", "tree", "x.h5")
    with GoldenStore.open(folder / "x.h5") as store:
        assert len(store.run(*store.runs()[0])) == count
    msdump(folder, "check", "tree", "x.h5", "--exact")
    msdump(folder, "diff", "tree", "x.h5")


def test_a_million_slots(folder: Path) -> None:
    """Ten iterations of a hundred thousand rows of statistics."""
    head = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value\n"
    for iteration in range(10):
        directory = folder / "tree" / "rank_0" / "Net" / "0" / str(iteration)
        directory.mkdir(parents=True)
        rows = (
            f'MatMul,Default_MatMul-op{n},0,0,{1_700_000_000_000_000 + n},output,0,16,Float32,"(4,)",{n},0\n'
            for n in range(100_000)
        )
        (directory / "statistic.csv").write_text(head + "".join(rows))
    msdump(folder, "import", "tree", "x.h5")
    with GoldenStore.open(folder / "x.h5") as store:
        assert len(store.run(*store.runs()[0])) == 1_000_000
    msdump(folder, "check", "tree", "x.h5", "--exact")


def test_a_tensor_of_three_gigabytes(folder: Path) -> None:
    if shutil.disk_usage(folder).free < 12 * GIB:
        pytest.skip("needs 12 GiB of disk")
    elements = 3 * GIB // 4
    directory = folder / "tree" / "rank_0" / "Net" / "0" / "0"
    directory.mkdir(parents=True)
    path = directory / "MatMul.Default_MatMul-op0.0.0.1700000000000000.output.0.DefaultFormat.Float32.npy"
    path.write_bytes(header("<f4", (elements,)))
    size = path.stat().st_size
    os.truncate(path, size + 3 * GIB)
    with open(path, "r+b") as file:
        file.seek(size + 2 * GIB + 4)
        file.write(np.float32(7).tobytes())
    msdump(folder, "import", "tree", "x.h5")
    msdump(folder, "check", "tree", "x.h5", "--exact")
    at = 2 * GIB // 4
    shown = msdump(folder, "show", "x.h5", "--slot", "output.0", "--slice", f"{at}:{at + 3}")
    assert "[0. 7. 0.]" in shown


LAYERS = """
import numpy as np, pytest
from harness import Tensor, nn

@pytest.mark.msdump
def test_deep(msdump):
    net = nn.SequentialCell([nn.Dense(2, 2) for _ in range(2000)])
    msdump.run(net, Tensor(np.ones((1, 2), np.float32)))
"""
NESTED = """
import sys
import numpy as np, pytest
from harness import Tensor, nn

class Around(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)

@pytest.mark.msdump
def test_nested(msdump):
    {more}
    net = nn.ReLU()
    for _ in range(1000):
        net = Around(net)
    msdump.run(net, Tensor(np.ones((1, 2), np.float32)))
"""


def project(folder: Path, text: str) -> Path:
    """A directory of tests."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(text)
    return folder


def test_two_thousand_layers_in_sequence(folder: Path) -> None:
    project(folder, LAYERS)
    gate(folder, "--msdump-regen")
    assert "1 passed" in gate(folder, "--msdump")


def test_a_thousand_nested_cells(folder: Path) -> None:
    """An error that names the limit, and what it says to do makes it run."""
    project(folder, NESTED.format(more="pass"))
    done = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--msdump-regen"], folder)
    assert done.returncode == 1
    said = re.search(r"^NestingError: .*1000 cells lie .*sys.setrecursionlimit\((\d+)\)", done.stdout, re.MULTILINE)
    assert said, done.stdout
    project(folder, NESTED.format(more=f"sys.setrecursionlimit({said[1]})"))
    gate(folder, "--msdump-regen")
    assert "1 passed" in gate(folder, "--msdump")


LONG = "n" * 300
NAMED = f"""
import numpy as np, pytest
from harness import Tensor, nn

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.{LONG} = nn.Dense(2, 2)

    def construct(self, x):
        return self.{LONG}(x)

@pytest.mark.msdump
@pytest.mark.parametrize("value", ["{LONG}a", "{LONG}b"])
def test_{LONG}(msdump, value):
    msdump.run(Net(), Tensor(np.ones((1, 2), np.float32) * len(value) + (value[-1] == "b")))
"""


DUMPS = f"""
{NAMED.partition("@pytest")[0]}
from harness import context
context.set_context(mode=context.GRAPH_MODE)
Net()(Tensor(np.ones((1, 2), np.float32)))
"""


@pytest.mark.parametrize("backend", ["cpu", "gpu", "ascend-o2"])
def test_names_of_three_hundred_characters(folder: Path, backend: str) -> None:
    """Of a test, a parameter and a cell: goldens, and what a script dumps, imports and checks."""
    project(folder, NAMED)
    gate(folder, "--msdump-regen", f"--msdump-backend={backend}")
    assert "2 passed" in gate(folder, "--msdump", f"--msdump-backend={backend}")
    assert len(manifest.store_paths(folder / "golden")) == 2
    config = sections(str(folder / "tree"), DEVICES.get(backend))
    (folder / "dump.json").write_text(json.dumps(config))
    (folder / "script.py").write_text(DUMPS)
    msdump(folder, "run", "--backend", backend, "--config", "dump.json", "script.py")
    found = [each.key.operator for each in read_tree(folder / "tree").records()]
    assert any(LONG in name for name in found), found
    msdump(folder, "import", "tree", "x.h5")
    msdump(folder, "check", "tree", "x.h5", "--exact")
