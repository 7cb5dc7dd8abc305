"""Programs as users write them, drawn block by block: a second generator, which knows nothing of the first (``grow``).

A block takes an image, a sequence or a vector to another one; a network of two to seven of them is trained in one of
seven ways, with values of numpy, and printed. ``written.txt`` has what an expression can be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
#: more elements than this end a network
LARGEST = 4000
Shape = tuple[int, ...]


def _choices() -> dict[str, list[str]]:
    """Heading of ``written.txt`` -> its lines."""
    found: dict[str, list[str]] = {}
    for block in (HERE / "written.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        heading, *lines = block.splitlines()
        found[heading.removeprefix("== ")] = lines
    return found


CHOICES = _choices()
CODE = {name: "\n".join(lines) for name, lines in CHOICES.items() if name[0].isupper()}


class Cell:
    """A class that is being written: what ``__init__`` makes, and the statements of ``construct`` so far.

    Attributes:
        value: the name of the value the next block takes; its shape says what it is (vector, sequence, image).
    """

    def __init__(self, random: Random, shape: Shape, value: str = "x") -> None:
        self.random, self.shape, self.value = random, shape, value
        self.made: list[str] = []
        self.body: list[str] = []
        self.count = 0

    def new(self, kind: str) -> str:
        """A name of its own."""
        self.count += 1
        return f"{kind}{self.count}"

    def layer(self, source: str, kind: str = "layer") -> str:
        """The attribute that ``__init__`` makes by ``source``."""
        name = self.new(kind)
        self.made.append(f"self.{name} = {source}")
        return f"self.{name}"

    def one(self, heading: str, **known: object) -> str:
        """A line of ``written.txt``."""
        return self.random.choice(CHOICES[heading]).format(x=self.value, d=self.shape[-1], n=self.shape[0], **known)

    def give(self, expression: str, shape: Shape) -> None:
        """``expression`` is the value from here on."""
        name = self.new("v")
        self.body.append(f"{name} = {expression}")
        self.value, self.shape = name, shape

    def source(self, name: str, result: str, extra: str = "") -> str:
        """The class."""
        made = "".join(f"        {line}\n" for line in self.made)
        body = "".join(f"        {line}\n" for line in self.body)
        return (
            f"class {name}(nn.Cell):\n    def __init__(self, scale=1.0):\n        super().__init__()\n"
            f"        self.scale = scale\n{made}\n    def helper(self, x):\n        if self.training:\n"
            f"            return x * 2\n        return ops.tanh(x) + x * 0.1\n\n"
            f"    def construct(self, x):\n{extra}{body}        return {result}\n"
        )


def activation(cell: Cell) -> None:
    """A layer's, a function's or an expression's."""
    if cell.random.random() < 0.35:
        cell.give(f"{cell.layer(cell.one('activation layers'))}({cell.value})", cell.shape)
    else:
        cell.give(cell.one("activations"), cell.shape)


def mixture(cell: Cell) -> None:
    """An expression that keeps the shape."""
    places = ", ".join(str(cell.random.randrange(cell.shape[-1])) for _ in range(cell.shape[-1]))
    cell.give(cell.one("mixtures", rank=len(cell.shape) - 1, shape=cell.shape, places=places), cell.shape)


def dense(cell: Cell) -> None:
    """A ``Dense``, or a product with a weight."""
    if len(cell.shape) == 4:
        return
    width = cell.random.choice((2, 3, 4, 6, 8))
    form = cell.one("products", out=width)
    if form.startswith("nn."):
        cell.give(f"{cell.layer(form, 'fc')}({cell.value})", (*cell.shape[:-1], width))
        return
    rows, columns = (width, cell.shape[-1]) if "W.T" in form or "W.s" in form else (cell.shape[-1], width)
    data = f"Tensor(rng.randn({rows}, {columns}).astype(np.float32))"
    weight = cell.layer(f"Parameter({data}, name='{cell.new('weight')}')", "w")
    cell.give(form.replace("W", weight), (*cell.shape[:-1], width))


