"""Drawn trainings of the emulator in drawn layouts of several ranks, with a fault of parallel training on purpose."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness import Parameter, Tensor, communication, context, nn, ops, set_seed
from harness.backends import BACKENDS
from harness.explain.layouts import beside_one, table_of
from harness.explain.ranks import RanksReport, Run, lines, run_of

Array = np.ndarray[Any, np.dtype[Any]]
WIDTH, INNER, ROWS, TOKENS, HEADS, STEPS = 8, 16, 8, 4, 4, 3
#: optimizer -> its settings
OPTIMIZERS = {"Momentum": (0.05, 0.9), "Adam": (0.02,), "SGD": (0.05,), "RMSProp": (0.01,), "Adagrad": (0.1, 0.05)}
#: layout -> numbers of ranks
LAYOUTS = {"data": (2, 4), "tensor": (2, 4), "hybrid": (4,), "sequence": (2, 4)}
#: fault -> the layouts that can have it, and the cause that it is told as
FAULTS = {
    "unreduced": (("data", "sequence", "hybrid"), "not-reduced"),
    "one unreduced": (("data", "sequence", "hybrid"), "not-reduced"),
    "sum for mean": (("data", "sequence", "hybrid"), "scale"),
    "world for group": (("hybrid",), "scale"),
    "reduced twice": (("data", "sequence", "hybrid"), "scale"),
    "half a group": (("data", "sequence"), "group"),
    "stale": (("data", "tensor", "hybrid", "sequence"), "stale"),
    "rows": (("data", "hybrid", "sequence"), "shard"),
    "batch": (("data", "hybrid", "sequence"), "stale"),
    "dropped": (("data",), "micro-batch"),
    "micro scale": (("data",), "scale"),
    "missing forward": (("tensor", "hybrid"), "not-reduced"),
    "missing backward": (("tensor", "hybrid"), "not-reduced"),
    "mean forward": (("tensor", "hybrid"), "scale"),
    "mean backward": (("tensor", "hybrid"), "scale"),
    "bias on each": (("tensor", "hybrid"), "scale"),
    "other group": (("hybrid",), "group"),
    "exchanged": (("tensor", "hybrid"), "shard"),
    "strided": (("tensor", "hybrid"), "shard"),
    "seed": (("tensor",), "seed"),
    "replica": (("data", "tensor", "hybrid"), "replicated"),
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """A training.

    Attributes:
        seed: of everything drawn.
        layout: one of ``LAYOUTS``, or ``one``.
        ranks: how many.
        blocks: the kinds of its blocks.
        optimizer: one of ``OPTIMIZERS``.
        micro: micro-batches of a rank.
        fault: one of ``FAULTS``, or empty.
        rank, step, which: where it is.
    """

    seed: int
    layout: str
    ranks: int
    blocks: tuple[str, ...]
    optimizer: str
    micro: int = 1
    fault: str = ""
    rank: int = 0
    step: int = 1
    which: int = 0

    @property
    def by(self) -> tuple[int, int]:
        """Over how many ranks rows and tensors are cut."""
        if self.layout == "hybrid":
            return self.ranks // 2, 2
        return {"one": (1, 1), "tensor": (1, self.ranks)}.get(self.layout, (self.ranks, 1))

    def has(self, *kinds: str, rank: int | None = None, block: int | None = None) -> bool:
        """Whether a fault of these kinds is due here."""
        if self.fault not in kinds or (rank is not None and rank != self.rank):
            return False
        return block is None or block == self.which % len(self.blocks)


def drawn(seed: int, fault: str = "", layout: str = "") -> Plan:
    """A training of ``seed``, with a fault of a kind."""
    draw = np.random.default_rng([seed, 390])
    layout = layout or str(draw.choice(FAULTS[fault][0] if fault else [*LAYOUTS]))
    ranks = 4 if fault == "half a group" else int(draw.choice(LAYOUTS[layout]))
    kinds = ["dense", "gated", "attention", "norm"] if layout != "sequence" else ["dense", "gated", "norm"]
    blocks = [f"{draw.choice(kinds)}{'+' * int(draw.integers(2))}" for _ in range(int(draw.integers(1, 4)))]
    if fault in ("missing backward", "mean backward"):
        blocks = ["norm", *blocks]  # something lies before what is cut
    if fault == "seed" or (layout == "tensor" and draw.random() < 0.3):
        blocks.insert(int(draw.integers(len(blocks) + 1)), "drop")
    if all(each.startswith(("norm", "drop")) for each in blocks):
        blocks.append("dense")
    which = int(draw.integers(1000))
    cut = [at for at, each in enumerate(blocks) if not each.startswith(("norm", "drop"))]
    if layout in ("tensor", "hybrid") and fault not in ("stale", "replica", "one unreduced"):
        which = cut[which % len(cut)]
    micro = 2 if fault in ("dropped", "micro scale") else 1 + int(layout == "data" and draw.random() < 0.3)
    return Plan(
        seed, layout, ranks, tuple(blocks), str(draw.choice([*OPTIMIZERS])), micro, fault,
        int(draw.integers(ranks)), int(draw.integers(1, STEPS)), which,
    )  # fmt: skip


#: parameters that ranks have parts of, and the axis
_CUT = {"first": 0, "gate": 0, "third": 0, "slope": 0, "second": 1}


class _Into(nn.Cell):
    """Into a part that ranks share: gradients are summed."""

    def __init__(self, group: str, scale: float) -> None:
        super().__init__()
        self.total, self.scale = ops.AllReduce(group=group), scale

    def construct(self, x: Any) -> Any:
        return x * 1

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (self.total(dout) if self.scale == 1 else self.total(dout) * self.scale,)


class _Out(nn.Cell):
    """Out of it: results are summed, gradients are not."""

    def __init__(self, group: str, scale: float) -> None:
        super().__init__()
        self.total, self.scale = ops.AllReduce(group=group), scale

    def construct(self, x: Any) -> Any:
        return self.total(x) if self.scale == 1 else self.total(x) * self.scale

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout,)


class _Block(nn.Cell):
    """One block; its inner width, or its heads, are cut over ranks."""

    def __init__(self, plan: Plan, at: int, draw: Any, part: int, groups: Sequence[str], rank: int) -> None:
        super().__init__()
        self.kind, self.residual = plan.blocks[at].rstrip("+"), plan.blocks[at].endswith("+")
        parts = plan.by[1]
        self.heads = HEADS // parts
        inner = WIDTH if self.kind == "attention" else INNER

        def weight(name: str, *shape: int, axis: int | None = None) -> Any:
            whole = (draw.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)
            mine = part
            if axis is not None:
                if plan.has("exchanged", block=at) and name == "first" and part in (0, 1):
                    mine = 1 - part
                if plan.has("strided", block=at) and name == "first":
                    whole = np.concatenate([whole[row::parts] for row in range(parts)])  # every so many rows
                whole = np.split(whole, parts, axis)[mine]
            return Parameter(Tensor(np.ascontiguousarray(whole)), name=name)

        if self.kind == "norm":
            self.norm = nn.LayerNorm((WIDTH,))
        elif self.kind == "drop":
            self.drop = nn.Dropout(p=0.4)
        else:
            self.first = weight("first", inner, WIDTH, axis=0)
            if self.kind != "dense":
                self.gate = weight("gate", inner, WIDTH, axis=0)
            if self.kind == "attention":
                self.third = weight("third", inner, WIDTH, axis=0)
            self.second, self.shift = weight("second", WIDTH, inner, axis=1), weight("shift", WIDTH)
            if self.kind == "dense":
                self.slope = weight("slope", inner, axis=0)
        self.early = plan.has("bias on each", block=at)
        cut = parts > 1 and self.kind not in ("norm", "drop")
        group = groups[0 if plan.has("other group", block=at) else 1]
        into = cut and not plan.has("missing backward", block=at)
        out = cut and not plan.has("missing forward", block=at)
        self.into = _Into(group, 1 / parts if plan.has("mean backward", block=at) else 1) if into else nn.Identity()
        self.out = _Out(group, 1 / parts if plan.has("mean forward", block=at) else 1) if out else nn.Identity()

    def construct(self, x: Any) -> Any:
        if self.kind == "norm":
            return self.norm(x)
        if self.kind == "drop":
            return self.drop(x)
        y = self.into(x)
        if self.kind == "attention":
            h = self._attention(y)
        elif self.kind == "gated":
            h = ops.sigmoid(ops.matmul(y, self.gate.T)) * ops.matmul(y, self.first.T)
        else:
            h = ops.tanh(ops.matmul(y, self.first.T) + self.slope)
        z = ops.matmul(h, self.second.T)
        z = self.out(z + self.shift) if self.early else self.out(z) + self.shift
        return x + z if self.residual else z

    def _attention(self, y: Any) -> Any:
        shape = (ROWS if y.shape[0] == ROWS else y.shape[0], y.shape[1], self.heads, WIDTH // HEADS)
        q, k, v = (
            ops.transpose(ops.reshape(ops.matmul(y, each.T), shape), (0, 2, 1, 3))
            for each in (self.first, self.gate, self.third)
        )
        scores = ops.softmax(ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))))
        made = ops.transpose(ops.matmul(scores, v), (0, 2, 1, 3))
        return ops.reshape(made, (y.shape[0], y.shape[1], -1))


class _Reduced(nn.Cell):
    """What becomes of one gradient."""

    def __init__(self, group: str | None, scale: float, twice: bool) -> None:
        super().__init__()
        self.scale, self.twice = scale, twice
        self.total = ops.AllReduce(group=group) if group else None

    def construct(self, g: Any) -> Any:
        if self.total is not None:
            g = self.total(g)
            if self.twice:
                g = self.total(g)
        return g if self.scale == 1 else g * self.scale


class _Step(nn.Cell):
    """One step of a training: micro-batches, reductions, the optimizer."""

    def __init__(self, net: Any, optimizer: Any, reduced: list[_Reduced], plan: Plan, rank: int) -> None:
        super().__init__()
        self.net, self.optimizer, self.reduced = net, optimizer, nn.CellList(reduced)
        self.weights, self.micro, self.dropped = optimizer.parameters, plan.micro, plan.has("dropped", rank=rank)
        self.share = 1 if plan.has("micro scale") else 1 / plan.micro
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, x: Any, y: Any) -> Any:
        rows = x.shape[0] // self.micro
        total: Any = None
        for at in range(self.micro - int(self.dropped)):
            some = slice(at * rows, (at + 1) * rows)
            mine = self.grad(self.net, self.weights)(x[some], y[some])
            total = mine if total is None else tuple(a + b for a, b in zip(total, mine, strict=True))
        if self.share != 1:
            total = tuple(each * self.share for each in total)
        return self.optimizer(tuple(each(g) for each, g in zip(self.reduced, total, strict=True)))


def _train(plan: Plan) -> list[str]:
    """A rank's training; gives the names of its parameters."""
    context.set_context(mode=context.GRAPH_MODE)
    rank, groups = 0, ("", "")
    if plan.layout != "one":
        communication.init()
        rank = communication.get_rank()
        groups = _grouped(plan, rank)
    shares, parts = plan.by
    share, part = divmod(rank, parts)
    set_seed(plan.seed + 7 * int(plan.has("seed", rank=rank)))
    draw = np.random.default_rng([plan.seed, 1])
    blocks = [_Block(plan, at, draw, part, groups, rank) for at in range(len(plan.blocks))]
    ended = nn.Dense(WIDTH, 4, Tensor(draw.normal(size=(4, WIDTH)).astype(np.float32)), "zeros")
    net = nn.SequentialCell([*blocks, ended])
    weights = net.trainable_params()
    wide = [each for each in weights if each.name.rpartition(".")[2] not in _CUT]
    if plan.has("replica", rank=rank):
        chosen = wide[plan.which % len(wide)]
        chosen.set_data(Tensor(chosen.asnumpy() * np.float32(1.25) + np.float32(0.01)))
    kind = plan.optimizer
    optimizer = getattr(nn, kind)(weights, *OPTIMIZERS[kind][: 1 + (kind == "Momentum")])
    alone = weights[plan.which % len(weights)].name
    reduced = [_reduced(plan, groups, each.name == alone) for each in weights]
    whole = nn.WithLossCell(net, nn.MSELoss())
    step = _Step(whole, optimizer, reduced, plan, rank)
    step.set_train()
    held = weights[plan.which % len(weights)]
    before = held.asnumpy().copy()
    for iteration in range(STEPS):
        due = iteration == plan.step
        at = iteration - int(due and plan.has("batch", rank=rank))
        mine = (share + int(due and plan.has("rows", rank=rank))) % shares
        data = np.random.default_rng([plan.seed, 2, at])
        rows = [data.normal(size=(ROWS, TOKENS, n)).astype(np.float32) for n in (WIDTH, 4)]
        rows = [np.ascontiguousarray(np.split(each, shares, int(plan.layout == "sequence"))[mine]) for each in rows]
        if due and plan.has("stale", rank=rank):
            held.set_data(Tensor(before))
        before = held.asnumpy().copy()
        step(*map(Tensor, rows))
    return [each.name for each in weights]


