"""A dump that is killed, or whose disk is full: every file there is whole."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.capture.statistic_rows import Row, rows
from harness.dump import DumpObserver, parse
from tests.dump.build import NPY, config_text, npy_files, one_op, tensor
from tests.faults.steps import AFTER, BEFORE, run

pytestmark = pytest.mark.faults

KILLS = 8
LONG_NAME = 250

SCRIPT = """
import sys
from pathlib import Path
from tests.faults.test_dump_kill import dump_for_ever
print("ready", flush=True)
dump_for_ever(Path(sys.argv[1]), "cpu")
"""


def dump_for_ever(tree: Path, device: str) -> None:
    """Two networks in turn; one has names too long for a file."""
    full = {"saved_data": "full", "statistic_category": ["count", "md5"]} if device == "gpu" else {}
    observer = DumpObserver(parse(config_text(tree, **full), device))
    arrays = [tensor(dtypes.float32, (64, 1024 * k + 1)) for k in range(4)]
    long = "Default/" + "n" * LONG_NAME + "/Add-op0"
    nets = [one_op("Default/Add-op0", arrays), one_op(long, arrays, graph_id=1)]
    for net in nets:
        observer.graph_declared(net.graph)
    for net in itertools.cycle(nets):
        net.run(observer)


def start(tree: Path, **extra: object) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tree)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **extra,
    )  # type: ignore[call-overload]
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n", child.stderr.read() if child.stderr else ""
    return child


def check_whole(tree: Path) -> int:
    """Loads every tensor; every other name is one the dump gives."""
    loaded = 0
    for path in npy_files(tree):
        array = np.load(path, allow_pickle=False)
        assert np.array_equal(array.reshape(-1), np.arange(array.size) % 100)
        assert path.stat().st_mode & 0o777 == 0o400
        assert NPY.match(path.name) or path.stem.isdecimal()
        loaded += 1
    for mapping in tree.rglob("mapping.csv"):
        text = mapping.read_text()
        assert text.endswith("\n")
        for row in text.splitlines():
            name, _, original = row.partition(",")
            assert (mapping.parent / name).exists()
            assert NPY.match(original)
    for table in tree.rglob("statistic.csv"):
        originals = [path.name for path in table.parent.glob("*.npy")]
        if (table.parent / "mapping.csv").exists():
            originals += [row.partition(",")[2] for row in (table.parent / "mapping.csv").read_text().splitlines()]
        stamps = {int(name.split(".")[4]) for name in originals if not name.split(".")[0].isdecimal()}
        for row in rows(table.read_bytes()):
            assert isinstance(row, Row)
            assert list(row.statistics) == ["count", "md5"]
            assert row.timestamp in stamps
    for order in tree.rglob("*.csv"):
        assert order.read_text().endswith("\n")
    return loaded


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(KILLS))
def test_killed_while_it_dumps(tmp_path: Path, number: int) -> None:
    device, how = ("cpu", "gpu")[number % 2], (BEFORE, AFTER)[number // 2 % 2]
    for at in (70 + 23 * number, 90 + 31 * number):  # what a killed run left does not hinder the next
        outcome = run(lambda: dump_for_ever(tmp_path, device), under=tmp_path, at=at, how=how)
        assert outcome.code is None, outcome.output
        assert check_whole(tmp_path)


@pytest.mark.long
def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    limit = 300_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    child = start(tmp_path, preexec_fn=limited)
    _, errors = child.communicate(timeout=600)
    assert child.returncode == 1
    assert "DumpWriteError" in errors.splitlines()[-1]
    assert check_whole(tmp_path)
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="needs root to mount a small tmpfs")
def test_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=False)
    if mounted.returncode:
        pytest.skip("this container may not mount")
    try:
        child = start(disk / "tree")
        _, errors = child.communicate(timeout=600)
        assert child.returncode == 1
        assert "No space left on device" in errors.splitlines()[-1]
        assert check_whole(disk)
        assert not list(disk.rglob("*.part"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
