"""Processes of their own: what they are told of the dump, where they are told to write, and who else writes there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.scenarios.adding import A, B, adds
from tests.scenarios.tree import listed
from tests.scenarios.words import Scenario, configuration
from tests.subprocesses import ROOT

SCRIPT = "from tests.scenarios.adding import adds; import harness; harness.set_context(mode=0); adds(2)(); print('ran')"
ADDED = [(0, "input", 0), (0, "input", 1), (0, "output", 0), (1, "input", 0), (1, "input", 1), (1, "output", 0)]
NAME = "rank_0/Net/0/{}/Add.Default_Add-op0.{}.{}.DefaultFormat.Float32.npy"


class Ended(NamedTuple):
    """A process."""

    code: int
    out: str
    err: str


def start(directory: Path, variable: str | None, **environ: str) -> subprocess.Popen[str]:
    """Two steps of the addition in ``directory`` with ``MINDSPORE_DUMP_CONFIG`` as ``variable``, None for unset."""
    kept = {key: value for key, value in os.environ.items() if key != "MINDSPORE_DUMP_CONFIG"}
    told = {} if variable is None else {"MINDSPORE_DUMP_CONFIG": variable}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT], cwd=directory, env={**kept, "PYTHONPATH": str(ROOT), **told, **environ},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=600)
    return Ended(process.returncode, out, err)


def written(file: Path, tree: str) -> str:
    """The name of ``file``, which dumps everything to ``tree``."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(configuration(Scenario(adds(), lambda device: ()), "cpu", tree)))
    return str(file)


def holds(tree: Path, times: int) -> None:
    """Both steps, so often, each file whole."""
    found = listed(tree)
    for label, io, slot in ADDED:
        paths = found[NAME.format(label, io, slot)]
        assert len(paths) == times
        for path in paths:
            wanted = A + B if io == "output" else (A, B)[slot]
            assert np.array_equal(np.load(path), wanted)
    assert not [name for name in found if name.endswith(".part")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("variable", [None, ""])
def test_without_a_configuration_nothing_is_written(tmp_path: Path, variable: str | None) -> None:
    assert ended(start(tmp_path, variable)) == (0, "ran\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("none.json", None, "none.json"),
        ("bad.json", '{"common_dump_settings": ', "bad.json"),
        ("wrong.txt", "{}", "wrong.txt"),
        ("a directory.json", ..., "a directory.json"),
    ],
)
def test_a_bad_configuration_is_one_error_that_names_it(tmp_path: Path, name: str, text: object, says: str) -> None:
    file = tmp_path / name
    if text is ...:
        file.mkdir()
    elif isinstance(text, str):
        file.write_text(text)
    result = ended(start(tmp_path, str(file)))
    assert (result.code, result.out) == (1, "")
    assert "DumpConfigError" in result.err.splitlines()[-1]
    assert says in result.err.splitlines()[-1]
    assert {path.name for path in tmp_path.iterdir()} <= {name}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("tree", ["not/absolute", "/tmp/größe and blanks"])
def test_a_place_that_mindspore_refuses(tmp_path: Path, tree: str) -> None:
    result = ended(start(tmp_path, written(tmp_path / "dump.json", tree)))
    assert result.code == 1
    assert "path" in result.err.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["dump.json"]


@pytest.mark.long
def test_the_configuration_may_lie_anywhere(tmp_path: Path) -> None:
    written(tmp_path / "größe and blanks" / "dump.json", str(tmp_path / "tree"))
    result = ended(start(tmp_path, "größe and blanks/dump.json", RANK_ID="3", RANK_TABLE_FILE="nowhere.json"))
    assert result[:2] == (0, "ran\n")
    holds(tmp_path / "tree", 1)


def test_a_place_that_cannot_be_made_is_said_once_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    result = ended(start(tmp_path, written(tmp_path / "dump.json", str(tmp_path / "file" / "tree"))))
    assert result[:2] == (0, "ran\n")
    assert result.err.count("ERROR") == 1
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.long
def test_a_second_run_adds_to_the_first(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    variable = written(tmp_path / "dump.json", str(tree))
    assert ended(start(tmp_path, variable)).code == 0
    before = {path: path.read_bytes() for path in tree.rglob("*.npy")}
    assert ended(start(tmp_path, variable)).code == 0
    assert {path: path.read_bytes() for path in before} == before
    holds(tree, 2)
    assert history(tree) == ["0", "1", "0", "1"]


@pytest.mark.long
def test_two_at_once_take_nothing_from_each_other(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    variable = written(tmp_path / "dump.json", str(tree))
    both = [start(tmp_path, variable) for _ in range(2)]
    assert [ended(each).code for each in both] == [0, 0]
    holds(tree, 2)
    assert sorted(history(tree)) == ["0", "0", "1", "1"]


def history(tree: Path) -> Sequence[str]:
    return (tree / "rank_0/execution_order/ms_global_execution_order_graph_0.csv").read_text().split()
