"""One training in one layout: by data, by tensors, by stages, by shards of parameters; with a fault on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

from harness.capture.torch import TorchCapture
from harness.testing.layouts.networks import TOKENS, batch, blocks, loss

#: the steps of a training; faults of a moment come in a later one than the first
STEPS = 3


@dataclass(frozen=True)
class Fault:
    """A fault on purpose.

    Attributes:
        kind: one of ``plans.FAULTS``.
        rank: where, for kinds of one rank.
        step: when, for kinds of a moment.
        parameter: a parameter's name on the one rank, for kinds that need one.
    """

    kind: str
    rank: int = 0
    step: int = 0
    parameter: str = ""


@dataclass(frozen=True)
class Plan:
    """A training.

    Attributes:
        network: see ``networks.KINDS``.
        layout: one of ``plans.LAYOUTS``, or ``one``.
        ranks: how many; 1 for layout ``one``.
        seed: of parameters and data.
        micro: micro-batches of a rank.
        dropout: probability.
        adam: whether AdamW trains it; else SGD with momentum.
        fault: a fault.
    """

    network: str
    layout: str
    ranks: int
    seed: int
    micro: int = 1
    dropout: float = 0.0
    adam: bool = False
    fault: Fault | None = None

    def has(self, kind: str, rank: int | None = None, step: int | None = None) -> bool:
        """Whether a fault of this kind is due, here and now."""
        fault = self.fault
        if fault is None or fault.kind != kind:
            return False
        return (rank is None or fault.rank == rank) and (step is None or fault.step == step)


@dataclass
class Training:
    """One rank of a training.

    Attributes:
        plan: what is trained.
        graph: label of its operators.
        cuts: where stages begin and end.
    """

    plan: Plan
    graph: int
    watch: Any = None
    cuts: list[int] = field(default_factory=list)
    groups: Any = None

    @property
    def rank(self) -> int:
        """This process's."""
        return dist.get_rank() if self.plan.ranks > 1 else 0

    def run(self) -> Any:
        """Trains, and gives the capture."""
        plan = self.plan
        module = self._module()
        made: Any = torch.optim.AdamW if plan.adam else torch.optim.SGD
        how = {"lr": 0.02} if plan.adam else {"lr": 0.1, "momentum": 0.9}
        given = list(module.parameters()) or [torch.zeros(1)]  # a stage may have none
        optimizer = made(given, foreach=False, **how)
        self.watch = TorchCapture(module, paths=True, gradients=True, granularity="modules", graph=self.graph)
        for step in range(STEPS):
            torch.manual_seed(77 * plan.seed + step)
            if plan.has("seed", self.rank, step):
                torch.manual_seed(5_000 + plan.seed)
            with self.watch.step(results=plan.layout != "pipeline") as returned:
                optimizer.zero_grad()
                self._pass(module, step, returned)
                self._reduce(module)
                held = self._held(module, step)
                optimizer.step()
                for each, value in held:
                    with torch.no_grad():
                        _local(each).copy_(value)
        return self.watch.capture()

    def _module(self) -> Any:
        plan, layout = self.plan, self.plan.layout
        whole = blocks(plan.network, plan.seed, plan.dropout)
        if layout == "pipeline":
            return self._stage(whole)
        if layout == "ddp":
            return nn.parallel.DistributedDataParallel(whole, bucket_cap_mb=1e-3)
        if layout in ("tensor", "both"):
            mesh = init_device_mesh("cpu", (plan.ranks,) if layout == "tensor" else (plan.ranks // 2, 2),
                                    mesh_dim_names=("tp",) if layout == "tensor" else ("dp", "tp"))  # fmt: skip
            parallelize_module(whole, mesh["tp"], tensor_plan(plan.network))
            if plan.has("exchanged"):
                self._exchange(whole)
            if layout == "both":
                for each in _cut(whole):
                    fully_shard(each, mesh=mesh["dp"])
                fully_shard(whole, mesh=mesh["dp"])
        if layout == "fsdp":
            for each in _cut(whole):
                fully_shard(each)
            fully_shard(whole)
        return whole

    def _exchange(self, module: Any) -> None:
        """Two ranks load each other's shard of a weight."""
        fault = self.plan.fault
        assert fault is not None
        local = _local(dict(module.named_parameters())[fault.parameter])
        parts = [torch.empty_like(local) for _ in range(self.plan.ranks)]
        dist.all_gather(parts, local.detach().contiguous())
        pair = (fault.rank, (fault.rank + 1) % self.plan.ranks)
        if self.rank in pair:
            with torch.no_grad():
                local.copy_(parts[pair[1 - pair.index(self.rank)]])

    def _stage(self, whole: nn.Sequential) -> nn.Sequential:
        self.cuts = cuts(len(whole), self.plan.ranks)
        first, last = self.cuts[self.rank], self.cuts[self.rank + 1]
        return nn.Sequential(*list(whole)[first:last])

    def _rows(self, step: int) -> list[tuple[Tensor, Tensor]]:
        """This rank's micro-batches."""
        plan, rank = self.plan, self.rank
        whole = batch(plan.network, plan.seed, step)
        shares, mine, axis = plan.ranks, rank, 0
        if plan.layout == "both":
            shares, mine = plan.ranks // 2, rank // 2
        elif plan.layout in ("tensor", "one", "pipeline"):
            shares, mine = 1, 0
        elif plan.layout == "sequence":
            axis = 1
        if plan.has("data", rank, step):
            mine = (mine + 1) % shares
        rows = [each.chunk(shares, axis)[mine].contiguous() for each in whole]
        return list(zip(*(each.chunk(plan.micro) for each in rows), strict=True))

    def _pass(self, module: Any, step: int, returned: Any) -> None:
        plan = self.plan
        rows = self._rows(step)
        if plan.has("dropped", None, step) and (plan.layout == "pipeline" or plan.has("dropped", self.rank)):
            rows = rows[:-1]
        if plan.layout == "pipeline":
            self._pipeline(module, rows, returned)
            return
        for given, wanted in rows:
            value = loss(module(given), wanted)
            returned(value, "loss")
            scale = plan.ranks if plan.has("scale") and plan.layout in ("ddp", "fsdp") else 1
            (value * scale / plan.micro).backward()

    def _pipeline(self, module: Any, rows: Sequence[tuple[Tensor, Tensor]], returned: Any) -> None:
        """All micro-batches forward, then all backward."""
        held: list[tuple[Tensor | None, Tensor]] = []
        for given, wanted in rows:
            taken: Tensor | None = None
            if self.rank:
                taken = self._received(self.rank - 1).requires_grad_()
            made = module(given if taken is None else taken)
            if self.rank + 1 == self.plan.ranks:
                made = loss(made, wanted)
                returned(made, "loss")
                made = made / self.plan.micro
            else:
                self._send(made.detach(), self.rank + 1)
            held.append((taken, made))
        for taken, made in held:
            made.backward(None if self.rank + 1 == self.plan.ranks else self._received(self.rank + 1))
            if taken is not None and taken.grad is not None:
                self._send(taken.grad, self.rank - 1)

    def _send(self, value: Tensor, to: int) -> None:
        dist.send(torch.tensor([value.dim(), *value.shape, *[0] * (5 - value.dim())]), to)
        dist.send(value.contiguous(), to)

    def _received(self, whose: int) -> Tensor:
        about = torch.empty(6, dtype=torch.int64)
        dist.recv(about, whose)
        value = torch.empty(about[1 : 1 + int(about[0])].tolist())
        dist.recv(value, whose)
        return value

    def _reduce(self, module: Any) -> None:
        """The reductions that a layout by hand makes itself."""
        plan = self.plan
        if plan.layout == "pipeline" and plan.network == "language" and not plan.has("tied"):
            self._tie(module)
        if plan.layout not in ("data", "sequence"):
            return
        fault = plan.fault
        group, count = None, plan.ranks
        if plan.has("group"):
            halves = [list(range(plan.ranks // 2)), list(range(plan.ranks // 2, plan.ranks))]
            self.groups = self.groups or [dist.new_group(each) for each in halves]
            group, count = self.groups[self.rank // (plan.ranks // 2)], plan.ranks // 2
        for name, each in module.named_parameters():
            if fault is not None and fault.kind == "unreduced" and name == fault.parameter:
                continue
            dist.all_reduce(each.grad, group=group)
            if not plan.has("scale"):
                each.grad /= count

    def _tie(self, module: Any) -> None:
        """The gradients of the two copies of a tied weight are added."""
        ends = [0, self.plan.ranks - 1]
        self.groups = self.groups or dist.new_group(ends)
        if self.rank in ends:
            weight = module[0].weight if self.rank == 0 else module[-1].weight
            dist.all_reduce(weight.grad, group=self.groups)

    def _held(self, module: Any, step: int) -> list[tuple[Any, Tensor]]:
        """Parameters that this rank's optimizer will not have changed."""
        plan = self.plan
        found = []
        if plan.has("stale", self.rank, step) and plan.fault is not None:
            wanted = plan.fault.parameter
            for name, each in module.named_parameters():
                if name.removeprefix("module.") == wanted:
                    found.append((each, _local(each).detach().clone()))
        if plan.has("tied copy", None, step) and self.rank + 1 == plan.ranks:
            found.append((module[-1].weight, module[-1].weight.detach().clone()))
        return found


def _local(tensor: Any) -> Any:
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor.data


def _cut(whole: nn.Sequential) -> list[nn.Module]:
    """The blocks that hold parameters of their own; those that share one stay together."""
    seen: set[int] = set()
    found = []
    for each in whole:
        mine = {id(p) for p in each.parameters()}
        if (
            mine
            and not mine & seen
            and not any(mine & {id(p) for p in other.parameters()} for other in whole if other is not each)
        ):
            found.append(each)
        seen |= mine
    return found


def cuts(count: int, ranks: int) -> list[int]:
    """Where stages begin: as equal as can be."""
    return [count * rank // ranks for rank in range(ranks + 1)]


def tensor_plan(network: str) -> dict[str, Any]:
    """How a network is cut over ranks."""
    if network == "mlp":
        return {
            "0": ColwiseParallel(), "3": RowwiseParallel(output_layouts=Shard(1)), "4": SequenceParallel(),
            "5": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
        }  # fmt: skip
    gated, heads = {"gated": ((1, 2), ()), "attention": ((1,), (0, 2)), "language": ((1,), ())}[network]
    wide = [f"{at}.{each}" for at in gated for each in ("gate", "up")]
    wide += [f"{at}.{each}" for at in heads for each in "qkv"]
    narrow = [f"{at}.down" for at in gated] + [f"{at}.out" for at in heads]
    return {name: ColwiseParallel() for name in wide} | {name: RowwiseParallel() for name in narrow}


def table(plan: Plan) -> list[str]:
    """What a user declares of a layout: what no tensor states."""
    calls = "*/forward-op*:*", "Default/result*:*"
    if plan.layout in ("ddp", "data", "fsdp"):
        names = ["module -> "] if plan.layout == "ddp" else []
        return [*names, *(f"{each} = Shard(0)" for each in calls), "Default/loss:* = Partial(mean)"]
    if plan.layout == "sequence":
        return [*(f"{each} = Shard(1)" for each in calls), "Default/loss:* = Partial(mean)"]
    if plan.layout == "both":
        inner, outer = "@0,1|2,3", "@0,2|1,3"
        cut = [
            "*.[qkv]/forward-op*:output.0",
            "*.gate/forward-op*:output.0",
            "*.up/forward-op*:output.0",
            "*.down/forward-op*:input.0",
            "*.out/forward-op*:input.0",
        ]
        return [
            *(f"{each} = Shard(2){inner} Shard(0){outer}" for each in cut),
            *(f"{each} = Shard(0){outer}" for each in calls), f"Default/loss:* = Partial(mean){outer}",
        ]  # fmt: skip
    if plan.layout != "pipeline":
        return []
    whole = blocks(plan.network, plan.seed)
    found, edges = (
        ["Default/forward-op*:* = Ignore", "Default/result*:* = Ignore", "Default/loss:* = Partial(mean)"],
        cuts(len(whole), plan.ranks),
    )
    if plan.network == "language":
        found.append(f"{len(whole) - 1 - edges[-2]}.weight -> 0.weight @{plan.ranks - 1}")
    for rank in range(plan.ranks):
        found += [f"{at - edges[rank]} -> {at} @{rank}" for at in range(edges[rank], edges[rank + 1]) if edges[rank]]
    return found


def run_all(plans: Sequence[Plan]) -> Any:
    """Trains several plans of one number of ranks, one after the other; gives the captures."""
    found = [Training(plan, at).run() for at, plan in enumerate(plans)]
    if dist.is_initialized():
        dist.barrier()
    return found


__all__ = ["STEPS", "TOKENS", "Fault", "Plan", "Training", "run_all", "table"]
