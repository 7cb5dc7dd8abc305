"""Draws layouts and faults of parallel training, and judges what is said of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.backends import torch_ranks
from harness.capture import Capture
from harness.explain.layouts import beside_one, table_of
from harness.explain.ranks import RanksReport, Run, lines
from harness.testing.layouts.networks import blocks
from harness.testing.layouts.training import Fault, Plan, run_all, table

#: layout -> the networks and numbers of ranks that it is for
LAYOUTS: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "ddp": (("mlp", "gated", "attention", "fused", "language", "convolution"), (2, 4)),
    "data": (("mlp", "gated", "attention", "fused", "language", "convolution"), (2, 4)),
    "fsdp": (("mlp", "gated", "attention", "fused", "language", "convolution"), (2, 4)),
    "tensor": (("mlp", "gated", "attention", "language"), (2, 4)),
    "sequence": (("mlp", "gated", "language"), (2, 4)),
    "pipeline": (("mlp", "gated", "attention", "language", "convolution"), (2, 4)),
    "both": (("gated", "attention"), (4,)),
}
#: fault -> the layouts that it is for, and the cause it should be told as
FAULTS: dict[str, tuple[tuple[str, ...], str]] = {
    "unreduced": (("data", "sequence"), "not-reduced"),
    "scale": (("data", "ddp", "fsdp", "sequence"), "scale"),
    "stale": (("ddp", "data", "fsdp", "tensor", "both"), "stale"),
    "group": (("data", "sequence"), "group"),
    "dropped": (("data", "pipeline"), "micro-batch"),
    "tied": (("pipeline",), "not-reduced"),
    "tied copy": (("pipeline",), "stale"),
    "seed": (("tensor",), "seed"),
    "data": (("ddp", "data", "fsdp", "sequence"), "shard"),
    "exchanged": (("tensor",), "shard"),
}


def layouts(seed: int) -> list[Plan]:
    """Every layout of every network it is for, each with 2 or 4 ranks: settings are drawn."""
    draw = random.Random(seed)
    found = []
    for layout, (networks, ranks) in LAYOUTS.items():
        for network in networks:
            count = draw.choice(ranks)
            micro = draw.choice((1, 2)) if layout in ("data", "pipeline") else 1
            found.append(
                Plan(network, layout, count, draw.randrange(10**6), max(micro, 2 * (layout == "pipeline")),
                     adam=draw.random() < 0.5)
            )  # fmt: skip
    return found


def faults(count: int, seed: int) -> list[Plan]:
    """Trainings with a fault each; kinds follow in turn."""
    draw = random.Random(seed)
    return [_fault(draw, list(FAULTS)[at % len(FAULTS)]) for at in range(count)]


def _fault(draw: random.Random, kind: str) -> Plan:
    layout = draw.choice(FAULTS[kind][0])
    networks, counts = LAYOUTS[layout]
    if kind.startswith("tied"):
        networks = ("language",)
    if kind in ("seed", "exchanged"):
        networks = tuple(each for each in networks if each != "mlp")
    network = draw.choice(networks)
    ranks = 4 if kind == "group" else draw.choice(counts)
    seed, step = draw.randrange(10**6), draw.randint(1, 2)
    if kind == "exchanged":
        step = 0
    weights = [name for name, _ in blocks(network, seed).named_parameters()]
    if kind == "exchanged":
        weights = [name for name in weights if name.endswith((".gate.weight", ".up.weight"))]
    micro = 2 if kind == "dropped" or layout == "pipeline" else 1
    return Plan(
        network, layout, ranks, seed, micro, 0.3 if kind == "seed" else 0.0, kind != "scale" and draw.random() < 0.5,
        Fault(kind, draw.randrange(ranks), step, draw.choice(weights)),
    )  # fmt: skip


@dataclass
class Outcome:
    """What was said of one plan.

    Attributes:
        plan: the training.
        report: what was said.
        origin, rank, cause: whether the place, the ranks and the cause are right; of a right layout whether it holds.
        false: whether a cause was stated that is not the fault.
    """

    plan: Plan
    report: RanksReport
    origin: bool
    rank: bool
    cause: bool
    false: bool

    def lines(self) -> list[str]:
        """The plan and what was said."""
        return [str(self.plan), *(f"  {each}" for each in lines(self.report))]


def judged(plans: Sequence[Plan]) -> Iterator[Outcome]:
    """Trains each plan and its reference of one rank, and judges what is said."""
    for ranks in sorted({plan.ranks for plan in plans}):
        mine = [plan for plan in plans if plan.ranks == ranks]
        ones = [replace(plan, layout="one", ranks=1, fault=None, micro=1) for plan in mine]
        references = _by_graph([run_all_in_one(ones)])
        found = _by_graph(trained(mine, ranks))
        for at, plan in enumerate(mine):
            yield outcome(plan, beside_one(Run(found[at]), Run(references[at]), table_of(table(plan))))


def run_all_in_one(plans: Sequence[Plan]) -> Any:
    """The captures of plans of one rank as one capture."""
    return _together(run_all(plans))


def trained(plans: Sequence[Plan], ranks: int) -> list[Any]:
    """Each rank's capture of all plans."""
    held: dict[str, Any] = {}

    def program() -> None:
        held["capture"] = _together(run_all(plans))

    found, _ = torch_ranks.run(ranks, program, lambda: held["capture"])
    return found