def convolution(cell: Cell) -> None:
    """Over an image, or along a sequence."""
    out = cell.random.choice((2, 3, 4))
    if len(cell.shape) == 3:
        n, length, width = cell.shape
        layer = cell.layer(f"nn.Conv1d({width}, {out}, 3, pad_mode='same')", "conv")
        cell.give(f"{layer}({cell.value}.swapaxes(1, 2)).swapaxes(1, 2)", (n, length, out))
    elif len(cell.shape) == 4:
        n, channels, height, width = cell.shape
        kernel, stride, bias = cell.random.choice((1, 3)), cell.random.choice((1, 1, 2)), cell.random.random() < 0.5
        group = f", group={channels}" if cell.random.random() < 0.2 else ""
        out = channels if group else out
        settings = f"{channels}, {out}, {kernel}, stride={stride}, pad_mode='same', has_bias={bias}{group}"
        layer = cell.layer(f"nn.Conv2d({settings})", "conv")
        cell.give(f"{layer}({cell.value})", (n, out, -(-height // stride), -(-width // stride)))


def norm(cell: Cell) -> None:
    """A normalizing layer."""
    kind = {2: "norms of vectors", 3: "norms of sequences", 4: "norms of images"}[len(cell.shape)]
    layer = cell.one(kind, c=cell.shape[1], inner=cell.shape[1:])
    cell.give(f"{cell.layer(layer, 'norm')}({cell.value})", cell.shape)


def pool(cell: Cell) -> None:
    """Fewer positions, or none."""
    if len(cell.shape) == 3:
        cell.give(cell.one("pools of sequences"), (cell.shape[0], cell.shape[2]))
    elif len(cell.shape) == 4 and min(cell.shape[2:]) > 1:
        n, channels, height, width = cell.shape
        form = cell.random.randrange(3)
        if form == 0:
            cell.give(cell.one("whole pools"), (n, channels))
        elif form == 1:
            cell.give(cell.one("pools to four"), (n, channels, 2, 2))
        else:
            layer = cell.layer(cell.one("pool layers"), "pool")
            cell.give(f"{layer}({cell.value})", (n, channels, height // 2, width // 2))


def turn(cell: Cell) -> None:
    """An image as a vector or a sequence, a vector as a sequence."""
    n, *rest = cell.shape
    if len(cell.shape) == 4:
        channels, height, width = rest
        if cell.random.random() < 0.5:
            cell.give(cell.one("flattenings"), (n, math.prod(rest)))
        else:
            size = height * width
            cell.give(cell.one("images as sequences", c=channels, size=size), (n, size, channels))
    elif len(cell.shape) == 2:
        parts = [part for part in (2, 3, 4) if rest[0] % part == 0 and rest[0] > part]
        if parts:
            cell.give(
                f"{cell.value}.reshape({n}, {parts[0]}, {rest[0] // parts[0]})", (n, parts[0], rest[0] // parts[0])
            )
        else:
            cell.give(cell.one("repetitions"), (n, 3, rest[0]))


def attention(cell: Cell) -> None:
    """Written out, or by the class of ``written.txt``."""
    if len(cell.shape) != 3:
        return
    width = cell.shape[-1]
    if cell.random.random() < 0.4:
        layer = cell.layer(f"MultiHead({width}, {2 - width % 2}, {cell.random.random() < 0.5})", "attention")
        cell.give(f"{cell.value} + {layer}({cell.value})", cell.shape)
        return
    project = cell.layer(f"nn.Dense({width}, {3 * width})", "qkv")
    cell.body.append(cell.one("projections", project=project))
    cell.body.append(f"score = {cell.one('scores')}")
    cell.give(cell.one("weighted sums"), cell.shape)


def recurrent(cell: Cell) -> None:
    """A loop over a cell, or a layer."""
    if len(cell.shape) != 3:
        return
    n, length, width = cell.shape
    hidden = cell.random.choice((2, 3, 4))
    if cell.random.random() < 0.6:
        step = cell.layer(f"nn.{cell.random.choice(('GRUCell', 'RNNCell'))}({width}, {hidden})", "cell")
        cell.body += [
            f"h = ops.zeros(({n}, {hidden}), mstype.float32)",
            "outs = []",
            f"for i in range({cell.random.choice((str(length), f'{cell.value}.shape[1]'))}):",
            f"    h = {step}({cell.value}[:, i], h)",
            "    outs.append(h)",
        ]
        cell.give("ops.stack(outs, 1)", (n, length, hidden))
        return
    kind, both = cell.random.choice(("GRU", "LSTM", "RNN")), cell.random.random() < 0.3
    layer = cell.layer(f"nn.{kind}({width}, {hidden}, batch_first=True, bidirectional={both})", "rnn")
    cell.give(f"{layer}({cell.value})[0]", (n, length, hidden * (1 + both)))


def gate(cell: Cell) -> None:
    """Two halves of the features, together."""
    if len(cell.shape) == 4 or cell.shape[-1] % 2:
        return
    half = cell.shape[-1] // 2
    cell.body.append(cell.one("halves", half=half, rank=len(cell.shape) - 1))
    cell.give(cell.one("gates"), (*cell.shape[:-1], half))


def side(cell: Cell) -> None:
    """Another path beside the value."""
    before, shape = cell.value, cell.shape
    cell.random.choice((activation, mixture, dense, convolution))(cell)
    if cell.shape == shape:
        cell.give(cell.one("sums", before=before), shape)
    elif len(shape) == len(cell.shape) and cell.shape[2:] == shape[2:]:
        cell.give(f"ops.concat(({before}, {cell.value}), 1)", (shape[0], shape[1] + cell.shape[1], *shape[2:]))


Block = Callable[[Cell], None]
INNER: tuple[Block, ...] = (activation, norm, mixture)
BLOCKS: tuple[Block, ...] = (
    activation, activation, mixture, mixture, mixture, dense, dense, convolution, convolution, norm, pool, turn,
    attention, recurrent, gate, side,
)  # fmt: skip


class Written:
    """A program."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def residual(self, cell: Cell) -> None:
        """A class of its own, whose result is added; once, twice in a ``SequentialCell``, or in a loop."""
        inner = Cell(self.random, cell.shape)
        for _ in range(self.random.randint(1, 3)):
            self.random.choice(INNER)(inner)
        last = "Dense({0}, {0})" if len(cell.shape) < 4 else "Conv2d({0}, {0}, 3)"
        layer = inner.layer(f"nn.{last.format(cell.shape[-1] if len(cell.shape) < 4 else cell.shape[1])}", "proj")
        inner.give(f"{layer}({inner.value})", cell.shape)
        name = f"Block{len(self.classes)}"
        self.classes.append(inner.source(name, inner.one("residuals")))
        form = self.random.randrange(3)
        if form < 2:
            made = f"{name}()" if form else f"nn.SequentialCell({name}(), {name}(0.5))"
            cell.give(f"{cell.layer(made, 'block')}({cell.value})", cell.shape)
        else:
            blocks = cell.layer(f"nn.CellList([{name}(0.1 * (i + 1)) for i in range(2)])", "blocks")
            before = cell.value
            cell.give(before, cell.shape)
            cell.body += [f"for block in {blocks}:", f"    {cell.value} = block({cell.value})"]

    def network(self) -> tuple[str, Cell]:
        """The source of the network's input, and the network up to its head."""
        choose, n = self.random.choice, self.random.choice((2, 3, 4))
        kind = choose(("image", "sequence", "vector", "tokens"))
        shape: Shape = {
            "image": (n, choose((1, 2, 3)), choose((6, 8)), choose((6, 8))), "vector": (n, choose((4, 6, 8))),
        }.get(kind, (n, choose((3, 4, 5)), choose((4, 6))))  # fmt: skip
        cell, data = Cell(self.random, shape), f"rng.randn{shape}.astype(np.float32)"
        if kind == "tokens":
            data = f"rng.randint(0, 10, {shape[:2]}).astype(np.int32)"
            cell.give(f"{cell.layer(f'nn.Embedding(10, {shape[2]})', 'embed')}(x)", shape)
        for _ in range(self.random.randint(2, 7)):
            choose((*BLOCKS, self.residual, self.residual))(cell)
            if math.prod(cell.shape) > LARGEST:
                break
        while len(cell.shape) > 2:
            choose((pool, turn))(cell)
        return data, cell

    def source(self) -> str:
        """Its text."""
        self.random, self.classes = Random(self.seed), list[str]()
        data, cell = self.network()
        classes, n = self.random.choice((2, 3, 5)), cell.shape[0]
        head = cell.layer(f"nn.Dense({cell.shape[-1]}, {classes})", "head")
        network = cell.source("Net", f"{head}({cell.value})")
        loss, of_classes = self.random.choice(
            [(each, False) for each in CHOICES["losses"]] + [(each, True) for each in CHOICES["losses of classes"]]
        )
        target = f"rng.randint(0, {classes}, {n}).astype(np.int32)" if of_classes else f"rng.rand({n}, {classes})"
        normalized = "BatchNorm" in "".join([network, *self.classes])
        # A step of Adam turns the noise in front of a normalization into a step of the learning rate.
        optimizer = self.random.choice(CHOICES["plain optimizers" if normalized else "optimizers"])
        way = (
            "Loop"
            if loss == "function_loss"
            else self.random.choice([w for w in CODE if w[0] in "LSTE" and w != "Start"])
        )
        mode = self.random.choice(("GRAPH", "GRAPH", "PYNATIVE"))
        parts = [
            CODE["Start"].format(mode=mode, seed=self.random.randrange(1000)), *self.classes, network,
            CODE["Data"].format(data=data, target=target, loss=loss),
            CODE[way].format(
                optimizer=optimizer.format(rate=self.random.choice(CHOICES["rates"])), steps=self.random.randint(1, 3),
                jit="@ms.jit\n" if mode == "PYNATIVE" and self.random.random() < 0.5 else "",
                clip=self.random.choice(CHOICES["clips"]), last=self.random.choice(CHOICES["last lines"]),
            ),
            CODE["After"],
        ]  # fmt: skip
        return "\n\n".join(parts)
