"""How close memory plans come to the optimum: ``python -m benchmarks.bench_memory``.

For every graph of the shipped networks: bytes planned, over the sum of all sizes (what no reuse would take) and over
the lower bound (the tensors alive at the busiest moment of the execution order, which no plan can beat).
"""

from __future__ import annotations

import importlib
import time

import harness
from harness.devices import DEVICES
from harness.framework.runtime import session
from harness.graph import Graph
from harness.graph.form import form_of
from harness.memory import MemoryPlan, plan
from harness.recording import Graph as RecordedGraph
from harness.recording import Observer
from tests.gate.networks import NETWORKS
from tests.gate.networks.recorder import Recorder

#: the CPU keeps tensors apart that other orders of its kernels could need at once; Ascend runs one stream in order
TARGETS = ("cpu", "ascend-o0")


class Graphs(Observer):
    """Keeps what is compiled."""

    def __init__(self) -> None:
        self.found: list[Graph] = []

    def graph_declared(self, graph: RecordedGraph) -> None:
        self.found.append(form_of(graph))


def graphs_of(name: str) -> list[Graph]:
    """The graphs of a shipped network that have kernels."""
    watcher = Graphs()
    with session.fresh([watcher], hooked=False):
        importlib.import_module(f"tests.gate.networks.{name}").play(Recorder())
    return [graph for graph in watcher.found if graph.execution_order]


def show(name: str, plans: list[MemoryPlan], seconds: float) -> None:
    """A row of the table, of all graphs of a network together."""
    tensors = sum(len(found.state.tensors) for found in plans)
    total, everything, least = (
        sum(values) for values in zip(*((p.total, p.sum_of_sizes(), p.lower_bound()) for p in plans), strict=True)
    )
    ratios = f"{total / everything:8.3f}  {total / least:8.3f}" if least else f"{'-':>8}  {'-':>8}"
    print(f"  {name:12}  {len(plans):6}  {tensors:7}  {total:9}  {ratios}  {seconds * 1e3:8.1f}")


def main() -> None:
    """Plans everything and prints the tables."""
    harness.set_context(mode=harness.GRAPH_MODE)
    graphs = {name: graphs_of(name) for name in NETWORKS}
    for target in TARGETS:
        device = DEVICES.get(target)
        print(f"\nMemory plans, {target}\n  {'':12}  {'graphs':>6}  {'tensors':>7}  {'bytes':>9}  {'of sum':>8}"
              f"  {'of bound':>8}  {'CPU ms':>8}")  # fmt: skip
        every: list[MemoryPlan] = []
        spent = 0.0
        for name, found in graphs.items():
            before = time.process_time()
            plans = [plan(graph, device) for graph in found]
            took = time.process_time() - before
            show(name, plans, took)
            every, spent = every + plans, spent + took
        show("all", every, spent)


if __name__ == "__main__":
    main()
