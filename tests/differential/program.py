"""Programs as data: cells, their statements and how the network is run. They are written out as source, and shrunk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Var:
    """A value of a construct: its name, shape and dtype (as MindSpore's module names it)."""

    name: str
    shape: Shape
    dtype: str = "float32"

    @property
    def kind(self) -> tuple[Shape, str]:
        """What another value must have to stand in its place."""
        return self.shape, self.dtype


@dataclass(frozen=True)
class Statement:
    """``outs = text``; ``{0}``, ``{1}`` in the text stand for the arguments, ``{0}`` in ``lines`` (a block) too.

    Attributes:
        attributes: what ``__init__`` makes for it: attribute -> source.
        methods: lines of a method of the class that it calls.
    """

    text: str
    args: tuple[str, ...]
    outs: tuple[Var, ...]
    attributes: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def source(self) -> list[str]:
        """Its lines."""
        if self.lines:
            names = [*self.args, *(out.name for out in self.outs)]
            return [line.format(*names) for line in self.lines]
        return [f"{', '.join(out.name for out in self.outs)} = {self.text.format(*self.args)}"]


@dataclass(frozen=True)
class CellDef:
    """A class: parameters of its construct, statements, and what it gives; or a function of the module."""

    name: str
    params: tuple[Var, ...]
    body: tuple[Statement, ...]
    results: tuple[Var, ...]
    kind: str = "cell"

    def source(self) -> str:
        """The class, or the function."""
        if self.kind == "function":
            lines = [f"def {self.name}({', '.join(p.name for p in self.params)}):"]
            lines += [f"    {line}" for statement in self.body for line in statement.source()]
            return "\n".join([*lines, f"    return {', '.join(r.name for r in self.results)}", "", ""])
        made: dict[str, str] = {}
        for statement in self.body:
            made.update(statement.attributes)
        lines = [f"class {self.name}(nn.Cell):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        self.{name} = {text}" for name, text in made.items()]
        lines += ["", f"    def construct(self, {', '.join(p.name for p in self.params)}):"]
        lines += [f"        {line}" for statement in self.body for line in statement.source()]
        lines += [f"        return {', '.join(r.name for r in self.results)}", ""]
        for statement in self.body:
            lines += [*(f"    {line}" for line in statement.methods), ""] if statement.methods else []
        return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Program:
    """A whole program.

    Attributes:
        cells: classes, each before those that use it; the last is the network.
        run: how it is run, a key of ``RUNS``.
        mode: 0 for graph mode, 1 for PyNative.
        optimizer: source of the optimizer, with ``{}`` for the parameters.
        loss: source of the loss.
        seed: of weights and inputs.
    """

    cells: tuple[CellDef, ...]
    run: str
    mode: int = 0
    optimizer: str = "nn.SGD({}, learning_rate=0.1)"
    loss: str = "nn.MSELoss()"
    seed: int = 0
    steps: int = 2

    @property
    def net(self) -> CellDef:
        """The network."""
        return self.cells[-1]

    def source(self) -> str:
        """The program's text."""
        parts = [HEAD.format(seed=self.seed, mode=self.mode), *(cell.source() for cell in self.used())]
        names = [f"a{i}" for i in range(len(self.net.params))]
        parts += [f"{n} = given({p.shape}, np.{p.dtype})\n" for n, p in zip(names, self.net.params, strict=True)]
        labels = (
            "np.arange({0}, dtype=np.int32) % {1}"
            if "Entropy" in self.loss
            else "random.randn({0}, {1}).astype(np.float32)"
        )
        shape = self.net.results[0].shape if len(self.net.results[0].shape) == 2 else (1, 1)
        inner = ", ".join(names)
        parts.append(
            f"net = {self.net.name}()\n"
            + RUNS[self.run].format(
                args=inner, steps=self.steps, loss=self.loss, label=labels.format(*shape),
                optimizer=self.optimizer.format("net.trainable_params()"),
            )
        )  # fmt: skip
        return "\n".join(parts)

    def used(self) -> list[CellDef]:
        """The classes the network needs."""
        needed, found = {self.net.name}, []
        for cell in reversed(self.cells):
            if cell.name in needed:
                found.append(cell)
                needed |= set(re.findall(r"\b[A-Za-z]\w*\b", cell.source()))
        return found[::-1]


HEAD = """\
import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, mint, nn, ops

ms.set_context(mode={mode})
ms.set_seed(1)
np.random.seed({seed})
random = np.random.RandomState({seed})


def given(shape, dtype):
    if dtype == np.int32:
        return Tensor(random.randint(0, 3, shape).astype(np.int32))
    return Tensor(random.randn(*shape).astype(dtype))


def shown(value):
    if isinstance(value, (tuple, list)):
        for member in value:
            shown(member)
    else:
        array = value.asnumpy() if isinstance(value, Tensor) else np.array(value)
        numbers = np.asarray(array, np.float64)
        print(array.dtype, list(array.shape), "%.4g" % np.abs(numbers).sum(), "%.4g" % np.abs(numbers).max(initial=0))

"""

RUNS = {
    "forward": "for _ in range({steps}):\n    shown(net({args}))\n",
    "jit": (
        "@ms.jit\ndef run(*inputs):\n    return net(*inputs)\n\n\n"
        "for _ in range({steps}):\n    shown(run({args}))\n"
    ),
    "grad": "shown(ms.grad(net)({args}))\n",
    "grad_all": "shown(ops.GradOperation(get_all=True)(net)({args}))\n",
    "step": (
        "step = nn.TrainOneStepCell(nn.WithLossCell(net, {loss}), {optimizer})\nstep.set_train()\n"
        "label = Tensor({label})\nfor _ in range({steps}):\n    shown(step({args}, label))\n"
    ),
    "value_and_grad": (
        "loss_fn = {loss}\noptimizer = {optimizer}\nlabel = Tensor({label})\n\n\n"
        "def forward(x, y):\n    return loss_fn(net(x), y)\n\n\n"
        "gradient = ms.value_and_grad(forward, None, optimizer.parameters)\n\n\n"
        "@ms.jit\ndef step(x, y):\n    loss, grads = gradient(x, y)\n    optimizer(grads)\n    return loss\n\n\n"
        "net.set_train()\nfor _ in range({steps}):\n    shown(step({args}, label))\n"
    ),
    "clipped": (
        "class Step(nn.Cell):\n    def __init__(self, net, optimizer):\n        super().__init__(auto_prefix=False)\n"
        "        self.net, self.optimizer = net, optimizer\n        self.weights = optimizer.parameters\n"
        "        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)\n\n"
        "    def construct(self, x, y):\n        loss = self.net(x, y)\n"
        "        sens = ops.fill(loss.dtype, loss.shape, 2.0)\n"
        "        grads = self.grad(self.net, self.weights)(x, y, sens)\n"
        "        grads = ops.clip_by_global_norm(grads, 1.0)\n        return ops.depend(loss, self.optimizer(grads))\n"
        "\n\nstep = Step(nn.WithLossCell(net, {loss}), {optimizer})\nstep.set_train()\n"
        "label = Tensor({label})\nfor _ in range({steps}):\n    shown(step({args}, label))\n"
    ),
    "has_aux": (
        "loss_fn = {loss}\noptimizer = {optimizer}\nlabel = Tensor({label})\n\n\n"
        "def forward(x, y):\n    out = net(x)\n    return loss_fn(out, y), out\n\n\n"
        "gradient = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)\n\n\n"
        "def step(x, y):\n    (loss, out), grads = gradient(x, y)\n    optimizer(grads)\n    return loss, out\n\n\n"
        "net.set_train()\nfor _ in range({steps}):\n    shown(step({args}, label))\n"
    ),
    "weights": "shown(ms.grad(net, 0, net.trainable_params())({args}))\n",
}  # fmt: skip


def smaller(program: Program) -> Iterator[Program]:
    """Programs that are simpler by one thing, the most first."""
    if program.run not in ("forward", "jit"):
        yield replace(program, run="forward")
    if program.steps > 1:
        yield replace(program, steps=1)
    if program.run in ("step", "value_and_grad"):
        for optimizer in ("nn.SGD({}, learning_rate=0.1)",):
            if program.optimizer != optimizer:
                yield replace(program, optimizer=optimizer)
        if program.loss != "nn.MSELoss()":
            yield replace(program, loss="nn.MSELoss()")
    for at in reversed(range(len(program.cells))):
        for cell in _smaller_cells(program.cells[at]):
            yield replace(program, cells=(*program.cells[:at], cell, *program.cells[at + 1 :]))


def _smaller_cells(cell: CellDef) -> Iterator[CellDef]:
    half = len(cell.body) // 2
    for first, last in ((half, len(cell.body)), (0, half)):
        if half > 1 and (found := _without(cell, range(first, last))) is not None:
            yield found
    for at in reversed(range(len(cell.body))):
        found = _without(cell, range(at, at + 1))
        if found is not None:
            yield found


def _without(cell: CellDef, gone: range) -> CellDef | None:
    """The class without some statements, their values replaced by others of their kind; None if there are none."""
    known = list(cell.params)
    names: dict[str, str] = {}
    body: list[Statement] = []
    for at, statement in enumerate(cell.body):
        args = tuple(names.get(a, a) for a in statement.args)
        if at not in gone:
            if any(a == "?" for a in args):
                return None
            body.append(replace(statement, args=args))
            known += statement.outs
            continue
        for out in statement.outs:
            stand_in = next((v for v in reversed(known) if v.kind == out.kind), None)
            names[out.name] = stand_in.name if stand_in is not None else "?"
    results = tuple(replace(r, name=names.get(r.name, r.name)) for r in cell.results)
    if any(r.name == "?" for r in results):
        return None
    return replace(cell, body=tuple(body), results=results)


@dataclass
class Shrinker:
    """Makes a program as small as it gets while it still fails.

    Attributes:
        fails: tells whether a program differs, in the way looked at.
        budget: how many programs are tried at most.
    """

    fails: object
    budget: int = 120
    tried: int = field(default=0)

    def shrink(self, program: Program) -> Program:
        """The smallest program found."""
        again = True
        while again and self.tried < self.budget:
            again = False
            for candidate in smaller(program):
                self.tried += 1
                if self.tried > self.budget:
                    break
                if self.fails(candidate):  # type: ignore[operator]
                    program, again = candidate, True
                    break
        return program
