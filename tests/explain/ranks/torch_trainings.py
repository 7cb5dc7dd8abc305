"""Trainings of PyTorch on several ranks beside their own goldens, operator by operator, with a drawn fault.

``python -m tests.explain.ranks.torch_trainings [FAULTS] [SEED] [CLEAN]`` trains, and prints what was told otherwise
than it is.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from harness.backends import torch_ranks
from harness.capture import Capture
from harness.capture.torch import TorchCapture
from harness.explain.ranks import Execution, RanksReport, Run, alone, beside, kind_of, lines
from harness.testing.layouts.networks import blocks, loss
from harness.testing.layouts.plans import LAYOUTS
from harness.testing.layouts.training import STEPS, Fault, Plan, Training

DATA = ("ddp", "data", "fsdp", "sequence")
SHARED = (*DATA, "tensor", "both")
#: fault -> the layouts that can have it, and the cause that it is told as
FAULTS: dict[str, tuple[tuple[str, ...], str]] = {
    "unreduced": (("data", "sequence"), "missing-collective"),
    "unscaled": (("data", "sequence"), "structure"),
    "scaled twice": (("data", "sequence"), "structure"),
    "loss scaled": (("ddp", "fsdp", "sequence", "data"), "setting"),
    "group": (("data", "sequence"), "group"),
    "largest for sum": (("data", "sequence"), "reduction"),
    "order": (("data", "sequence"), "order"),
    "dropped": (("data",), "structure"),
    "tied": (("pipeline",), "missing-collective"),
    "frozen": ((*SHARED, "pipeline"), "structure"),
    "seed": (("tensor", "data", "ddp", "fsdp"), "seed"),
    "shard": (DATA, "shard"),
    "batch": ((*SHARED, "pipeline"), "batch"),
    "sampler": (DATA, "data"),
    "replica": (("data", "sequence"), "replicated"),
    "rate": ((*SHARED, "pipeline"), "setting"),
    "eps": ((*SHARED, "pipeline"), "setting"),
    "clip": (("data", "ddp", "sequence"), "setting"),
    "bit in a result": (SHARED, "bit-flip"),
    "stale result": (SHARED, "stale"),
    "own input": (("data", "sequence", "ddp"), "not-reduced"),
    "bit in an operator": ((*SHARED, "pipeline"), "bit-flip"),
    "buffer": (("ddp",), "missing-collective"),
    "synced early": (("ddp",), "structure"),
    "never synced": (("ddp",), "missing-collective"),
}
#: faults of all ranks
EVERYWHERE = (
    "unreduced", "unscaled", "scaled twice", "loss scaled", "group", "largest for sum", "buffer", "synced early",
    "never synced",
)  # fmt: skip
BELOW = ("bit in a result", "stale result", "own input", "bit in an operator")
#: trainings of one launch
_AT_ONCE = 10
_MATRICES = ("mm", "addmm", "bmm")


class Below(TorchDispatchMode):  # type: ignore[misc, unused-ignore]
    """Spoils the result of an operator below what records it."""

    def __init__(self, fault: Fault, seed: int) -> None:
        super().__init__()
        self.fault, self.seed, self.step = fault, seed, -1
        self.passed: dict[int, list[Any]] = {}
        self.met = self.could = 0

    def begin(self, step: int) -> None:
        """A step begins."""
        self.could, self.met, self.step = max(self.could, self.met), 0, step

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func._schema.name).replace("::", ".").removeprefix("aten.")
        if self.fault.kind == "bit in an operator":
            fits = name in _MATRICES
        else:
            fits = kind_of(name) in _kinds(self.fault.kind)
        before = [each.clone() for each in _tensors(args[0])] if fits and args else []
        found = func(*args, **(kwargs or {}))
        if not fits:
            return found
        at, self.met = self.met, self.met + 1
        if name.startswith("c10d."):
            torch._C._distributed_c10d.Work.unbox(found[-1]).wait()
        made = _tensors(found[0] if isinstance(found, tuple) else found)
        if name.startswith("_c10d_functional."):
            made = [torch.ops._c10d_functional.wait_tensor(each) for each in made]
        stale, self.passed[at] = self.passed.get(at), [each.clone() for each in made]
        if self.step == self.fault.step and at == self._which():
            with torch.no_grad():
                self._spoil(made, before, stale)
        return found

    def _which(self) -> int:
        return int(self.fault.parameter or 0) % max(self.could, 1)

    def _spoil(self, made: list[Any], before: list[Any], stale: list[Any] | None) -> None:
        for at, each in enumerate(made):
            if self.fault.kind == "stale result":
                if stale is not None and stale[at].shape == each.shape:  # DDP fills other buckets after its first step
                    each.copy_(stale[at])
            elif self.fault.kind == "own input":
                each.copy_(before[at])
            elif not at:
                bits = each.view(-1) if each.is_contiguous() else each.t().view(-1)
                whole = bits.view(torch.int32)
                whole[self.seed % len(whole)] ^= 1 << 20 + self.seed % 3


def _kinds(fault: str) -> tuple[str, ...]:
    # gloo writes what a reduce_scatter gives when it is awaited again
    return ("all_reduce",) if fault == "own input" else ("all_reduce", "all_gather")


def _tensors(value: Any) -> list[Any]:
    found = [value] if isinstance(value, torch.Tensor) else []
    for each in value if isinstance(value, (list, tuple)) else ():
        found += _tensors(each)
    return found


class Ranks(Training):
    """One rank of a training whose operators are recorded."""

    now = 0

    def run(self) -> Any:
        """Trains, and gives the capture."""
        plan = self.plan
        self.rows = [super(Ranks, self)._rows(step) for step in range(-1, STEPS)]
        module = self._module()
        if plan.has("replica", self.rank):
            with torch.no_grad():
                chosen = sorted(module.parameters(), key=torch.numel)[-1]
                chosen.mul_(1.25)
        mine = {"rate": {"lr": 0.03}, "eps": {"eps": 1e-6} if plan.adam else {"momentum": 0.8}}
        how = {"lr": 0.02} if plan.adam else {"lr": 0.1, "momentum": 0.9}
        fault = plan.fault
        if fault is not None and fault.rank == self.rank:
            how |= mine.get(fault.kind, {})
        given = list(module.parameters()) or [torch.zeros(1)]
        optimizer: Any = (torch.optim.AdamW if plan.adam else torch.optim.SGD)(given, foreach=False, **how)
        struck = fault if fault is not None and fault.kind in BELOW and fault.rank == self.rank else None
        below = Below(struck, plan.seed) if struck else None
        with ExitStack() as stack:
            if below is not None:
                stack.enter_context(below)
            watch = TorchCapture(module, paths=True, gradients=True, graph=self.graph)
            for step in range(STEPS):
                self._step(watch, module, optimizer, step, below)
        return watch.capture()

    def _step(self, watch: Any, module: Any, optimizer: Any, step: int, below: Below | None) -> None:
        plan = self.plan
        torch.manual_seed(77 * plan.seed + step + 1000 * self.rank * (plan.layout not in ("tensor", "both")))
        if plan.has("seed", self.rank, step):
            torch.manual_seed(5_000 + plan.seed)
        self.now = step
        if below is not None:
            below.begin(step)
        held = []
        if plan.has("frozen", self.rank, step):
            held = optimizer.param_groups[0]["params"]
            optimizer.param_groups[0]["params"] = [*held[:-2], *held[-1:]] if len(held) > 1 else []
        self.order = self._order(module)
        self.ready = self._drawn_rows(step)
        with watch.step(results=plan.layout != "pipeline") as returned:
            module.zero_grad()
            self._pass(module, step, returned)
            self._reduce(module)
            if plan.layout in ("data", "ddp", "sequence"):
                most = 0.5 if plan.has("clip", self.rank) else 0.05
                nn.utils.clip_grad_norm_(module.parameters(), most, foreach=False)
            optimizer.step()
        if held:
            optimizer.param_groups[0]["params"] = held

    def _rows(self, step: int) -> list[Any]:
        return self.ready

    def _drawn_rows(self, step: int) -> list[Any]:
        plan = self.plan
        if plan.has("batch", self.rank, step):
            return self.rows[step]
        if plan.has("sampler", self.rank, step):
            return [
                tuple(each.flip(1 if plan.layout == "sequence" else 0) for each in pair) for pair in self.rows[step + 1]
            ]
        if plan.has("shard", self.rank, step):
            shifted = Training(replace(plan, fault=Fault("data", self.rank, step)), 0)
            return shifted._rows(step)
        return self.rows[step + 1]

    def _pass(self, module: Any, step: int, returned: Any) -> None:
        plan = self.plan
        if plan.layout == "pipeline" or plan.has("dropped"):
            super()._pass(module, step, returned)
            return
        rows = self._rows(step)
        for at, (given, wanted) in enumerate(rows):
            last = at + 1 == len(rows)
            waits = plan.layout == "ddp" and not last and not plan.has("synced early", step=step)
            waits = waits or plan.has("never synced", step=step)
            with module.no_sync() if waits else nullcontext():
                value = loss(module(given), wanted)
                returned(value, "loss")
                (value * (plan.ranks if plan.has("loss scaled") else 1) / plan.micro).backward()

    def _order(self, module: Any) -> list[str]:
        """The order in which gradients are reduced."""
        order = [name for name, _ in module.named_parameters()]
        if self.plan.has("order", self.rank, self.now):
            a, b = map(order.index, pair_of(self.plan))
            order[a], order[b] = order[b], order[a]
        return order

    def _module(self) -> Any:
        plan = self.plan
        whole = blocks(plan.network, plan.seed, plan.dropout)
        if plan.layout != "ddp":
            return super()._module()
        if plan.network == "convolution":
            whole[1] = nn.BatchNorm1d(6)
        return nn.parallel.DistributedDataParallel(
            whole, bucket_cap_mb=1e-3, forward_sync_buffers=not plan.has("buffer")
        )

    def _reduce(self, module: Any) -> None:
        plan = self.plan
        if plan.layout not in ("data", "sequence"):
            super()._reduce(module)
            return
        group, count = None, plan.ranks
        if plan.has("group"):
            halves = [list(range(plan.ranks // 2)), list(range(plan.ranks // 2, plan.ranks))]
            self.groups = self.groups or [dist.new_group(each) for each in halves]
            group, count = self.groups[self.rank // (plan.ranks // 2)], plan.ranks // 2
        named = dict(module.named_parameters())
        for name in self.order:
            grad = named[name].grad
            if plan.has("unreduced") and plan.fault is not None and plan.fault.parameter == name:
                continue
            how = dist.ReduceOp.MAX if plan.has("largest for sum") else dist.ReduceOp.SUM
            dist.all_reduce(grad, how, group=group)
            for _ in range(0 if plan.has("unscaled") else 2 if plan.has("scaled twice") else 1):
                grad /= count


def pair_of(plan: Plan) -> tuple[str, str]:
    """Two parameters of one shape."""
    shapes: dict[Any, list[str]] = {}
    for name, each in blocks(plan.network, plan.seed).named_parameters():
        shapes.setdefault(each.shape, []).append(name)
    found = next(names for names in shapes.values() if len(names) > 1)
    return found[0], found[1]


def _fault(draw: random.Random, kind: str) -> Plan:
    layout = draw.choice(FAULTS[kind][0])
    networks, counts = LAYOUTS[layout]
    if kind == "tied":
        networks = ("language",)
    if kind == "buffer":
        networks = ("convolution",)
    if kind == "seed":
        networks = tuple(each for each in networks if each not in ("mlp", "convolution") or layout != "tensor")
    if kind == "order":
        networks = tuple(each for each in networks if each not in ("convolution", "fused", "mlp"))
    network = draw.choice(networks)
    ranks = 4 if kind == "group" else counts[-1] if draw.random() < 0.3 else counts[0]
    seed, step = draw.randrange(10**6), draw.randint(1, 2)
    weights = [name for name, _ in blocks(network, seed).named_parameters()]
    micro = 2 if kind in ("dropped", "synced early", "never synced") or layout == "pipeline" else 1
    if layout in ("ddp", "data") and kind not in ("dropped",):
        micro = max(micro, draw.choice((1, 1, 2)))
    parameter = str(draw.randrange(1000)) if kind in BELOW else draw.choice(weights)
    return Plan(
        network, layout, ranks, seed, micro, 0.3 if kind == "seed" else 0.0, draw.random() < 0.5,
        Fault(kind, draw.randrange(ranks), step, parameter),
    )  # fmt: skip


def faults(count: int, seed: int) -> list[Plan]:
    """Trainings with a fault each; kinds follow in turn."""
    draw = random.Random(seed)
    return [_fault(draw, list(FAULTS)[at % len(FAULTS)]) for at in range(count)]


def trained(plans: Sequence[Plan], ranks: int) -> dict[int, list[Any]]:
    """The records of all ranks, by the plan's place."""
    held: dict[str, Any] = {}

    def program() -> None:
        records = []
        for at, plan in enumerate(plans):
            training = Ranks(plan, at)
            records += training.run().records()
            dist.barrier()
        held["capture"] = Capture("ranks", "torch", False, records, "tensor", {})

    captures, _ = torch_ranks.run(ranks, program, lambda: held["capture"])
    found: dict[int, list[Any]] = {}
    for each in captures:
        for record in each.records():
            found.setdefault(record.key.graph, []).append(record)
            record.key = record.key._replace(graph=0)
    return found


