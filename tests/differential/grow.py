"""Grows programs that MindSpore accepts, from a seed: operators with shapes, dtypes and attributes, nested and reused
cells, reused values, loops, both modes, gradients and training steps."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import prod

from tests.differential.forms import GROUPS, filled
from tests.differential.language import write
from tests.differential.program import CellDef, Program, Shape, Statement, Var
from tests.differential.registry import draw
from tests.differential.training import LOSSES, MORE_LOSSES, MORE_OPTIMIZERS, OPTIMIZERS

#: forms that keep shape and dtype, of a floating value
ALIKE = (
    "ops.relu({0})", "ops.tanh({0})", "ops.sigmoid({0})", "ops.sin({0})", "ops.cos({0})", "ops.abs({0})",
    "ops.neg({0})", "-{0}", "ops.square({0})", "ops.gelu({0})", "ops.silu({0})", "ops.erf({0})", "{0}.abs()",
    "ops.sqrt(ops.abs({0}) + 1)", "ops.log(ops.abs({0}) + 1)", "ops.rsqrt(ops.square({0}) + 1)", "{0}.tanh()",
    "ops.exp({0} * 0.1)", "ops.exp(-ops.abs({0}))", "ops.leaky_relu({0}, 0.2)", "ops.relu6({0})", "{0} + 1", "1 - {0}",
    "{0} * 2", "0.5 * {0}", "{0} / 3", "{0} - 0.5", "{0} ** 2", "1 / (ops.abs({0}) + 1)", "ops.clamp({0}, -1.0, 1.0)",
    "ops.sign({0})", "ops.floor({0})", "ops.softplus({0})", "ops.elu({0})", "ops.hardswish({0})", "ops.mish({0})",
    "{0} * {0}", "{0} + {0}", "ops.stop_gradient({0}) * {0}", "{0}.astype(ms.float16).astype(ms.float32)",
    "ops.cast(ops.cast({0}, ms.float16), ms.float32)", "ops.reciprocal(ops.abs({0}) + 2)", "ops.atan({0})",
    "ops.round({0})", "ops.log1p(ops.abs({0}))", "ops.logsigmoid({0})",
)  # fmt: skip
#: forms that keep shape and dtype and take the last axis
ALONG = (
    "ops.softmax({0}, axis=-1)", "ops.log_softmax({0}, axis=-1)", "ops.cumsum({0}, -1)", "{0} - {0}.mean(-1, True)",
    "{0} / ({0}.abs().sum(-1, keepdims=True) + 1)", "{0} - {0}.max(axis=-1, keepdims=True)",
    "ops.flip({0}, (-1,))", "{0} - ops.mean({0}, -1, True)", "ops.normalize({0})" ,
)  # fmt: skip
#: forms of two values of one shape
PAIRS = (
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / (ops.abs({1}) + 1)", "ops.maximum({0}, {1})",
    "ops.minimum({0}, {1})", "ops.add({0}, {1})", "ops.mul({0}, {1})", "ops.where({0} > {1}, {0}, {1})",
    "ops.select({0} < {1}, {0}, {1})", "ops.addn(({0}, {1}))", "({0} > {1}).astype(ms.float32)",
    "ops.stack(({0}, {1})).sum(0)", "ops.sub({0}, {1})", "ops.lerp({0}, {1}, 0.3)", "ops.atan2({0}, {1} + 3)",
    "{0} * ops.sigmoid({1})", "ops.logaddexp({0}, {1})",
)  # fmt: skip
#: forms that take an axis away
REDUCTIONS = (
    "{0}.mean({a})", "ops.mean({0}, {a})", "{0}.sum({a})", "ops.sum({0}, {a})", "{0}.max(axis={a})",
    "{0}.min(axis={a})", "ops.logsumexp({0}, {a})", "ops.reduce_mean({0}, {a})", "{0}.var({a})", "ops.amax({0}, {a})",
    "ops.argmax({0}, {a}).astype(ms.float32)", "ops.prod({0}, {a})", "{0}.std({a})",
)  # fmt: skip
LAYERS = tuple(f"nn.{name}" for name in ("ReLU()", "Tanh()", "Sigmoid()", "GELU()", "LeakyReLU()", "ELU()", "Softmax()",
               "SiLU()", "ReLU6()", "Dropout(p=0.0)", "LogSoftmax()", "HSwish()"))  # fmt: skip
SIZES = (1, 2, 3, 4, 6)


class Grower:
    """Grows one program; all choices come from ``seed``. One that ``is_wide`` also has forms drawn from public names,
    statements as users write them, more optimizers and ways to train."""

    def __init__(self, seed: int, is_wide: bool) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        #: every second program also has forms of the table, functions and closures
        self.is_second = is_wide or seed % 2 == 1
        self.is_wide = is_wide
        self.cells: list[CellDef] = []
        self.count = 0

    def program(self) -> Program:
        """A program."""
        choose = self.random.choice
        runs = ["step", "step", "step", "value_and_grad", "forward", "forward", "grad", "grad_all", "jit"]
        run = choose([*runs, "clipped", "has_aux", "weights"] if self.is_wide else runs)
        mode = 1 if run in ("jit", "grad", "value_and_grad", "forward") and self.random.random() < 0.25 else 0
        shape = self.shape(self.random.choice([2, 2, 2, 3, 4]))
        trains = run in ("step", "value_and_grad", "clipped", "has_aux", "weights")
        params = (Var("x", shape),) if trains or self.random.random() < 0.7 else (Var("x", shape), Var("y", shape))
        self.cell("Net", params, self.random.randint(3, 9), depth=0, ends=trains)
        loss = choose(LOSSES + MORE_LOSSES if self.is_wide else LOSSES)
        optimizer = choose(OPTIMIZERS + MORE_OPTIMIZERS if self.is_wide else OPTIMIZERS)
        return Program(tuple(self.cells), run, mode, optimizer, loss, self.seed % 1000, self.random.randint(1, 2))

    def shape(self, rank: int) -> Shape:
        """A shape of ``rank`` dimensions; the last two of an image are large enough for a window."""
        if rank == 4:
            return (2, self.random.choice((1, 2, 3)), 6, 6)
        return tuple(self.random.choice(SIZES[1:]) for _ in range(rank))

    def cell(self, name: str, params: tuple[Var, ...], length: int, depth: int, ends: bool = False) -> CellDef:
        """A class; with ``ends`` its result is a matrix that a loss takes."""
        scope = _Scope(self, list(params), depth)
        for _ in range(length):
            scope.grow()
        if ends:
            scope.end()
        results = scope.results(1 if ends or depth == 0 else self.random.choice((1, 1, 1, 2)))
        made = CellDef(name, params, tuple(scope.body), results)
        self.cells.append(made)
        return made

    def name(self, prefix: str) -> str:
        """A new name."""
        self.count += 1
        return f"{prefix}{self.count}"


class _Scope:
    """The construct of one class while it grows."""

    def __init__(self, grower: Grower, known: list[Var], depth: int) -> None:
        self.grower, self.random, self.known, self.depth = grower, grower.random, known, depth
        self.body: list[Statement] = []
        self.used: set[str] = set()
        self.reusable: list[tuple[str, str, tuple[Shape, ...], tuple[Shape, ...]]] = []

    def pick(self, test: Callable[[Var], bool] = lambda var: True) -> Var | None:
        """A value in scope; the latest and those nobody used are likelier."""
        if not (fit := [v for v in self.known if v.dtype == "float32" and test(v)]):
            return None
        fresh = [v for v in fit if v.name not in self.used]
        if fresh and self.random.random() < 0.6:
            return fresh[-1]
        return self.random.choice(fit[-4:])

    def add(
        self, text: str, args: list[Var], shapes: list[Shape], attributes: tuple[tuple[str, str], ...] = (),
        lines: tuple[str, ...] = (),
    ) -> tuple[Var, ...]:  # fmt: skip
        """Adds a statement; gives its values."""
        outs = tuple(Var(self.grower.name("v"), shape) for shape in shapes)
        self.body.append(Statement(text, tuple(a.name for a in args), outs, attributes, lines))
        self.used |= {a.name for a in args}
        self.known += outs
        return outs

    def grow(self) -> None:
        """Adds one statement, or a few."""
        kinds: list[tuple[Callable[[], object], int]] = [
            (self.alike, 6), (self.along, 2), (self.pair, 5), (self.reduction, 2), (self.layer, 3), (self.dense, 3),
            (self.norm, 1), (self.image, 3), (self.shaped, 4), (self.product, 2), (self.weight, 1), (self.loop, 1),
            (self.parts, 1), (self.own_cell, 3), (self.again, 2), (self.listed, 1),
        ]  # fmt: skip
        if self.grower.is_second:
            kinds = [(k, w) for k, w in kinds if w > 2 or k == self.again]
            kinds += [(self.form, 30), (self.function, 4), (self.closure, 2)]
        if self.grower.is_wide:
            kinds += [(self.named, 15), (self.written, 15)]
        kind = self.random.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        kind()

    def alike(self) -> None:
        x = self.pick()
        if x is not None:
            self.add(self.random.choice(ALIKE), [x], [x.shape])

    def form(self) -> None:
        """A form of the table."""
        x = self.pick(lambda v: len(v.shape) > 0 and min(v.shape) > 1 and (len(v.shape) < 4 or min(v.shape[2:]) > 3))
        if x is None:
            return
        group = self.random.choice(list(GROUPS.values()))
        form = self.random.choice([f for f in group if len(x.shape) in f.ranks])
        y = x if form.arity == 1 else self.pick(lambda v: v.shape == x.shape) or x
        out = form.gives(x.shape)
        if prod(out) > 600 or len(out) > 4:
            return
        name = self.grower.name("made")
        attributes = ((name, filled(form.made, x.shape)),) if form.made else ()
        self.add(filled(form.text, x.shape).replace("{c}", name), [x, y][: form.arity], [out], attributes)

    def named(self) -> None:
        """A form of the public names."""
        x = self.pick(lambda v: len(v.shape) > 0)
        found = draw(self.random, x.shape) if x is not None else None
        if x is None or found is None:
            return
        y = self.pick(lambda v: v.shape == x.shape) or x
        name = self.grower.name("made")
        attributes = ((name, found.made),) if found.made else ()
        args = [x, y] if "{1}" in found.text else [x]
        self.add(found.text.replace("{c}", name), args, [found.shape], attributes)

    def written(self) -> None:
        """Statements as users write them."""
        x = self.pick(lambda v: len(v.shape) > 0)
        if x is not None:
            out = Var(self.grower.name("v"), x.shape)
            name = self.grower.name("_")
            self.body.append(write(self.random, x, out, name, lambda: self.plain(x)))
            self.used.add(x.name)
            self.known.append(out)

    def plain(self, x: Var) -> str:
        """A form without anything made in ``__init__`` that keeps the shape of ``x``, of ``{0}``."""
        forms = [f for f in GROUPS["alike"] if not f.made and len(x.shape) in f.ranks and f.shape == "s"]
        return filled(self.random.choice(forms).text, x.shape)

    def function(self) -> None:
        """A call of a function of the module, twice now and then."""
        x = self.pick(lambda v: len(v.shape) > 0)
        if x is None:
            return
        name, inner = self.grower.name("helper"), Var(self.grower.name("t"), x.shape)
        body = (
            Statement(self.plain(x), ("x",), (inner,)),
            Statement(self.plain(x), (inner.name,), (last := Var(self.grower.name("t"), x.shape),)),
        )
        self.grower.cells.append(CellDef(name, (Var("x", x.shape),), body, (last,), kind="function"))
        (out,) = self.add(f"{name}({{0}})", [x], [x.shape])
        if self.random.random() < 0.4:
            self.add(f"{name}({{0}}) + {{0}}", [out], [x.shape])

    def closure(self) -> None:
        """A function within ``construct`` that uses a value around it."""
        x = self.pick(lambda v: len(v.shape) > 0)
        if x is not None:
            lines = ("def inner(t):", f"    return {self.plain(x).replace('{0}', 't')} + {{0}}", "{1} = inner({0})")
            self.add("", [x], [x.shape], lines=lines)

    def along(self) -> None:
        x = self.pick(lambda v: bool(v.shape))
        if x is not None:
            self.add(self.random.choice(ALONG), [x], [x.shape])

    def pair(self) -> None:
        x = self.pick()
        y = self.pick(lambda v: v.shape == x.shape) if x is not None else None
        if x is not None and y is not None:
            self.add(self.random.choice(PAIRS), [x, y], [x.shape])

    def reduction(self) -> None:
        x = self.pick(lambda v: len(v.shape) > 1)
        if x is not None:
            axis = self.random.randrange(len(x.shape))
            axis = self.random.choice((axis, axis - len(x.shape)))
            form = self.random.choice(REDUCTIONS).replace("{a}", str(axis))
            left = tuple(n for at, n in enumerate(x.shape) if at != axis % len(x.shape))
            self.add(form, [x], [left])

    def layer(self) -> None:
        x = self.pick(lambda v: len(v.shape) > 1)
        if x is not None:
            self.call(self.random.choice(LAYERS), [x], [x.shape], "act")

    def call(self, made: str, args: list[Var], shapes: list[Shape], prefix: str) -> None:
        """Adds the call of a new cell, which may be called again."""
        name = self.grower.name(prefix)
        text = f"self.{name}(" + ", ".join(f"{{{i}}}" for i in range(len(args))) + ")"
        self.reusable.append((name, made, tuple(a.shape for a in args), tuple(shapes)))
        self.add(text, args, shapes, ((name, made),))

    def again(self) -> None:
        """Calls a cell once more."""
        fit = [
            (entry, args)
            for entry in self.reusable
            if all(args := [self.pick(lambda v, s=s: v.shape == s) for s in entry[2]])  # type: ignore[misc]
        ]
        if fit:
            (name, made, _, shapes), args = self.random.choice(fit)
            text = f"self.{name}(" + ", ".join(f"{{{i}}}" for i in range(len(args))) + ")"
            self.add(text, [a for a in args if a is not None], list(shapes), ((name, made),))

    def dense(self) -> None:
        x = self.pick(lambda v: len(v.shape) in (2, 3))
        if x is not None:
            out = self.random.choice(SIZES)
            more = self.random.choice(("", "", ", has_bias=False", ", activation='relu'", ", activation='tanh'"))
            self.call(f"nn.Dense({x.shape[-1]}, {out}{more})", [x], [(*x.shape[:-1], out)], "fc")

    def norm(self) -> None:
        x = self.pick(lambda v: len(v.shape) in (2, 3, 4))
        if x is not None:
            made = {2: f"nn.BatchNorm1d({x.shape[1]})", 4: f"nn.BatchNorm2d({x.shape[1]})"}.get(len(x.shape))
            if made is None or self.random.random() < 0.5:
                made = f"nn.LayerNorm(({x.shape[-1]},))"
            self.call(made, [x], [x.shape], "norm")

    def image(self) -> None:
        x = self.pick(lambda v: len(v.shape) == 4 and min(v.shape[2:]) >= 2)
        if x is None:
            return
        n, c, h, w = x.shape
        out = self.random.choice((1, 2, 3))
        kinds: list[tuple[str, Shape]] = [
            (f"nn.Conv2d({c}, {out}, 3)", (n, out, h, w)),
            (f"nn.Conv2d({c}, {out}, 1, has_bias=True)", (n, out, h, w)),
            (f"nn.Conv2d({c}, {out}, 2, stride=2, pad_mode='valid')", (n, out, h // 2, w // 2)),
            ("nn.MaxPool2d(2, 2)", (n, c, h // 2, w // 2)), ("nn.AvgPool2d(2, 2)", (n, c, h // 2, w // 2)),
            ("nn.Flatten()", (n, c * h * w)),
        ]  # fmt: skip
        made, shape = self.random.choice(kinds)
        self.call(made, [x], [shape], "img")

    def shaped(self) -> None:
        x = self.pick(lambda v: len(v.shape) > 0)
        if x is None:
            return
        shape = x.shape
        last, rank = shape[-1], len(shape)
        turned = list(range(rank))
        self.random.shuffle(turned)
        half = max(1, last // 2)
        forms: list[tuple[str, Shape]] = [
            (f"{{0}}.reshape({(-1, last)})", (prod(shape) // last, last)),
            (f"ops.reshape({{0}}, {(prod(shape),)})", (prod(shape),)),
            (f"ops.transpose({{0}}, {tuple(turned)})", tuple(shape[t] for t in turned)),
            (f"{{0}}[..., :{half}]", (*shape[:-1], half)), ("{0}[0]", shape[1:]), ("{0}[:1]", (1, *shape[1:])),
            ("ops.concat(({0}, {0}), -1)", (*shape[:-1], 2 * last)),
            ("ops.expand_dims({0}, 1)", (shape[0], 1, *shape[1:])),
            (f"ops.tile({{0}}, {(*[1] * (rank - 1), 2)})", (*shape[:-1], 2 * last)),
            ("{0}.expand_dims(0)", (1, *shape)), ("ops.squeeze(ops.expand_dims({0}, 0), 0)", shape),
            (f"ops.broadcast_to({{0}}, {(2, *shape)})", (2, *shape)), ("{0}.unsqueeze(-1).squeeze(-1)", shape),
            ("ops.stack(({0}, {0} * 2), 0)", (2, *shape)),
            ("ops.gather({0}, Tensor([0, 0], ms.int32), 0)", (2, *shape[1:])),
        ]  # fmt: skip
        if rank > 1:
            forms += [("{0}.swapaxes(0, 1)", (shape[1], shape[0], *shape[2:])), ("{0}[:, -1]", (shape[0], *shape[2:])),
                      ("ops.flatten({0})", (shape[0], prod(shape[1:])))]  # fmt: skip
        text, out = self.random.choice(forms)
        if prod(out) <= 600 and 0 < len(out) <= 4:
            self.add(text, [x], [out])

    def product(self) -> None:
        x = self.pick(lambda v: len(v.shape) == 2)
        if x is None:
            return
        y = self.pick(lambda v: len(v.shape) == 2 and v.shape[0] == x.shape[1])
        if y is not None:
            self.add("ops.matmul({0}, {1})", [x, y], [(x.shape[0], y.shape[1])])
        else:
            self.add("ops.matmul({0}, {0}.T)", [x], [(x.shape[0], x.shape[0])])

    def weight(self) -> None:
        x = self.pick(lambda v: len(v.shape) > 0)
        if x is not None:
            name = self.grower.name("w")
            made = f"Parameter(Tensor(np.linspace(-1, 1, {x.shape[-1]}).astype(np.float32)), name='{name}')"
            form = self.random.choice(
                (f"{{0}} * self.{name}", f"{{0}} + self.{name}", f"ops.tanh({{0}} * self.{name})")
            )
            self.add(form, [x], [x.shape], ((name, made),))

    def loop(self) -> None:
        x = self.pick()
        if x is not None:
            form = self.random.choice(ALIKE).replace("{0}", "{1}")
            lines = ("{1} = {0}", f"for i in range({self.random.randint(2, 3)}):", f"    {{1}} = {form}")
            if self.random.random() < 0.3:
                lines = (*lines[:2], f"    {{1}} = {form} + i")
            self.add("", [x], [x.shape], lines=lines)

    def parts(self) -> None:
        x = self.pick(lambda v: len(v.shape) > 0 and v.shape[-1] % 2 == 0)
        if x is not None:
            half = (*x.shape[:-1], x.shape[-1] // 2)
            form = self.random.choice(("ops.chunk({0}, 2, -1)", f"ops.split({{0}}, {half[-1]}, -1)"))
            self.add(form, [x], [half, half])

    def own_cell(self) -> None:
        x = self.pick()
        if x is None or self.depth >= 2:
            return
        second = self.pick(lambda v: v.shape == x.shape) if self.random.random() < 0.3 else None
        args = [x] if second is None else [x, second]
        params = tuple(Var(name, a.shape) for name, a in zip("xy", args, strict=False))
        made = self.grower.cell(self.grower.name("Part"), params, self.random.randint(1, 4), self.depth + 1)
        self.call(f"{made.name}()", args, [r.shape for r in made.results], "part")

    def listed(self) -> None:
        x = self.pick(lambda v: len(v.shape) == 2)
        if x is None:
            return
        count, size = self.random.randint(2, 3), x.shape[1]
        name, kind = self.grower.name("cells"), self.random.choice(("nn.CellList", "nn.SequentialCell"))
        inner = ", ".join(
            self.random.choice((f"nn.Dense({size}, {size})", "nn.ReLU()", "nn.Tanh()")) for _ in range(count)
        )
        made = ((name, f"{kind}([{inner}])"),)
        if kind == "nn.SequentialCell":
            self.add(f"self.{name}({{0}})", [x], [x.shape], made)
        else:
            lines = ("{1} = {0}", f"for cell in self.{name}:", "    {1} = cell({1})")
            self.add("", [x], [x.shape], made, lines)

    def end(self) -> None:
        """Adds what makes a (rows, 3) of the last value."""
        x = self.known[-1]
        rows = x.shape[0] if len(x.shape) > 1 else 1
        width = prod(x.shape) // rows
        if len(x.shape) != 2:
            (x,) = self.add(f"{{0}}.reshape({(rows, width)})", [x], [(rows, width)])
        name = self.grower.name("last")
        self.add(f"self.{name}({{0}})", [x], [(rows, 3)], ((name, f"nn.Dense({width}, 3)"),))

    def results(self, count: int) -> tuple[Var, ...]:
        """What the class gives: the last values."""
        return tuple([v for v in self.known if v.dtype == "float32"][-count:])


def grown(seed: int, is_wide: bool = False) -> Program:
    """The program of ``seed``."""
    return Grower(seed, is_wide).program()
