"""The same script under ``msdump run`` and under the real MindSpore 2.10.0, with equal weights: the same dump tree."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.differential.side import Side
from tests.interop.insight import view
from tests.interop.known import split
from tests.interop.scripts import SCRIPTS
from tests.interop.table import Table
from tests.interop.trees import NETS, WRAPPER, compared, dump_environment

pytestmark = pytest.mark.interop

NO_KERNEL = {"Load", "Depend", "MakeTuple", "TupleGetItem", "UpdateState", "Return"}


class Trees(NamedTuple):
    """Both trees of one script."""

    name: str
    own: Path
    real: Path


def tree(side: Side, script: str, arguments: Iterable[str], out: Path) -> Path:
    """The tree of ``nets/SCRIPT`` on one side."""
    environment = dump_environment(out)
    given = {name: environment[name] for name in ("PYTHONPATH", "MINDSPORE_DUMP_CONFIG")}
    side.printed(WRAPPER, out, NETS / script, *arguments, limit=300, **given)
    return out / "tree"


@pytest.fixture(scope="module", params=SCRIPTS)
def trees(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, both: tuple[Side, Side]) -> Trees:
    """Runs the script on both sides, once for all tests of it."""
    script, *arguments = SCRIPTS[request.param]
    out = tmp_path_factory.mktemp(request.param)
    own, real = (tree(side, script, arguments, out / name) for side, name in zip(both, ("own", "real"), strict=True))
    return Trees(request.param, own, real)


def test_same_operators_slots_and_values(trees: Trees, interop_table: Table) -> None:
    found = compared(trees.own, trees.real)
    found.faults, found.known = split(trees.name, found.faults)
    interop_table.section("Scripts").add(trees.name, found)
    assert found.slots, "nothing was compared"
    assert not found.faults, "\n".join(found.faults[:40])


def test_mindinsight_reads_our_graphs_as_it_reads_the_real_ones(trees: Trees, mindinsight_side: Side) -> None:
    own, real = view(mindinsight_side, trees.own), view(mindinsight_side, trees.real)
    assert own["graphs"].keys() == real["graphs"].keys()
    for name, graph in real["graphs"].items():
        assert kernels(own["graphs"][name]["nodes"]) == kernels(graph["nodes"]), name
        assert own["graphs"][name]["parameters"] == graph["parameters"], name


def kernels(nodes: list[list[str]]) -> list[str]:
    """Names of the kernels, less their numbers, which the real files give twice, differently."""
    return [re.sub(r"-op\d+$", "", name) for op, name in nodes if op not in NO_KERNEL]


def test_dump_parser_finds_the_files_of_every_operator(trees: Trees, mindinsight_side: Side) -> None:
    found = view(mindinsight_side, trees.own)["files"]
    dumped = {path.name.split(".")[1] for path in trees.own.rglob("*.npy") if not path.name.startswith("Parameter.")}
    steps = Counter(path.name for path in trees.own.glob("rank_0/Net/*/*"))
    for name, files in found.items():
        # Of two graphs with steps of the same number it shows one.
        if re.sub(r"[/\\. ]", "_", name) in dumped and max(steps.values()) == 1:
            assert files["input"] + files["output"], name
    assert found


def test_numpy_loads_every_file(trees: Trees) -> None:
    paths = list(trees.own.rglob("*.npy"))
    assert paths
    for path in paths:
        np.load(path, allow_pickle=False)


def test_both_sides_had_equal_weights(mindspore_side: Side, tmp_path: Path) -> None:
    script = tmp_path / "told.py"
    script.write_text("from equal_weights import values\nprint(values('fc1.weight', (8, 4)).tolist())\n")
    real = tree(mindspore_side, "mlp.py", (), tmp_path / "real")
    told = mindspore_side.printed(script, tmp_path / "told", PYTHONPATH=str(NETS))
    (file, *_) = real.rglob("Parameter.fc1_weight.*.npy")
    assert np.load(file).tolist() == json.loads(told.splitlines()[-1])
