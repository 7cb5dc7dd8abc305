"""The recorder beside that of the real MindSpore 2.7.0: which files there are, and that one parser reads both."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from harness.memory import parse
from harness.rdr.listing import artefacts
from harness.rdr.read import execution_orders, memory_addresses
from tests.rdr.play import NETWORKS, SITUATIONS
from tests.rdr.process import found, play

pytestmark = pytest.mark.interop

OPERATOR = re.compile(r"@kernel_graph(\d+):[^{]*\{\[0\]: ValueNode<Primitive> (\w+)")
#: the texts of the two are compared here
TEXTS = [(network, "O0") for network in NETWORKS] + [(network, "O1") for network in NETWORKS]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_same_files(network: str, situation: str, tmp_path: Path, mindspore_2_7_python: str) -> None:
    # Three errors in mode 2 are no situation of the table: MindSpore may have two lists of addresses in one second.
    for mode in (1,) if situation == "three_errors" else (1, 2):
        real, ours = tmp_path / f"real{mode}", tmp_path / f"ours{mode}"
        theirs = play(network, situation, real, mode, mindspore_2_7_python)
        ended = play(network, situation, ours, mode)
        assert found(ours) == found(real), (mode, ended.stderr, theirs.stderr)
        assert real.exists() == ours.exists()
        # MindSpore ends an interrupted process as SIGTERM does, Python as SIGINT does.
        if situation != "sigint":
            assert ended.returncode == theirs.returncode


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("network", "level"), TEXTS)
def test_the_same_parser(network: str, level: str, tmp_path: Path, mindspore_2_7_python: str) -> None:
    folders = {mindspore_2_7_python: tmp_path / "real", sys.executable: tmp_path / "ours"}
    for python, folder in folders.items():
        assert play(network, "normal", folder, 2, python, PLAY_MEMORY=level).returncode == 0
    real, ours = ({a.key: a.read().decode("utf-8", "replace") for a in artefacts(f)} for f in folders.values())
    assert real.keys() == ours.keys()
    for key in real:
        if key[1].startswith("graph_exec_order"):
            orders = [execution_orders(texts[key]) for texts in (real, ours)]
            operators = [[[OPERATOR.match(e.text).groups() for e in block] for block in order] for order in orders]
            assert operators[0] == operators[1]
            assert [[entry[1:] for entry in block] for block in orders[0]] == [
                [entry[1:] for entry in block] for block in orders[1]
            ]  # fmt: skip
        if key[0] == "OPTIMIZER":
            assert re.sub(r"\t_\d+\t", "\t\t", real[key]) == ours[key]  # MindSpore gives nameless parameters a number
            if "offline" not in key[1]:
                assert parse(real[key]).tensors == parse(ours[key]).tensors
    check_addresses(*(texts["RUNTIME_FRAMEWORK", "mem_address_list", "txt"] for texts in (real, ours)))


def check_addresses(real: str, ours: str) -> None:
    """Each kernel that MindSpore kept (it loses the first of a process) has the same numbers of entries and sizes."""
    own = {kernel.name: kernel for kernel in memory_addresses(ours)}
    kept = memory_addresses(real)
    assert kept
    for kernel in kept:
        mine = own[kernel.name]
        assert mine.counts == kernel.counts
        for group in ("inputs", "workspaces", "outputs"):
            sizes = [[a.size for a in getattr(k.addresses, group)] for k in (mine, kernel)]
            assert sizes[0] == sizes[1], (kernel.name, group)
    assert len(own) - len(kept) in (0, 1)
