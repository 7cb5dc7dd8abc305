"""The figures of ``docs/memory-plan.md``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.bench_memory import graphs_of
from harness.devices import DEVICES
from harness.memory import plan
from tests.framework.compile.build import graph_mode
from tests.gate.networks import NETWORKS

PAGE = (Path(__file__).parents[2] / "docs" / "memory-plan.md").read_text()
ROWS = {name: rest.split(" | ") for name, rest in re.findall(r"^\| (\w+) \| (\d.*) \|$", PAGE, re.MULTILINE)}


def test_every_network_has_a_row() -> None:
    assert list(ROWS) == list(NETWORKS)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("network", NETWORKS)
def test_figures_are_those_of_the_plans(network: str) -> None:
    with graph_mode():
        graphs = graphs_of(network)
    shown = []
    for device in ("cpu", "ascend-o0"):
        plans = [plan(graph, DEVICES.get(device)) for graph in graphs]
        total = sum(found.total for found in plans)
        everything = sum(found.sum_of_sizes() for found in plans)
        least = sum(found.lower_bound() for found in plans)
        shown += [str(total), f"{total / everything:.3f}", f"{total / least:.3f}"]
    assert ROWS[network] == shown
