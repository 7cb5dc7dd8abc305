"""Every shipped network and every script of ``nets`` on the backends cpu and torch; prints their agreements as JSON.

For a process of its own, with a Python that has PyTorch.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import json
import runpy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import backends, context
from harness.backends.emulated import EmulatedProcess
from harness.capture import Capture
from harness.cli import importing
from tests.gate.networks import NETWORKS
from tests.gate.networks.recorder import Recorder
from tests.interop.scripts import SCRIPTS
from tests.interop.trees import NETS, WRAPPER, agreement

SEED = 1
# Captures of the backend torch have graphs alone.
EmulatedProcess.records_calls = False


def capture(backend: str, name: str, program: Callable[[], Any]) -> Capture:
    """What ``program`` makes on a backend, from a fixed seed."""
    context.set_context(mode=context.GRAPH_MODE)
    context.set_seed(SEED)
    np.random.seed(SEED)
    with contextlib.redirect_stdout(io.StringIO()):
        return backends.get(backend).run(program, network=name)


def network(name: str) -> Callable[[], Any]:
    """Plays a shipped network."""
    module = importlib.import_module(f"tests.gate.networks.{name}")
    return lambda: module.play(Recorder())


def script(name: str, *arguments: str) -> Callable[[], Any]:
    """Runs a script with weights that depend only on their names and shapes."""

    def program() -> None:
        from mindspore import nn

        call, sys.argv = nn.Cell.__call__, ["", str(NETS / name), *arguments]
        sys.path.insert(0, str(NETS))
        try:
            runpy.run_path(str(WRAPPER), run_name="__main__")
        finally:
            nn.Cell.__call__ = call
            sys.path.remove(str(NETS))

    return program


def found(name: str, program: Callable[[], Any]) -> dict[str, Any]:
    """How far both backends agree, and what the harness's own kernels computed on backend torch."""
    own, theirs = capture("cpu", name, program), capture("torch", name, program)
    result = agreement(own, theirs, {})
    assert own.emulated
    assert not theirs.emulated
    return {**dataclasses.asdict(result), "by_numpy": theirs.rules["numpy kernels"]}


if __name__ == "__main__":
    importing.install()
    sections = {
        "networks": {name: found(name, network(name)) for name in NETWORKS},
        "scripts": {name: found(name, script(*words)) for name, words in SCRIPTS.items()},
    }
    print(json.dumps(sections))