def told(plans: Sequence[Plan]) -> Iterator[tuple[Plan, Run, RanksReport, RanksReport, bool]]:
    """Each plan, its golden, what is said beside it, and of the run alone."""
    for mine in _launches(plans):
        ranks = mine[0].ranks
        goldens, found = trained([replace(each, fault=None) for each in mine], ranks), trained(mine, ranks)
        for at, plan in enumerate(mine):
            golden, run = Run(goldens[at]), Run(found[at])
            same = all(_bits(golden, rank) == _bits(run, rank) for rank in golden.ranks)
            yield plan, golden, beside(golden, run), alone(run), same


def _launches(plans: Sequence[Plan]) -> Iterator[list[Plan]]:
    """Plans of one number of ranks, a few at a time."""
    for ranks in sorted({plan.ranks for plan in plans}):
        mine = [plan for plan in plans if plan.ranks == ranks]
        yield from (mine[at : at + _AT_ONCE] for at in range(0, len(mine), _AT_ONCE))


def _bits(run: Run, rank: int) -> list[Any]:
    return sorted((each.place, each.read, each.made, each.said) for each in run.timeline[rank])


def cause_of(report: RanksReport) -> str:
    """The cause of the first finding; empty if there is none."""
    return report.first.cause.name if report.first is not None and report.first.cause is not None else ""


