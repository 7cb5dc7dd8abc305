"""``import harness.nn as nn`` gives what ``mindspore.nn`` is here; ``import harness`` alone loads none of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
import harness

assert not [name for name in sys.modules if name.startswith("harness.framework.")]
import harness.nn as nn
from harness.nn import Dense
import harness.ops as ops
import harness.dataset as ds
import harness.dataset.transforms as transforms
from harness.dataset import vision
from harness.common.initializer import Normal
from harness.common import dtype as mstype
import harness.common.dtype as dtypes
from harness.train import Model
from harness.train.callback import LossMonitor
import harness.numpy as mnp
import harness.context
import harness.nn.layer
from harness.ops import operations as P
import harness.ops.operations.nn_ops
import harness.mint.nn.functional as F

assert nn is harness.nn is harness.framework.nn and Dense is nn.Dense and mstype is dtypes
assert nn.__name__ == nn.__spec__.name == "harness.framework.nn"
import harness.nn.cell
from harness.framework.nn.cell import Cell

assert harness.nn.cell.Cell is Cell is nn.Cell
import harness.nn.basic

assert harness.nn.basic is sys.modules["harness.framework.nn.basic"]
from harness import framework, graph, log, store

assert graph.__name__ == "harness.graph" and log.__name__ == "harness.log"
for missing in ("harness.nothere", "harness.nn.nothere"):
    try:
        __import__(missing)
    except ModuleNotFoundError as error:
        assert error.name == missing
    else:
        raise AssertionError(missing)
"""
EVERY = """
import importlib, sys
import harness
from harness.framework import names

wrong = []
for module in names.modules():
    if module.partition(".")[0] not in ("", *harness._ROOMS):
        if importlib.import_module(f"harness.{module}") is not names.load(module):
            wrong.append(module)
assert not wrong, wrong
ours = {name: module for name, module in sys.modules.items() if name.startswith("harness.framework.")}
twice = [name for name, module in ours.items() if module.__spec__ and module.__spec__.name != name]
assert not twice, twice
"""


@pytest.mark.parametrize("program", [SCRIPT, pytest.param(EVERY, marks=pytest.mark.long)])
def test_modules_have_mindspores_names(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
