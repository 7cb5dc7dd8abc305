"""Calls whose nesting is recorded: the forms of the generated programs, of the crossings, and more."""

from __future__ import annotations

from typing import NamedTuple

from tests.data.crossings.forms import FORMS as CROSSINGS
from tests.differential import grow
from tests.differential.forms import FORMS as LISTED
from tests.differential.forms import filled

#: calls that are kept under no row: a tuple's element that another function gives takes fewer steps than followed; the
#: graphs of MSELoss, which forward and gradient share, too
LEFT_OUT = frozenset(
    {
        "MSELoss",
        "Tensor.amax", "Tensor.amin", "Tensor.chunk", "Tensor.max", "Tensor.min", "Tensor.sort", "Tensor.split",
        "Tensor.topk", "Tensor.unbind", "ops.amax", "ops.amin", "ops.chunk", "ops.cross_entropy", "ops.dropout",
        "ops.max", "ops.min", "ops.nll_loss", "ops.sort", "ops.split", "ops.std", "ops.topk", "ops.unbind",
        "ops.unstack", "ops.var",
    }
)  # fmt: skip
SHAPES = {1: (4,), 2: (4, 6), 3: (2, 4, 6), 4: (2, 4, 6, 6)}
LABELS = "Tensor([0, 1, 2, 0], ms.int32)"
MORE = (
    "x.reshape((-1, 6))", "ops.reshape(x, (24,))", "ops.transpose(x, (1, 0))", "x[..., :3]", "x[0]", "x[:1]",
    "ops.concat((x, x), -1)", "ops.expand_dims(x, 1)", "ops.tile(x, (1, 2))", "x.expand_dims(0)",
    "ops.squeeze(ops.expand_dims(x, 0), 0)", "ops.broadcast_to(x, (2, 4, 6))", "x.unsqueeze(-1).squeeze(-1)",
    "ops.stack((x, x * 2), 0)", "ops.gather(x, Tensor([0, 0], ms.int32), 0)", "x.swapaxes(0, 1)", "x[:, -1]",
    "ops.flatten(x)", "ops.matmul(x, x.T)", "x.std()", "x.var()", "x.mean()", "x.mean(axis=1, keep_dims=True)",
    "x.mean((0, 1))", "x.sum((0, 1))", "x.sum(axis=1, keepdims=True)", "ops.mean(x)", "ops.mean(x, (0, 1))",
    "ops.sum(x)", "ops.sum(x, 1, True)", "x.prod()", "x.std(1, 0, True)", "x.var(1, 0, True)", "x.squeeze()",
    "ops.squeeze(x)", "ops.logsumexp(x, 1, True)", "ops.logsumexp(x, (0, 1))", "ops.norm(x, dim=1)", "x.norm()",
    "ops.softmax(x, 1)", "x.softmax(-1)", "x.transpose((1, 0))", "x.permute(1, 0)", "x[0, :3]", "x[1:, None]",
    "ops.cumsum(x, 0)", "x.argmax()", "ops.argmax(x)", "ops.stack((x, y), axis=1)", "ops.cat((x, y), 1)",
    "ops.cat((x, y), axis=1)", "ops.gather(x, Tensor([0, 0], ms.int32), axis=1)", "ops.mse_loss(x, y)",
    "ops.l1_loss(x, y)", "ops.huber_loss(x, y)", "ops.smooth_l1_loss(x, y)", "x % 3.0", "x // 3.0", "x >= y", "x == y",
    "x @ y.T", "3 // x", "x.view(6, 4)", "x.reshape(6, 4)", "ops.where(x > 0, x, y)", "ops.masked_fill(x, x > 0, 0.5)",
    "ops.unsqueeze(x, 1)", "x.abs().sum(1)",
)  # fmt: skip


class Form(NamedTuple):
    """A way to call something.

    Attributes:
        expression: of ``x`` and ``y``, tensors of one shape; ``self.c`` is ``made``.
        made: what makes the layer or the operator; ``None`` for nothing.
        shape: of both.
    """

    expression: str
    made: str = "None"
    shape: tuple[int, ...] = SHAPES[2]


def forms() -> list[Form]:
    """All, each once."""
    found: dict[Form, None] = {}
    for form in LISTED:
        shape = SHAPES[2 if 2 in form.ranks else form.ranks[-1]]
        text = filled(form.text, shape).replace("{c}", "c").replace("{0}", "x").replace("{1}", "y")
        found[Form(text, filled(form.made, shape) or "None", shape)] = None
    texts = [*grow.ALIKE, *(t for t in grow.ALONG if "normalize" not in t), *grow.PAIRS]
    texts += [t.replace("{a}", "-1") for t in grow.REDUCTIONS]
    found |= {Form(t.replace("{0}", "x").replace("{1}", "y")): None for t in (*texts, *MORE)}
    found |= {Form(t.replace("{0}", "x").replace("{a}", "0"), shape=SHAPES[3]): None for t in grow.REDUCTIONS}
    for loss in grow.LOSSES:
        found[Form(f"self.c(x, {LABELS if 'Entropy' in loss else 'y'})", loss)] = None
    found |= {Form(f.expression, shape=f.shape): None for f in CROSSINGS if f.layer == "None"}
    return list(found)


def script(chosen: list[tuple[int, Form]]) -> str:
    """A program with a class ``Net<N>`` for each form and a network that calls all."""
    text = "import mindspore as ms\nimport numpy as np\nfrom mindspore import Parameter, Tensor, nn, ops\n\n"
    text += "ms.set_context(mode=ms.GRAPH_MODE)\n"
    for number, form in chosen:
        text += f"\n\nclass Net{number}(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        text += f"        self.c = {form.made}\n\n    def construct(self, x, y):\n        return {form.expression}\n"
    names = [f"a{number}" for number, _ in chosen]
    text += "\n\nclass Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
    text += "".join(f"        self.n{number} = Net{number}()\n" for number, _ in chosen)
    text += f"\n    def construct(self, {', '.join(names)}):\n        return ("
    text += ", ".join(f"self.n{number}(a{number}, a{number})" for number, _ in chosen) + ",)\n\n\n"
    given = [f"Tensor(np.arange(1, {_size(f.shape) + 1}, dtype=np.float32).reshape({f.shape}))" for _, f in chosen]
    return text + f"Net()({', '.join(given)})\n"


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size