def place_fits(plan: Plan, golden: Run, first: Execution) -> bool:
    """Whether the first finding lies where the fault is."""
    fault = plan.fault
    assert fault is not None
    line = [each for each in golden.timeline[first.rank] if each.iteration == first.iteration]
    if fault.kind in BELOW:
        wanted = [e for e in line if (e.op_type in _MATRICES if fault.kind == "bit in an operator"
                                      else e.kind in _kinds(fault.kind))]  # fmt: skip
        chosen = wanted[int(fault.parameter) % len(wanted)]
        return first.iteration == fault.step and first.operator == chosen.operator
    optimizer = "optimizer-" in first.operator
    if fault.kind in ("rate", "eps"):
        return first.iteration == 0 and optimizer
    if fault.kind == "frozen":
        return first.iteration == fault.step and optimizer
    if fault.kind == "clip":
        return first.iteration == 0 and first.op_type in ("div", "mul", "reciprocal", "clamp")
    if fault.kind in ("unscaled", "scaled twice"):
        return first.iteration == 0 and first.op_type == "div_"
    if fault.kind == "loss scaled":
        return first.iteration == 0 and first.op_type == "mul"
    if fault.kind in ("group", "largest for sum"):
        return first.iteration == 0 and first.kind == "all_reduce"
    if fault.kind == "unreduced":
        names = [name for name, _ in blocks(plan.network, plan.seed).named_parameters()]
        calls = [each for each in line if each.kind == "all_reduce"]
        return first.iteration == 0 and first is calls[names.index(fault.parameter)]
    if fault.kind == "tied":
        return first.iteration == 0 and first.kind == "all_reduce"
    if fault.kind == "order":
        return first.iteration == fault.step and first.kind == "all_reduce"
    if fault.kind == "replica":
        return first.iteration == 0
    if fault.kind == "seed":
        return first.iteration == fault.step and any(word in first.op_type for word in ("bernoulli", "dropout"))
    if fault.kind == "buffer":
        return first.iteration == 0 and first.at < 40
    if fault.kind in ("synced early", "never synced"):
        return first.iteration == fault.step
    return first.iteration == fault.step and not first.operator.startswith("Gradients")


