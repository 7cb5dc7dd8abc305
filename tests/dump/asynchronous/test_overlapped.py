"""The kernel-by-kernel dump through the queue writes the same tree as without."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from harness import dtypes
from harness.devices import DEVICES
from harness.dump import DumpConfig, DumpObserver, parse
from harness.dump.asynchronous.overlapped import OverlappedDumpObserver
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.writer import Directory
from harness.errors import DumpWriteError
from tests.dump.build import config, config_text, measured_net, one_op, tensor

STAMP = re.compile(r"\b\d{16}\b")
NUMBER = re.compile(r"(^|/)\d+(?=\.npy)", re.MULTILINE)


def tree(root: Path) -> dict[str, bytes]:
    """What is in the files, by their names without timestamps and numbers, in the order of the timestamps."""
    found: dict[str, bytes] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            name = NUMBER.sub(r"\1N", STAMP.sub("T", str(path.relative_to(root).as_posix())))
            text = path.read_bytes()
            if path.suffix == ".csv":
                text = NUMBER.sub(r"\1N", STAMP.sub("T", text.decode())).encode()
            found[f"{name}#{sum(key.startswith(name) for key in found)}"] = text
    return found


def modes(root: Path) -> set[tuple[str, int]]:
    return {(path.suffix, path.stat().st_mode & 0o777) for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file takes longer than a kernel."""
    original = Directory.write

    def write(self: Directory, *args: Any, **named: Any) -> bool:
        time.sleep(0.001)
        return original(self, *args, **named)

    monkeypatch.setattr(Directory, "write", write)


def run(observer: DumpObserver) -> None:
    """A net that trains, with parameters that change from step to step, a long name, an empty tensor, bfloat16."""
    long = one_op(
        f"Default/{'n' * 250}/Add-op0", [tensor(dtypes.bfloat16, (3, 5)), tensor(dtypes.int8, (0, 2))], "y", graph_id=1
    )
    nets = [measured_net("train"), long]
    for net in nets:
        observer.graph_declared(net.graph)
    for _ in range(2):
        for net in nets:
            net.run(observer)
            for array in net.values.values():
                array += 1
    observer.closed()


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("slow_disk")
@pytest.mark.parametrize("bound", [1, 300, 2**20])
def test_the_same_tree(tmp_path: Path, bound: int) -> None:
    run(DumpObserver(config(tmp_path / "a" / "tree")))
    queue = WriteQueue(bound)
    run(OverlappedDumpObserver(config(tmp_path / "b" / "tree"), queue=queue))
    ours, plain = (tree(tmp_path / side / "tree") for side in "ba")
    ours["rank_0/.dump_metadata/data_dump.json#0"] = plain["rank_0/.dump_metadata/data_dump.json#0"]
    assert ours == plain
    assert modes(tmp_path / "b") == modes(tmp_path / "a")
    assert queue.peak <= bound


def ascend(path: Path, **changes: Any) -> DumpConfig:
    return parse(config_text(path, **changes), backend="ascend")


@pytest.mark.usefixtures("slow_disk")
def test_statistics_and_device_formats(tmp_path: Path) -> None:
    device = DEVICES.get("ascend-o0")
    for name, kind in (("a", DumpObserver), ("b", OverlappedDumpObserver)):
        run(kind(ascend(tmp_path / name, saved_data="full"), device))
    assert tree(tmp_path / "b") == tree(tmp_path / "a")
    assert modes(tmp_path / "b") == modes(tmp_path / "a")


def test_a_full_disk_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    observer, net = OverlappedDumpObserver(config(tmp_path)), measured_net("train")
    observer.graph_declared(net.graph)
    observer.queue.drain()

    def full(*_args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.dump.writer.os.writev", full)

    def steps() -> None:
        for _ in range(3):
            net.run(observer)
            observer.queue.drain()

    with pytest.raises(DumpWriteError, match="No space left on device"):
        steps()
    observer.closed()
