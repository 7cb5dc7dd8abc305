"""An asynchronous dump that is killed: every file there is whole, whatever still waited."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from harness.dump.asynchronous.dump_data import DumpFile
from harness.dump.asynchronous.names import parse

pytestmark = pytest.mark.faults

KILLS = 6

SCRIPT = """
import itertools, sys
from pathlib import Path
from harness import dtypes
from harness.devices import DEVICES
from harness.dump.asynchronous.observer import AsyncDumpObserver
from tests.dump.asynchronous.build import config
from tests.dump.build import one_op, tensor
observer = AsyncDumpObserver(config(Path(sys.argv[1])), DEVICES.get("ascend-o2"))
arrays = [tensor(dtypes.float32, (64, 1024 * k + 1)) for k in range(4)]
nets = [one_op("Default/Add-op0", arrays), one_op("Default/" + "n" * 300 + "/Add-op1", arrays, graph_id=1)]
for net in nets:
    observer.graph_compiled(net.graph)
print("ready", flush=True)
for _ in itertools.count():
    for net in nets:
        net.run(observer)
"""


def start(tree: Path, **extra: object) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tree)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **extra
    )  # type: ignore[call-overload]
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n", child.stderr.read() if child.stderr else ""
    return child


def check_whole(tree: Path) -> int:
    """Reads every file of an operator; gives their number."""
    read = 0
    for path in tree.rglob("*"):
        if path.is_file() and (parse(path.name) is not None or path.name.isdecimal()):
            assert path.stat().st_mode & 0o777 == 0o400
            with DumpFile(path) as file:
                for entry in (*file.header.inputs, *file.header.outputs):
                    array = file.host(entry)
                    assert np.array_equal(array.reshape(-1), np.arange(array.size) % 100)
            read += 1
    for mapping in tree.rglob("mapping.csv"):
        text = mapping.read_text()
        assert text.endswith("\n")
        assert all((mapping.parent / row.partition(",")[0]).exists() for row in text.splitlines())
    return read


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_while_tensors_wait(tmp_path: Path, seed: int) -> None:
    child = start(tmp_path)
    time.sleep(random.Random(seed).uniform(0.05, 0.3))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert check_whole(tmp_path)


def test_a_file_that_may_not_grow_stops_the_run(tmp_path: Path) -> None:
    limit = 300_000
    child = start(tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "DumpWriteError" in errors.splitlines()[-1]
    check_whole(tmp_path)
    assert not list(tmp_path.rglob("*.part"))