def judged(plan: Plan, golden: Run, report: RanksReport, own: RanksReport, same: bool) -> dict[str, bool]:
    """What of a report is right; ``same``: whether all bits are the golden's, so that there is nothing to see."""
    fault, first = plan.fault, report.first
    assert fault is not None
    if first is None:
        return {"seen": False, "without effect": same}
    who = set(first.ranks)
    everyone = set(range(plan.ranks))
    if fault.kind == "tied":
        everyone = {0, plan.ranks - 1}
    wanted = everyone if fault.kind in (*EVERYWHERE, "tied") else {fault.rank}
    if fault.kind == "dropped" and plan.layout == "pipeline":
        wanted = set(range(plan.ranks))
    accepted = {FAULTS[fault.kind][1]}
    if fault.kind == "group":
        accepted |= {"group"}
    cause = cause_of(report)
    return {
        "seen": True, "rank": who == wanted, "place": place_fits(plan, golden, first.execution),
        "cause": cause in accepted,
        "false": bool(cause) and cause not in accepted,
        "false alone": own.first is not None and cause_of(own) not in (*accepted, "replicated"),
        "others": bool(report.others),
    }  # fmt: skip


def main() -> int:
    """Trains and judges; 1 where something was told otherwise than it is."""
    count, seed, clean = (int(each) for each in [*sys.argv[1:], *("50", "0", "0")[len(sys.argv) - 1 :]])
    counts: Counter[str] = Counter()
    if count:
        for plan, golden, report, own, same in told(faults(count, seed)):
            held = judged(plan, golden, report, own, same)
            counts += Counter({what: int(yes) for what, yes in held.items()})
            bad = not all(held.get(what) for what in ("seen", "rank", "place", "cause")) or any(
                held.get(what) for what in ("false", "false alone", "others")
            )
            if bad:
                print(plan, [what for what, yes in held.items() if not yes], [w for w, yes in held.items() if yes])
                print(*(f"   {each}" for each in lines(report)), sep="\n")
                if held.get("false alone"):
                    print("  ALONE", *(f"   {each}" for each in lines(own)), sep="\n")
        print(f"{count} faults, seed {seed}: {dict(counts)}")
    alarms = 0
    for plan, _, report, own, _ in told([replace(each, fault=None) for each in faults(clean, seed + 1)]):
        if report.first is not None or own.first is not None:
            alarms += 1
            print(plan, *lines(report), *lines(own), sep="\n  ")
    print(f"{clean} clean runs: {alarms} alarms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
