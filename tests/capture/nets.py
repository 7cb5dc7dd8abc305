"""Runs of small graphs for hypothesis, recorded for observers as a runtime records them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from harness import dtypes
from harness.dtypes import DType
from harness.recording import (
    Constant,
    Engine,
    Graph,
    Observer,
    Operator,
    Parameter,
    Recording,
    Result,
    ScalarSpec,
    SourceLine,
    TensorSpec,
    TupleSpec,
    Value,
)
from harness.recording.events import EMULATION
from harness.recording.graph import declared
from harness.recording.value import Array

ENGINE = Engine(EMULATION, emulated=True)
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
    """One graph, what its operators show, and how often each is launched in a step."""

    graph: Graph
    slots: dict[Operator, tuple[list[Value], list[Value]]]
    parameters: dict[Parameter, Array]
    repeats: dict[Operator, int]
    runs: int = 0

    def present(self) -> Iterator[tuple[Parameter, Array]]:
        yield from self.parameters.items()

    def run(self, observers: Sequence[Observer]) -> None:
        """Records one step."""
        recording = Recording(ENGINE, observers=observers)
        recording.know(self.graph)
        with recording.step(self.graph, parameters=self.present, run=self.runs) as step:
            for node in self.graph.order:
                for _ in range(self.repeats[node]):
                    inputs, outputs = self.slots[node]
                    with step.launch(node, inputs) as launch:
                        launch.done(outputs)
        self.runs += 1


def _argument(draw: st.DrawFn, index: int) -> tuple[Constant, Value]:
    """A tensor, a number or a tuple of ints, as an operand and as the slot it shows."""
    kind = draw(st.sampled_from(("tensor", "number", "ints")))
    if kind == "number":
        value = draw(st.integers(-9, 9))
        return Constant(value, ScalarSpec(dtypes.int64)), Value(np.asarray(value, np.int64), dtypes.int64, index=index)
    if kind == "ints":
        ints = tuple(draw(st.lists(st.integers(-9, 9), max_size=3)))
        spec = TupleSpec((ScalarSpec(dtypes.int64),) * len(ints))
        return Constant(ints, spec), Value(np.asarray(ints, np.int64), dtypes.int64, index=index)
    dtype, shape = draw(DTYPES), draw(SHAPES)
    array = values(dtype, shape, draw(st.integers(0, 3)))
    return Constant(array, TensorSpec(dtype, shape)), Value(array, dtype, index=index)


def _node(draw: st.DrawFn, counters: dict[str, int]) -> tuple[Operator, list[Value], list[Value]]:
    scope, op = draw(SCOPES), draw(st.sampled_from(("Add", "MatMul")))
    number = counters.get(f"{scope}/{op}", 0)
    counters[f"{scope}/{op}"] = number + 1
    arguments = [_argument(draw, index) for index in range(draw(st.integers(1, 3)))]
    inputs = [slot for _, slot in arguments if draw(st.booleans())]  # arguments a kernel does not read show nothing
    outputs = []
    for index in range(draw(st.integers(1, 2))):
        dtype, shape = draw(DTYPES), draw(SHAPES)
        outputs.append(Value(values(dtype, shape, draw(st.integers(0, 3))), dtype, index=index))
    specs = tuple(TensorSpec(slot.dtype, slot.shape) for slot in outputs)
    lines = (SourceLine("/home/me/net.py", draw(st.integers(1, 9)), 9, None, None, "text"),) * draw(st.integers(0, 1))
    node = Operator(
        op, scope, {}, [operand for operand, _ in arguments], specs, mutates=(), source=lines, number=number
    )  # fmt: skip
    return node, inputs, outputs


@st.composite
def processes(draw: st.DrawFn) -> tuple[list[Net], list[int]]:
    """The graphs of one process, and the order in which they run."""
    counters: dict[str, int] = {}
    nets: list[Net] = []
    for graph_id in range(draw(st.integers(1, 2))):
        made = [_node(draw, counters) for _ in range(draw(st.integers(1, 4)))]
        nodes = [node for node, _, _ in made]
        parameters = {}
        for name in draw(st.lists(NAMES, unique=True, max_size=4)):
            dtype, shape = draw(DTYPES), draw(SHAPES)
            spec = TensorSpec(dtype, shape, name)
            parameters[Parameter(name, spec, True)] = values(dtype, shape, draw(st.integers(0, 3)))
        graph = Graph(graph_id, ENGINE, parameters=tuple(parameters), outputs=tuple(map(Result, nodes)))
        declared(graph, nodes, None)
        repeats = {node: draw(st.integers(1, 2)) for node in nodes}
        slots = {node: (inputs, outputs) for node, inputs, outputs in made}
        nets.append(Net(graph, slots, parameters, repeats))
    return nets, draw(st.lists(st.integers(0, len(nets) - 1), min_size=1, max_size=5))
