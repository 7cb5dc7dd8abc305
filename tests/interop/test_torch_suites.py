"""Tests that need PyTorch, each suite under the interpreter that has it: they share nothing, and the longest of all."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop
#: see ``conftest.pytest_collection_modifyitems``
APART = True
SUITES = {
    "kernels": ("tests/framework/engines/torch",),
    "captures": (
        "tests/capture/torch", "tests/compare/pairing/test_torch.py", "tests/replaying/test_aten.py",
        "tests/explain/test_settling.py", "tests/explain/test_extracting.py", "tests/explain/test_exchanged_leaves.py",
        "tests/testing/suites/test_suites.py",
    ),
    "networks drawn for both frameworks": ("tests/testing/beside",),
    "layouts of several ranks": ("tests/testing/layouts", "tests/explain/ranks/test_torch_ranks.py"),
}  # fmt: skip
#: single tests in the gate, and a repository of a few files from its first golden to its last one's end
GATE = {
    "first calls": ("tests/plugin/test_torch_first_calls.py", "tests/plugin/test_torch_modules.py"),
    "programs": ("tests/plugin/test_torch_programs.py", "tests/plugin/test_option_msdump_graft.py"),
    "ranks": ("tests/plugin/test_torch_ranks.py", "tests/plugin/test_option_msdump_gaps.py"),
    "a repository": ("tests/plugin/test_option_msdump_granularity.py", "tests/plugin/test_repository.py"),
}
#: their blocks that need PyTorch are left out where the pages are followed without it
PAGES = (
    "docs/tutorial/arrays-and-modules.md", "docs/how-to/port-from-pytorch.md", "docs/torch.md", "docs/ranks.md",
    "docs/start/pytorch.md",
)  # fmt: skip


def run(torch_python: str, *tests: str) -> str:
    """What pytest prints of tests that pass under the interpreter that has PyTorch."""
    command = [torch_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("tests", SUITES.values(), ids=SUITES)
def test_a_suite_passes_and_skips_nothing(tests: tuple[str, ...], torch_python: str) -> None:
    told = run(torch_python, *tests)
    assert re.search(r"^\d+ passed(, \d+ deselected)? in ", told, re.MULTILINE), told


@pytest.mark.parametrize("tests", GATE.values(), ids=GATE)
def test_modules_of_pytorch_in_the_gate(tests: tuple[str, ...], torch_python: str) -> None:
    told = run(torch_python, *tests)
    assert re.search(r"^\d+ passed", told, re.MULTILINE), told


def test_pages_show_what_pytorch_gives(torch_python: str) -> None:
    test = "tests/docs/test_pages.py::test_a_reader_gets_what_the_page_shows"
    told = run(torch_python, "-m", "deep", *(f"{test}[{page}]" for page in PAGES))
    assert re.search(r"^\d+ passed(, \d+ deselected)? in ", told, re.MULTILINE), told