def _together(captures: Sequence[Any]) -> Capture:
    records = [record for each in captures for record in each.records()]
    return Capture("layouts", "torch", False, records, "tensor", {})


def _by_graph(captures: Sequence[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for each in captures:
        for record in each.records():
            found.setdefault(record.key.graph, []).append(record)
            record.key = record.key._replace(graph=0)
    return found


def outcome(plan: Plan, report: RanksReport) -> Outcome:
    """Judges what is said of a plan."""
    first, fault = report.first, plan.fault
    if fault is None:
        return Outcome(plan, report, first is None, first is None, first is None, first is not None)
    if first is None:
        return Outcome(plan, report, False, False, False, False)
    wanted = FAULTS[fault.kind][1]
    said = first.cause.name if first.cause is not None else ""
    places = place_of(plan, fault)
    origin = (first.execution.iteration, first.execution.operator) in places
    everyone = fault.kind in ("unreduced", "scale", "group", "tied") or (
        fault.kind == "dropped" and plan.layout == "pipeline"
    )
    rank = everyone or rank_of(plan, fault) in first.ranks
    return Outcome(plan, report, origin, rank, said == wanted, bool(said) and said != wanted)


def rank_of(plan: Plan, fault: Fault) -> int:
    """The rank at fault."""
    return plan.ranks - 1 if fault.kind == "tied copy" else fault.rank


def place_of(plan: Plan, fault: Fault) -> set[tuple[int, str]]:
    """Where the one rank's run is left first."""
    names = [name for name, _ in blocks(plan.network, plan.seed).named_parameters()]
    if fault.kind == "unreduced":
        return {(0, f"{fault.parameter}.grad")}
    if fault.kind in ("scale", "group"):
        return {(0, f"{name}.grad") for name in names}
    if fault.kind == "stale":
        return {(fault.step, fault.parameter)}
    if fault.kind == "tied":
        return {(0, "0.weight.grad")}
    if fault.kind == "tied copy":
        return {(fault.step, "0.weight")}
    if fault.kind == "exchanged":
        return {(0, f"{fault.parameter.removesuffix('.weight')}/forward-op0")}
    scopes = [
        name for name, module in blocks(plan.network, plan.seed).named_modules() if name and not list(module.children())
    ]
    if fault.kind == "seed":
        first = next(name for name in scopes if name.endswith("dropout"))
        return {(fault.step, f"{first}/forward-op0")}
    return {(fault.step, f"{name}/forward-op0") for name in ("0", scopes[0])}
