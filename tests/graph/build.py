"""Small graphs for tests: by hand, and by hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from harness import dtypes
from harness.graph import Const, Graph, Node, Operand, Parameter, SourceLine, TensorSpec, TupleSpec, U, constant

NAMES = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8)
_CELLS = st.sampled_from(("fc1-Dense", "a_b", "0-ReLU", "层"))
SCOPES = st.lists(_CELLS, max_size=3).map(lambda cells: "/".join(["Default", *cells]))
DTYPES = st.sampled_from([d for d in dtypes.ALL if d.kind != "c"])
SHAPES = st.lists(st.integers(-1, 5), max_size=3).map(tuple)
VALUES = st.one_of(
    st.booleans(), st.integers(-(2**40), 2**40), st.floats(width=32), st.none(),
    st.text("abc -_/", max_size=5), st.lists(st.integers(-9, 9), max_size=3).map(tuple),
    st.lists(st.floats(width=32), max_size=4).map(lambda v: np.array(v, np.float32)),
)  # fmt: skip
ATTRS = st.dictionaries(
    st.sampled_from(("pad", "mode", "kernel_size", "dst_type")),
    st.one_of(st.integers(0, 9), st.booleans(), st.just("NCHW"), st.just((1, 2)), st.just(["x", "w"]), DTYPES),
)
LINES = st.builds(
    SourceLine, st.just("/home/me/my nets/net.py"), st.integers(1, 99), st.integers(1, 99),
    st.none(), st.none(), st.text("ab /():", max_size=9),
)  # fmt: skip


def dense(scope: str = "Default/fc1-Dense", graph_id: int = 0) -> Graph:
    """MatMul, BiasAdd and ReLU of two weights and an input, with Loads, as a forward run has them."""
    f32 = dtypes.float32
    weight = Parameter("fc1.weight", TensorSpec(f32, (3, 4), "fc1.weight"), True)
    bias = Parameter("fc1.bias", TensorSpec(f32, (3,), "fc1.bias"), True)
    x = Parameter("x", TensorSpec(f32, (2, 4)), False)
    line = SourceLine("/home/me/net.py", 7, 7, 8, 30, "        return self.fc1(x)")
    load_w = Node("Load", [weight, U], {}, "Default", TensorSpec(f32, (3, 4)), kernel=False, number=0)
    load_b = Node("Load", [bias, U], {}, scope, TensorSpec(f32, (3,)), kernel=False, number=0)
    no, yes, axis = constant(False), constant(True), constant(0)
    out = TensorSpec(f32, (2, 3))
    matmul = Node("MatMul", [x, load_w, no, yes], {"dst_type": f32}, scope, out, number=0, source=(line,))
    biased = Node("BiasAdd", [matmul, load_b, axis], {}, scope, out, number=0, source=(line,))
    relu = Node("ReLU", [biased], {}, scope, out, number=0, source=(line,))
    result = Node("MakeTuple", [relu], {}, "Default", TupleSpec((out,)), kernel=False, number=0)
    nodes = [load_w, matmul, load_b, biased, relu, result]
    return Graph(
        graph_id, [bias, weight, x], result, nodes, [matmul, biased, relu], [U, no, yes, axis],
        attrs={"enable_zero_copy_in_graph": 1},
    )  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph the writers can be given: names, values and types of every kind."""
    names = draw(st.lists(NAMES.filter(printable), unique=True, max_size=4))
    parameters = [
        Parameter(name, TensorSpec(draw(DTYPES), draw(SHAPES), name if weight else None), weight)
        for name, weight in ((name, draw(st.booleans())) for name in names)
    ]
    nodes: list[Node] = []
    constants: list[Const] = []
    for number in range(draw(st.integers(1, 6))):
        choices: list[Operand] = [*parameters, *nodes, *constants]
        inputs = draw(st.lists(st.sampled_from(choices), max_size=3)) if choices else []
        if draw(st.booleans()):
            made = constant(draw(VALUES))
            constants.append(made)
            inputs = [*inputs, made]
        spec = TensorSpec(draw(DTYPES), draw(SHAPES))
        related = draw(st.booleans())
        lines = tuple(draw(st.lists(LINES, max_size=2)))
        nodes.append(
            Node(
                draw(st.sampled_from(("MatMul", "Add", "Conv2D"))), inputs, draw(ATTRS), draw(SCOPES), spec,
                kernel=draw(st.booleans()), number=number, source=() if related else lines,
                related=lines if related else (), related_kind="forward node" if related else "",
            )
        )  # fmt: skip
    return Graph(draw(st.integers(0, 99)), parameters, nodes[-1], nodes, [n for n in nodes if n.kernel], constants)


def printable(name: str) -> bool:
    """True for a name that a ``.ir`` can hold without doubt."""
    # The format has no escapes: a name that looks like what stands around it cannot be told from that.
    return not any(part in name for part in (": <", ">", "\u2028", "\u2029", "\x85", ", ", ") "))
