"""Runs of small graphs for hypothesis, shown to observers as a runtime shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from harness import dtypes
from harness.dtypes import DType
from harness.framework.runtime.observer import Array, Observer, Slot, Step
from harness.graph import Const, Graph, Node, Parameter, ScalarSpec, SourceLine, Spec, TensorSpec, TupleSpec

DTYPES = st.sampled_from([d for d in dtypes.ALL if d.kind != "c"])
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
SCOPES = st.sampled_from(
    ("Default", "Default/a.b", "Default/a_b", "Default/a/b", "Default/层 0-Dense", "Default/" + "n" * 240)
)
NAMES = st.sampled_from(("a.b", "a_b", "a b", "enc/layer 0.w\\x", "q\"uo,te's", "权重-1", "x", "w" * 250))


def values(dtype: DType, shape: tuple[int, ...], seed: int) -> Array:
    """Any bits (NaN payloads, -0.0 and denormals among them), the same for the same seed."""
    if dtype.kind == "b":
        return np.asarray(np.random.default_rng(seed).integers(0, 2, shape), np.bool_)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return np.frombuffer(np.random.default_rng(seed).bytes(count), dtype.numpy).reshape(shape).copy()


@dataclass(eq=False)
class Net:
    """One graph, what its kernels show, and how often each kernel runs in a step."""

    graph: Graph
    slots: dict[Node, tuple[list[Slot], list[Slot]]]
    parameters: dict[Parameter, Array]
    repeats: dict[Node, int]
    runs: int = 0

    def present(self) -> Iterator[tuple[Parameter, Array]]:
        yield from self.parameters.items()

    def run(self, observers: Sequence[Observer]) -> None:
        """Shows one step."""
        step = Step(self.graph, self.runs, self.present)
        for observer in observers:
            observer.step_begin(step)
        for node in self.graph.execution_order:
            for _ in range(self.repeats[node]):
                inputs, outputs = self.slots[node]
                for observer in observers:
                    observer.kernel_inputs(node, inputs)
                for observer in observers:
                    observer.kernel_outputs(node, inputs, outputs)
        for observer in observers:
            observer.step_end(step)
        self.runs += 1


def _argument(draw: st.DrawFn, index: int) -> tuple[Const, Slot]:
    """A tensor, a number or a tuple of ints, as an operand and as the slot it shows."""
    kind = draw(st.sampled_from(("tensor", "number", "ints")))
    if kind == "number":
        value = draw(st.integers(-9, 9))
        return Const(value, ScalarSpec(dtypes.int64)), Slot(index, np.asarray(value, np.int64), dtypes.int64)
    if kind == "ints":
        ints = tuple(draw(st.lists(st.integers(-9, 9), max_size=3)))
        spec = TupleSpec((ScalarSpec(dtypes.int64),) * len(ints))
        return Const(ints, spec), Slot(index, np.asarray(ints, np.int64), dtypes.int64)
    dtype, shape = draw(DTYPES), draw(SHAPES)
    array = values(dtype, shape, draw(st.integers(0, 3)))
    return Const(array, TensorSpec(dtype, shape)), Slot(index, array, dtype)


def _node(draw: st.DrawFn, counters: dict[str, int]) -> tuple[Node, list[Slot], list[Slot]]:
    scope, op = draw(SCOPES), draw(st.sampled_from(("Add", "MatMul")))
    number = counters.get(f"{scope}/{op}", 0)
    counters[f"{scope}/{op}"] = number + 1
    arguments = [_argument(draw, index) for index in range(draw(st.integers(1, 3)))]
    inputs = [slot for _, slot in arguments if draw(st.booleans())]  # arguments a kernel does not read show nothing
    outputs = []
    for index in range(draw(st.integers(1, 2))):
        dtype, shape = draw(DTYPES), draw(SHAPES)
        outputs.append(Slot(index, values(dtype, shape, draw(st.integers(0, 3))), dtype))
    specs: tuple[Spec, ...] = tuple(TensorSpec(slot.dtype, slot.array.shape) for slot in outputs)
    lines = (SourceLine("/home/me/net.py", draw(st.integers(1, 9)), 9, None, None, "text"),) * draw(st.integers(0, 1))
    node = Node(
        op, [operand for operand, _ in arguments], {}, scope, specs[0] if len(specs) == 1 else TupleSpec(specs),
        number=number, source=lines,
    )  # fmt: skip
    return node, inputs, outputs


@st.composite
def processes(draw: st.DrawFn) -> tuple[list[Net], list[int]]:
    """The graphs of one process, and the order in which they run."""
    counters: dict[str, int] = {}
    nets: list[Net] = []
    for graph_id in range(draw(st.integers(1, 2))):
        made = [_node(draw, counters) for _ in range(draw(st.integers(1, 4)))]
        nodes: list[Any] = [node for node, _, _ in made]
        parameters = {}
        for name in draw(st.lists(NAMES, unique=True, max_size=4)):
            dtype, shape = draw(DTYPES), draw(SHAPES)
            spec = TensorSpec(dtype, shape, name)
            parameters[Parameter(name, spec, True)] = values(dtype, shape, draw(st.integers(0, 3)))
        result = Node(
            "MakeTuple", nodes, {}, "Default", TupleSpec(tuple(n.spec for n in nodes)), kernel=False, number=0
        )
        constants = [operand for node in nodes for operand in node.inputs]
        graph = Graph(graph_id, list(parameters), result, [*nodes, result], nodes, constants, root_id=graph_id)
        repeats = {node: draw(st.integers(1, 2)) for node in nodes}
        slots = {node: (inputs, outputs) for node, inputs, outputs in made}
        nets.append(Net(graph, slots, parameters, repeats))
    return nets, draw(st.lists(st.integers(0, len(nets) - 1), min_size=1, max_size=5))
