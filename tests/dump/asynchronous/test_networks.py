"""Shipped networks: the asynchronous dump holds the run's values of that moment, however late it is written."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import context
from harness.capture import read_tree
from harness.dump import DumpObserver
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.asynchronous.overlapped import OverlappedDumpObserver
from harness.dump.writer import Directory
from harness.framework.runtime import session
from tests.dump.asynchronous.build import config as async_config
from tests.dump.build import Net, config, one_op
from tests.gate.networks.recorder import Recorder


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=before)


def one_kernel(number: int, scope: str, root: int) -> Net:
    """A graph of one operator, which belongs to the root graph ``root``."""
    return one_op(f"{scope}/Add-op0", [np.full(2, number, np.float32)], graph_id=number, root_id=root)


@pytest.mark.parametrize("release", ["1.6", "2.1", "2.5"])
@pytest.mark.parametrize("roots", [(0, 0), (0, 1)])
def test_graphs_of_one_root_share_a_directory(release: str, roots: tuple[int, int], tmp_path: Path) -> None:
    """Files are called by the last part of a name; what two graphs of a directory both have is told apart."""
    nets = [one_kernel(at, f"Default/{scope}", root) for at, (scope, root) in enumerate(zip("xy", roots, strict=True))]
    observer = AsyncDumpObserver(async_config(tmp_path, release, "ascend", file_format="npy"))
    for net in nets:
        observer.graph_declared(net.graph)
    for net, root in zip(nets, roots, strict=True):
        with nets[root].step(observer, nets) as step:
            (node,) = net.graph.order
            with net.launch(step, node) as launch:
                launch.done(net.slots[node][1])
    observer.closed()
    records = list(read_tree(tmp_path).records())
    found = {(r.key.graph, r.key.operator.replace("_", "/")): r.load().tolist() for r in records}  # type: ignore[union-attr]
    assert found == {
        (root, f"Default/{scope}/Add-op0"): [at, at] for at, (scope, root) in enumerate(zip("xy", roots, strict=True))
    }


NETWORKS = ("mlp", "lenet", "residual", "transformer", "lstm", "half", "brain", "control", "constants")


def contents(root: Path) -> list[bytes]:
    """What is in the tensor files, in the order of their timestamps."""
    files = sorted(root.rglob("*.npy"), key=lambda path: path.name.split(".")[-6])
    return [path.read_bytes() for path in files]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "network",
    [
        pytest.param(n, marks=pytest.mark.long if n in ("transformer", "lstm", "residual", "half") else ())
        for n in NETWORKS
    ],
)
def test_late_files_hold_the_same(network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = DumpObserver(config(tmp_path / "a"))
    later = OverlappedDumpObserver(config(tmp_path / "b"))
    original = Directory.write

    def write(self: Directory, *args: Any, **named: Any) -> bool:
        if self.path.startswith(str(tmp_path / "b")):
            time.sleep(0.0005)
        return original(self, *args, **named)

    monkeypatch.setattr(Directory, "write", write)
    with session.fresh([at_once, later], hooked=False):
        importlib.import_module(f"tests.gate.networks.{network}").play(Recorder())
    found, wanted = contents(tmp_path / "b"), contents(tmp_path / "a")
    assert len(found) == len(wanted) > 0
    assert all(mine == theirs for mine, theirs in zip(found, wanted, strict=True))
