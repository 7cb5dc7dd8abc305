"""Each scenario under the real MindSpore (2.10.0 and 2.7.0, CPU): what it says holds there, and the trees are alike."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.interop.conftest import oracle_python
from tests.interop.table import Table
from tests.scenarios.catalogue import SCENARIOS
from tests.scenarios.test_scenarios import run
from tests.scenarios.tree import check, check_files, check_read, equal, listed, place

pytestmark = pytest.mark.interop

REAL = tuple(name for name, scenario in SCENARIOS.items() if "cpu" not in scenario.elsewhere)
RELEASES = ("mindspore", "mindspore-2.7")


class Results(NamedTuple):
    """All scenarios under one MindSpore: the directory of each."""

    release: str
    root: Path


@pytest.fixture(scope="module", params=RELEASES)
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Runs all of them, in processes forked from one."""
    python = oracle_python(request.param)
    root = tmp_path_factory.mktemp("results")
    done = subprocess.run(
        [python, str(Path(__file__).with_name("scenarios_real.py")), str(root), *REAL],
        cwd=root, env={**os.environ, "GLOG_v": "3"}, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return Results(request.param, root)


def texts(root: Path, place: str) -> dict[str, list[str]]:
    """The files of a tree that hold no tensors, graph texts left out, as lines without the numbers of operators."""
    return {
        name: re.sub(r"-op\d+", "", path.read_text()).replace(place, "").split("\n")
        for name, (path, *_) in listed(root).items()
        if not name.endswith((".npy", ".ir", ".pb", "/mapping.csv")) and not name.endswith(".dump_metadata/config.json")
    }


def no_constants(tree: Path) -> None:
    """No constants are written: the check of their names does not fit the names."""
    assert not list(tree.rglob("constants"))
    check_files(tree, SCENARIOS["constant"], "cpu")
    check_read(tree, SCENARIOS["constant"], "cpu")


def unknown_sizes(tree: Path) -> None:
    """Headers have -1 for a size that was not known at compilation; numpy does not read them, our reader does."""
    for path in tree.rglob("*.npy"):
        with pytest.raises(ValueError, match=r"Failed to read all data|negative"):
            np.load(path)
    check_read(tree, SCENARIOS["growing"], "cpu")


def numbered_otherwise(tree: Path) -> None:
    """A loop that a function of the script holds is numbered after what follows the call."""
    scenario = SCENARIOS["loop"]
    moved = replace(scenario, holds=lambda device: (each._replace(graph=3) for each in scenario.holds(device)))
    check(tree, moved, "cpu")
    with pytest.raises(AssertionError):
        check(tree, scenario, "cpu")


#: what is other than the scenario says, measured; each shows that it still is
DIFFERENT = {
    ("constant", "mindspore"): no_constants,
    ("constant", "mindspore-2.7"): no_constants,
    ("growing", "mindspore-2.7"): unknown_sizes,
    ("loop", "mindspore"): numbered_otherwise,
    ("loop", "mindspore-2.7"): numbered_otherwise,
}


#: whose gradient 2.7.0 has in other operators
OLDER_GRAPHS = {("weights", "mindspore-2.7"), ("model", "mindspore-2.7")}


def alike(own: Path, real: Path, orders: bool) -> None:
    """Both trees have the same files, constants left out; those without tensors say the same (the planned order of
    kernels if ``orders``)."""
    mine, theirs = listed(own), listed(real)
    equal(
        "files",
        (name for name, paths in theirs.items() for _ in paths),
        (name for name, paths in mine.items() for _ in paths if "/constants/" not in name),
    )
    said, meant = texts(own, str(own.parent)), texts(real, str(real.parent))
    for name in meant:
        if orders or "/ms_execution_order" not in name:
            assert said[name] == meant[name], name


@pytest.mark.parametrize("name", REAL)
def test_a_scenario_holds_under_the_real_mindspore(
    results: Results, name: str, tmp_path: Path, interop_table: Table
) -> None:
    interop_table.scenario(name, results.release, "fails")
    outcome = judged(results, name, tmp_path)
    interop_table.scenario(name, results.release, outcome)


def judged(results: Results, name: str, tmp_path: Path) -> str:
    """What became of a scenario, in words; ``AssertionError`` where it does not hold."""
    scenario, root = SCENARIOS[name], results.root / name
    error, tree = root / "error.txt", place(SCENARIOS[name], "cpu", root)
    if "cpu" in scenario.refused:
        assert scenario.refused["cpu"].text in error.read_text()
        assert not tree.exists()
        return "device only: refused as said"
    assert error.exists() == (scenario.raises is not None), error.read_text()
    different = DIFFERENT.get((name, results.release))
    if different is not None:
        different(tree)
    else:
        check(tree, scenario, "cpu")
    if different is not numbered_otherwise:
        with nullcontext() if scenario.raises is None else pytest.raises(scenario.raises):
            run(scenario, "cpu", tmp_path)
        alike(place(scenario, "cpu", tmp_path), tree, (name, results.release) not in OLDER_GRAPHS)
    files = sum(len(paths) for paths in listed(tree).values())
    return f"holds, {files} files" if different is None else f"differs: {' '.join((different.__doc__ or '').split())}"
