"""PyTorch: captures of it have its own values, its kernels mean what the harness's mean, and whole networks agree."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.gate.networks import NETWORKS
from tests.interop.scripts import SCRIPTS
from tests.interop.table import Table
from tests.interop.trees import Agreement
from tests.subprocesses import ROOT

pytestmark = pytest.mark.interop

SECTIONS = {"networks": "Shipped networks on PyTorch", "scripts": "Scripts on PyTorch"}
CASES = [("networks", name) for name in NETWORKS] + [("scripts", name) for name in SCRIPTS]


@pytest.fixture(scope="module")
def agreements(torch_python: str) -> Any:
    """What ``torch_engine.py`` prints: backend cpu beside backend torch."""
    command = [torch_python, "-m", "tests.interop.torch_engine"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize(("section", "name"), CASES)
def test_same_operators_slots_and_values(section: str, name: str, agreements: Any, interop_table: Table) -> None:
    found = dict(agreements[section][name])
    by_numpy = found.pop("by_numpy")
    agreement = Agreement(**found)
    if by_numpy != "none":
        agreement.known.append(f"computed by the harness's own kernels: {by_numpy}")
    interop_table.section(SECTIONS[section]).add(name, agreement)
    assert agreement.slots, "nothing was compared"
    assert not agreement.faults, "\n".join(agreement.faults[:40])
