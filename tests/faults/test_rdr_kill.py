"""A process killed while it exports: each artefact is whole or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.rdr.config import RdrConfig
from harness.rdr.container import Recorders
from harness.rdr.listing import artefacts
from harness.rdr.read import execution_orders
from harness.rdr.recorders.execution_order import OrderEntry
from harness.rdr.recorders.graph import GraphTexts
from tests.faults.steps import AFTER, BEFORE, run

pytestmark = pytest.mark.faults

KILLS = 8


def export(folder: Path) -> None:
    """Twelve artefacts, twelve times."""
    recorders = Recorders(RdrConfig(True, 2, f"{folder}/"), clock=lambda: "2" * 14)
    order = tuple(OrderEntry("@kernel_graph0:x{" + "x" * 2000 + "}", 4294967295, 0) for _ in range(100))
    for name in range(4):
        recorders.record("graph_exec_order", "SESSION", f"graph_exec_order.{name}", order)
        body = GraphTexts("text of a graph\n" * 20_000 + "end\n", b"message" * 50_000 + b"end", ".ir;.pb")
        recorders.record("graph", "SESSION", f"graph_build.{name}", body)
        recorders.record("text", "OPTIMIZER", f"plan.{name}", "row of a plan\n" * 20_000 + "end\n")
    for _ in range(12):
        recorders.trigger()


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


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(KILLS))
def test_killed_while_it_exports(tmp_path: Path, number: int) -> None:
    for at in (12 + 7 * number, 25 + 5 * number):  # what a killed process left does not hinder the next
        outcome = run(lambda: export(tmp_path), under=tmp_path, at=at, how=(BEFORE, AFTER)[number % 2])
        assert outcome.code is None, outcome.output
        assert check(tmp_path)
