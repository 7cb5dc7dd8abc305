"""A compiled function gives, bit for bit, what its operators give one by one; programs are drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness import Tensor, dtypes, ops
from harness.framework.runtime import session
from tests.examples import examples
from tests.framework.compile.build import Net, graph_mode

SHAPE = (2, 3)
UNARY: list[Callable[..., Any]] = [
    ops.exp, ops.tanh, ops.relu, ops.neg, lambda x: x * 0.5, lambda x: x * 1, lambda x: x + 0, lambda x: 2 - x,
    lambda x: x.reshape((3, 2)).reshape(SHAPE), lambda x: ops.transpose(ops.transpose(x, (1, 0)), (1, 0)),
    lambda x: x.sum(0) + x * x.max(), lambda x: ops.split(x, 1, 1)[2] + x, lambda x: ops.topk(x, 2)[0].sum() + x,
    lambda x: ops.softmax(x, 1), lambda x: ops.cast(ops.cast(x, dtypes.float16), dtypes.float32), lambda x: x[1] + x,
    lambda x: ops.concat((x, x), 1)[:, 1:4], lambda x: ops.cast(x, dtypes.float32), lambda x: x.mean((0, 1)) * x,
]  # fmt: skip
BINARY: list[Callable[..., Any]] = [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, ops.maximum, lambda x, y: ops.select(x > y, x, y),
    lambda x, y: ops.stack((x, y)).sum(0), lambda x, y: ops.matmul(x, y.T)[:, :1] + x, ops.minimum,
]  # fmt: skip

#: a step: kind, which function, which values it takes
STEP = st.tuples(
    st.sampled_from(["unary", "binary", "read", "assign", "add", "cond", "loop"]),
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.integers(0, 1000),
)


def program(steps: list[tuple[str, int, int, int]]) -> Callable[..., Any]:
    """A function of a net with parameters ``w`` and ``v`` and of two tensors, made of ``steps``."""

    def run(net: Any, x: Any, y: Any) -> Any:
        values = [x, y, net.c]
        for kind, which, first, second in steps:
            a, b = values[first % len(values)], values[second % len(values)]
            weight = (net.w, net.v)[which % 2]
            if kind == "unary":
                values.append(UNARY[which % len(UNARY)](a))
            elif kind == "binary":
                values.append(BINARY[which % len(BINARY)](a, b))
            elif kind == "read":
                values.append(BINARY[first % 3](weight, a))
            elif kind == "assign":
                ops.assign(weight, ops.tanh(a))
            elif kind == "add":
                ops.assign_add(weight, ops.tanh(a))
            elif kind == "cond":
                values.append(ops.cond(a.sum() > b.sum(), lambda x, y: x * y, lambda x, y: ops.tanh(x) - y, a, b))
            else:
                values.append(ops.while_loop(lambda x: ops.abs(x).sum() > 1, lambda x: x * 0.25, ops.tanh(a)))
        return (*values[3:][-4:], values[-1] + 0.5)

    return run


def outcome(run: Callable[..., Any], x: Tensor, y: Tensor, steps: int, as_graph: bool) -> list[bytes]:
    """Bytes of every result and parameter over ``steps`` calls."""
    net, found = Net(run), []
    with session.fresh(hooked=False):
        for _ in range(steps):
            if as_graph:
                with graph_mode():
                    out = net(x, y)
            else:
                out = run(net, x, y)
            found += [np.asarray(value).tobytes() for value in out]
            found += [net.w.asnumpy().tobytes(), net.v.asnumpy().tobytes()]
    return found


@examples(20, 150)
@given(st.lists(STEP, min_size=1, max_size=10), st.integers(0, 2**16))
def test_graph_and_eager_agree(steps: list[tuple[str, int, int, int]], seed: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    x, y = (Tensor(random.standard_normal(SHAPE).astype(np.float32)) for _ in range(2))
    run = program(steps)
    assert outcome(run, x, y, 2, as_graph=True) == outcome(run, x, y, 2, as_graph=False)
