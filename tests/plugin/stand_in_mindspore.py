"""What the tests of backend ``mindspore`` share: the head of a test file, under a stand-in for the package."""

from __future__ import annotations

HEAD = """
import os, pathlib, signal, subprocess, sys, time

import pytest
import harness
from harness import nn
from harness.framework.nn import Cell

HERE = pathlib.Path(__file__).parent


class Net(nn.Cell):
    def construct(self, x=1):
        return x + 1


def note(name, *ids):
    (HERE / name).write_text(" ".join(map(str, ids)))

"""


def indented(text: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in text.splitlines())


GOOD = """
    def test_one(msdump):
        assert msdump.run(Net(), 2, steps=2) == 3
        assert harness.SET == {"mode": harness.GRAPH_MODE, "seed": 1}
        assert nn.Cell is Cell is sys.modules["mindspore.nn"].Cell
        assert repr(msdump) == "<msdump mindspore-tensor>"
        print("imported by", harness.IMPORTED_BY, "run by", os.getpid())

    def test_two(msdump):
        msdump.run(Net())
        print("imported by", harness.IMPORTED_BY, "run by", os.getpid())
"""
