"""msprobe configurations made by hand, and the observers they ask for."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from harness import context
from harness.devices import DEVICES
from harness.dump.msprobe.configured import asked_for
from harness.dump.msprobe.observer import ProbeObserver
from harness.framework.runtime import session
from tests.gate.networks.recorder import Recorder

O2 = DEVICES.get("ascend-o2")
NETWORKS = ("mlp", "lenet", "residual", "transformer", "lstm", "half", "brain", "control", "constants")


def config_text(path: Path | str, task: str = "tensor", section: dict[str, Any] | None = None, **common: Any) -> str:
    """A ``config.json`` that dumps kernels below ``path``; ``section`` goes to that of the task."""
    return json.dumps({"task": task, "dump_path": str(path), "level": "L2", task: section or {}} | common)


def observer(path: Path, own_rank: int | None = None, **fields: Any) -> ProbeObserver:
    """The observer such a file asks for on ``ascend-o2``; it writes to ``path``; ``own_rank`` is the process's."""
    file = path.parent / f"{path.name}-config.json"
    file.write_text(config_text(path, **fields))
    found = asked_for(str(file), O2, own_rank, environ={})
    assert isinstance(found, ProbeObserver)
    return found


def play(network: str, *observers: Any) -> None:
    """Runs a shipped network on the emulated ``ascend-o2``."""
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        with session.in_session(session.Session(observers, hooked=False, device=O2)):
            importlib.import_module(f"tests.gate.networks.{network}").play(Recorder())
    finally:
        context.set_context(mode=before)
    for each in observers:
        each.closed()


def dump_json(path: Path, step: int = 0, rank: str = "rank") -> dict[str, Any]:
    """What a step's ``dump.json`` says."""
    found: dict[str, Any] = json.loads((path / f"step{step}" / rank / "dump.json").read_text())
    return found
