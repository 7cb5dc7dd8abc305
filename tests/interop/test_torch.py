"""PyTorch: captures of it have its own values, its kernels mean what the harness's mean, and whole networks agree."""

from __future__ import annotations

import json
import re
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


def test_captures_and_kernels_beside_pytorch(torch_python: str) -> None:
    tests = (
        "tests/capture/torch", "tests/framework/engines/torch", "tests/compare/pairing/test_torch.py",
        "tests/replaying/test_aten.py", "tests/explain/test_settling.py", "tests/explain/test_extracting.py",
        "tests/testing/suites/test_suites.py",
    )  # fmt: skip
    _run_all(torch_python, *tests)


def test_networks_drawn_for_both_frameworks(torch_python: str) -> None:
    _run_all(torch_python, "tests/testing/beside")


def test_layouts_of_several_ranks(torch_python: str) -> None:
    _run_all(torch_python, "tests/testing/layouts", "tests/explain/ranks/test_torch_ranks.py")


def test_pages_show_what_pytorch_gives(torch_python: str) -> None:
    """Blocks that need PyTorch are left out where the pages are followed without it."""
    pages = (
        "docs/tutorial/arrays-and-modules.md", "docs/how-to/port-from-pytorch.md", "docs/torch.md", "docs/ranks.md",
        "docs/start/pytorch.md",
    )  # fmt: skip
    test = "tests/docs/test_pages.py::test_a_reader_gets_what_the_page_shows"
    _run_all(torch_python, "-m", "deep", *(f"{test}[{page}]" for page in pages))


def _run_all(torch_python: str, *tests: str) -> None:
    """Runs tests under the interpreter that has PyTorch; none may be skipped."""
    command = [torch_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed(, \d+ deselected)? in ", done.stdout, re.MULTILINE), done.stdout


def test_modules_of_pytorch_in_the_gate(torch_python: str) -> None:
    """Single tests, and a repository of a few files from its first golden to its last one's end."""
    tests = (
        "tests/plugin/test_torch_first_calls.py",
        "tests/plugin/test_torch_modules.py",
        "tests/plugin/test_torch_programs.py",
        "tests/plugin/test_option_msdump_graft.py",
        "tests/plugin/test_torch_ranks.py",
        "tests/plugin/test_option_msdump_gaps.py",
        "tests/plugin/test_option_msdump_granularity.py",
        "tests/plugin/test_repository.py",
    )
    command = [torch_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE), done.stdout


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
