"""``python tests/interop/rdr_real.py NETWORK SITUATION``: ``tests/rdr/play.py`` under the real MindSpore 2.7.0.

MindSpore has no functions for control flow on tensor values (it parses Python's ``if``): ``ops.cond`` is given to it.
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


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.modules["harness"] = mindspore
    ops.cond = cond
    mindspore.set_device("CPU")
    importlib.import_module("tests.rdr.play").main(*sys.argv[1:])
