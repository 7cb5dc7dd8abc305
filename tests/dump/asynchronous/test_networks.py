"""Shipped networks: what leaves beside the run is what the run had at that moment, however late it is written."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import context
from harness.dump import DumpObserver
from harness.dump.asynchronous.overlapped import OverlappedDumpObserver
from harness.dump.writer import Directory
from harness.runtime import session
from tests.dump.build import config
from tests.gate.networks.recorder import Recorder


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=before)


NETWORKS = ("mlp", "lenet", "residual", "transformer", "lstm", "half", "brain", "control", "constants")


def contents(root: Path) -> list[bytes]:
    """What is in the tensor files, in the order of their timestamps."""
    files = sorted(root.rglob("*.npy"), key=lambda path: path.name.split(".")[-6])
    return [path.read_bytes() for path in files]


@pytest.mark.parametrize("network", NETWORKS)
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
