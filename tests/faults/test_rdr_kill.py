"""A process killed while it exports: each artefact is whole or absent."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.rdr.listing import artefacts
from harness.rdr.read import execution_orders
from tests.rdr.process import ROOT, environment

pytestmark = pytest.mark.faults

KILLS = 8
SCRIPT = """
import itertools, sys
from harness.rdr.config import RdrConfig
from harness.rdr.container import Recorders
from harness.rdr.recorders.execution_order import OrderEntry
from harness.rdr.recorders.graph import GraphTexts
recorders = Recorders(RdrConfig(True, 2, sys.argv[1] + "/"), clock=lambda: "2" * 14)
order = tuple(OrderEntry("@kernel_graph0:x{" + "x" * 2000 + "}", 4294967295, 0) for _ in range(100))
for name in range(4):
    recorders.record("graph_exec_order", "SESSION", f"graph_exec_order.{name}", order)
    body = GraphTexts("text of a graph\\n" * 20_000 + "end\\n", b"message" * 50_000 + b"end", ".ir;.pb")
    recorders.record("graph", "SESSION", f"graph_build.{name}", body)
    recorders.record("text", "OPTIMIZER", f"plan.{name}", "row of a plan\\n" * 20_000 + "end\\n")
print("ready", flush=True)
for _ in range(12):
    recorders.trigger()
"""


def check(folder: Path) -> int:
    """Every file is whole; how many there are."""
    found = artefacts(folder)
    for artefact in found:
        data = artefact.read()
        assert artefact.path.stat().st_mode & 0o777 == 0o400
        if artefact.extension == "ir":
            assert data == b"text of a graph\n" * 20_000 + b"end\n"
        elif artefact.extension == "pb":
            assert data == b"message" * 50_000 + b"end"
        elif artefact.module == "OPTIMIZER":
            block = b"row of a plan\n" * 20_000 + b"end\n"
            assert data == block * (len(data) // len(block))
            assert data
        else:
            blocks = execution_orders(data.decode())
            assert {len(block) for block in blocks} == {100}
    hidden = [path for path in folder.rglob("*") if path.is_file() and path.name.startswith(".")]
    others = {path for path in folder.rglob("*") if path.is_file()} - {a.path for a in found}
    assert others == set(hidden)
    assert all(path.suffix == ".part" for path in hidden)
    return len(found)


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_while_it_exports(tmp_path: Path, seed: int) -> None:
    for attempt in range(2):  # what a killed process left does not hinder the next
        child = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path)], env=environment({}), cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(random.Random(2 * seed + attempt).uniform(0.005, 0.1))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        assert check(tmp_path)