def _grouped(plan: Plan, rank: int) -> tuple[str, str]:
    """The groups of the ranks that hold the same parts, and of those that hold the parts of one row."""
    world = "mccl_world_group"
    if plan.layout == "tensor":
        return world, world
    size = plan.ranks // 2
    if plan.has("half a group"):
        name = f"half{rank // size}"
        communication.create_group(name, [rank // size * size + at for at in range(size)])
        return name, name
    if plan.layout != "hybrid":
        return world, world
    same, pair = f"same{rank % 2}", f"pair{rank // 2}"
    communication.create_group(same, [rank % 2, rank % 2 + 2])
    communication.create_group(pair, [rank // 2 * 2, rank // 2 * 2 + 1])
    return same, pair


def _reduced(plan: Plan, groups: tuple[str, str], alone: bool) -> _Reduced:
    shares = plan.by[0]
    if shares == 1 or plan.has("unreduced") or (plan.has("one unreduced") and alone):
        return _Reduced(None, 1, False)
    count = shares // 2 if plan.has("half a group") else plan.ranks if plan.has("world for group") else shares
    return _Reduced(groups[0], 1 if plan.has("sum for mean") else 1 / count, plan.has("reduced twice"))


def run(plan: Plan) -> tuple[Run, list[str]]:
    """Trains; gives the run and the names of the parameters."""
    with BACKENDS.get("cpu").open(network="net") as process:
        names = process.ranks(plan.ranks, lambda: _train(plan))
        return run_of(process.capture()), names[0]


def table(plan: Plan) -> list[str]:
    """What a user declares: how ranks hold rows and tensors together, where there are both."""
    if plan.layout == "sequence":
        return ["[xy]:* = Shard(1)"]
    if plan.layout != "hybrid":
        return []
    cut = [f"*.{name}:* = Shard({axis})@0,1|2,3" for name, axis in _CUT.items()]
    return [*cut, "[xy]:* = Shard(0)@0,2|1,3"]


def told(plan: Plan) -> tuple[RanksReport, list[str]]:
    """What is said of a training beside one rank; and the names of the parameters."""
    one, names = run(replace(plan, layout="one", ranks=1, micro=1, fault=""))
    return beside_one(run(plan)[0], one, table_of(table(plan))), names


def place_of(plan: Plan, names: Sequence[str]) -> set[str]:
    """The operators where a fault may show first; empty where that is the network's own."""
    if plan.fault in ("rows", "batch"):
        return {"x", "y"}
    name = names[plan.which % len(names)]
    if plan.fault == "one unreduced":
        return {f"{name}.grad"}
    if plan.fault == "stale":
        return {name}
    if plan.fault == "replica":
        wide = [each for each in names if each.rpartition(".")[2] not in _CUT]
        return {wide[plan.which % len(wide)]}
    if plan.fault in ("exchanged", "strided"):
        return {each for each in names if each.endswith(f"{plan.which % len(plan.blocks)}.first")}
    if plan.fault in ("unreduced", "sum for mean", "world for group", "reduced twice", "half a group"):
        return {f"{each}.grad" for each in names}
    return set()


def judged(plan: Plan, report: RanksReport, names: Sequence[str]) -> dict[str, bool]:
    """Whether place and cause are right, and whether something false was stated."""
    first = report.first
    if first is None:
        return {"seen": False, "origin": False, "cause": False, "false": False}
    said = first.cause.name if first.cause is not None else ""
    wanted = FAULTS[plan.fault][1] if plan.fault else ""
    moment = plan.step if plan.fault in ("stale", "rows", "batch") else 0
    places = place_of(plan, names)
    right = not places or first.execution.operator in places
    return {
        "seen": True, "origin": right and first.execution.iteration == moment, "cause": said == wanted,
        "false": bool(said) and said != wanted,
    }  # fmt: skip


def main() -> int:
    """``python -m tests.explain.layouts.emulated COUNT SEED [RIGHT]``: faults in turn, and right layouts."""
    count, seed, right = (int(each) for each in [*sys.argv[1:], *("40", "0", "0")[len(sys.argv) - 1 :]])
    counts: Counter[str] = Counter()
    kinds = [*FAULTS]
    for at in range(count):
        plan = drawn(seed + at, kinds[at % len(kinds)])
        report, names = told(plan)
        held = judged(plan, report, names)
        counts += Counter({what: int(is_so) for what, is_so in held.items()})
        if held["false"] or not (held["origin"] and held["cause"]):
            print(plan, held, *(f"  {each}" for each in lines(report)), sep="\n", flush=True)
    print(f"{count} faults, seed {seed}: {dict(counts)}")
    alarms = 0
    for at in range(right):
        plan = drawn(seed + 100_000 + at)
        report, _ = told(plan)
        if report.first is not None:
            alarms += 1
            print(plan, *(f"  {each}" for each in lines(report)), sep="\n", flush=True)
    print(f"{right} right layouts: {alarms} alarms")
    return int(bool(alarms))


if __name__ == "__main__":
    raise SystemExit(main())
