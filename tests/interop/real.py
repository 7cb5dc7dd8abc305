"""Runs one network of the gate under the real MindSpore: ``python tests/interop/real.py NAME``.

For a process of its own: MindSpore reads its dump configuration (``MINDSPORE_DUMP_CONFIG``) once. Names of ``harness``
resolve to ``mindspore`` here, so that the gate's network sources run as they stand. MindSpore has no functions for
control flow on tensor values (it parses Python's ``if`` and ``while``); ``ops.cond`` and ``ops.while_loop`` are given
to it below in those words.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import mindspore
from mindspore import ops


def cond(pred, true_fn, false_fn, *operands):
    """``true_fn(*operands)`` where ``pred`` holds, else ``false_fn(*operands)``."""
    if pred:
        return true_fn(*operands)
    return false_fn(*operands)


def while_loop(cond_fn, body_fn, state):
    """``state = body_fn(state)`` as long as ``cond_fn(state)`` holds."""
    while cond_fn(state):
        state = body_fn(state)
    return state


def play(name):
    """Runs ``tests.gate.networks.{name}`` in graph mode on the CPU."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.modules["harness"] = mindspore
    ops.cond, ops.while_loop = cond, while_loop
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    mindspore.set_device("CPU")
    mindspore.set_seed(1)
    recorder = importlib.import_module("tests.gate.networks.recorder").Recorder()
    importlib.import_module(f"tests.gate.networks.{name}").play(recorder)


if __name__ == "__main__":
    play(sys.argv[1])
