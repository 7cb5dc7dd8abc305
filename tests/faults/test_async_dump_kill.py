"""An asynchronous dump that is killed: every file there is whole, whatever was still waiting."""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.devices import DEVICES
from harness.dump.asynchronous.dump_data import DumpFile
from harness.dump.asynchronous.names import parse
from harness.dump.asynchronous.observer import AsyncDumpObserver
from tests.dump.asynchronous.build import config
from tests.dump.build import one_op, tensor
from tests.faults.steps import AFTER, BEFORE, Step, run

pytestmark = pytest.mark.faults

SCRIPT = """
import sys
from pathlib import Path
from tests.faults.test_async_dump_kill import dump_for_ever
print("ready", flush=True)
dump_for_ever(Path(sys.argv[1]))
"""


def dump_for_ever(tree: Path) -> None:
    """Two networks in turn; one has names too long for a file."""
    observer = AsyncDumpObserver(config(tree), DEVICES.get("ascend-o2"))
    arrays = [tensor(dtypes.float32, (64, 1024 * k + 1)) for k in range(4)]
    nets = [one_op("Default/Add-op0", arrays), one_op("Default/" + "n" * 300 + "/Add-op1", arrays, graph_id=1)]
    for net in nets:
        observer.graph_declared(net.graph)
    for net in itertools.cycle(nets):
        net.run(observer)


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


def test_the_next_run_removes_what_a_killed_one_left_in_directories_of_another_time(tmp_path: Path) -> None:
    def dump(second: int) -> None:
        observer = AsyncDumpObserver(
            config(tmp_path), DEVICES.get("ascend-o2"), time=datetime(2026, 1, 1, second=second)
        )
        net = one_op()
        observer.graph_declared(net.graph)
        net.run(observer)
        observer.closed()

    dump(0)  # the directories above
    steps = run(lambda: dump(1), under=tmp_path).steps
    at = next(number for number, step in enumerate(steps, 1) if step.call == "rename" and "Add." in step.path)
    assert run(lambda: dump(2), under=tmp_path, at=at, how=BEFORE).code is None
    assert list(tmp_path.rglob("*.part"))
    assert run(lambda: dump(3), under=tmp_path).code == 0
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.long
@pytest.mark.sampled(6)
@pytest.mark.parametrize("how", [BEFORE, AFTER])
@pytest.mark.parametrize(("call", "at"), [("open", 7), ("writev", 11), ("rename", 1), ("rename", 12)])
def test_killed_while_tensors_wait(tmp_path: Path, call: str, at: int, how: str) -> None:
    def counts(step: Step) -> bool:
        return step.call == call and (call != "rename" or "Add." in step.path)

    outcome = run(lambda: dump_for_ever(tmp_path), under=tmp_path, at=at, how=how, counts=counts)
    assert outcome.code is None, outcome.output
    whole = check_whole(tmp_path)
    if call == "rename":  # other threads may have renamed more
        assert whole >= at - (how == BEFORE)


@pytest.mark.long
def test_a_file_that_may_not_grow_stops_the_run(tmp_path: Path) -> None:
    limit = 300_000
    child = start(tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    _, errors = child.communicate(timeout=600)
    assert child.returncode == 1
    assert "DumpWriteError" in errors.splitlines()[-1]
    check_whole(tmp_path)
    assert not list(tmp_path.rglob("*.part"))
