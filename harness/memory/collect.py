"""Collects the parts of a compiled graph for its memory plan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.devices import Device
from harness.graph import Const, Graph, Node, OpaqueSpec, Operand, Parameter, ScalarSpec, Spec, TensorSpec, TupleSpec
from harness.memory.model import Kind, PlanNode, PlanParameter, PlanTensor, Source, State
from harness.memory.workspaces import workspaces

_HAND_ON = frozenset({"Load", "Depend"})


def is_dynamic(graph: Graph) -> bool:
    """Whether a size becomes known only at run time; such a graph is not planned."""
    return any(
        isinstance(spec, TensorSpec) and spec.size < 0 for node in graph.execution_order for spec in node.outputs
    )


def collect(graph: Graph, device: Device) -> State:
    """Parameters, tensors and nodes of a graph as planning starts, with aligned sizes and lifetimes."""
    return _Collector(graph, device).state()


class _Collector:
    def __init__(self, graph: Graph, device: Device) -> None:
        self._graph = graph
        self._device = device
        self._parameters: dict[int, PlanParameter] = {}
        self._constants = 0
        self._first: dict[int, int] = {}  # first tensor of each node, by the node's id
        self._tensors: list[tuple[int, int, Kind]] = []  # node, bytes, kind

    def state(self) -> State:
        nodes = tuple(self._node(position, node) for position, node in enumerate(self._graph.execution_order))
        outputs = {tensor for tensor, _ in self._sources(self._graph.output) if tensor is not None}
        tensors = tuple(
            self._tensor(index, node, size, "GraphOutput" if index in outputs else kind)
            for index, (node, size, kind) in enumerate(self._tensors)
        )
        state = State(tuple(self._parameters.values()), tensors, nodes)
        return _with_lifetimes(state)

    def _node(self, position: int, node: Node) -> PlanNode:
        inputs = tuple(
            Source("P", parameter) if tensor is None else Source("T", tensor)
            for operand in node.inputs
            for tensor, parameter in self._sources(operand)
        )
        self._first[id(node)] = len(self._tensors)
        outputs = tuple(self._add(position, _nbytes(spec), "Common") for spec in node.outputs)
        extra = workspaces(node) if self._device.target == "CPU" else []
        return PlanNode(
            position,
            node.name,
            inputs,
            outputs,
            tuple(self._add(position, size, "Workspace") for size in extra),
            self._stream(position, node),
        )

    def _stream(self, position: int, node: Node) -> int:
        """The CPU's plan gives each node a stream of its own, so that only data orders them (measured)."""
        return position if self._device.target == "CPU" else self._device.streams.stream_of(node.op, node.attrs)

    def _add(self, node: int, size: int, kind: Kind) -> int:
        self._tensors.append((node, size, kind))
        return len(self._tensors) - 1

    def _tensor(self, index: int, node: int, size: int, kind: Kind) -> PlanTensor:
        aligned = 0 if kind == "GraphOutput" else self._device.memory.aligned(size)
        return PlanTensor(index, aligned, size, 0, kind, "None", node, node, node)

    def _sources(self, operand: Operand) -> Iterator[tuple[int | None, int]]:
        """``(tensor, 0)`` or ``(None, parameter)`` of everything ``operand`` is made of; nothing for a monad."""
        if isinstance(operand, Parameter):
            yield None, self._parameter(operand, operand.name)
        elif isinstance(operand, Const):
            if not (isinstance(operand.spec, OpaqueSpec) and operand.spec.kind.endswith("Monad")):
                yield None, self._parameter(operand, "")
        elif id(operand) in self._first:
            for output in range(len(operand.outputs)):
                yield self._first[id(operand)] + output, 0
        elif operand.op in _HAND_ON:
            yield from self._sources(operand.inputs[0])
        elif operand.op == "TupleGetItem":
            index = operand.inputs[1]
            assert isinstance(index, Const)
            yield list(self._sources(operand.inputs[0]))[index.value]
        elif operand.op == "MakeTuple":
            for member in operand.inputs:
                yield from self._sources(member)
        elif operand.op != "UpdateState":
            yield None, self._parameter(operand, operand.name)

    def _parameter(self, operand: Operand, name: str) -> int:
        found = self._parameters.get(id(operand))
        if found is None:
            if not name and isinstance(operand, Const):
                name = f"Default/data-{self._constants}"
                self._constants += 1
            size = _constant_bytes(operand) if isinstance(operand, Const) else _nbytes(operand.spec)
            found = PlanParameter(len(self._parameters), size, name)
            self._parameters[id(operand)] = found
        return found.index


def _with_lifetimes(state: State) -> State:
    """Each tensor lives from its source to its last reader; an output nobody reads is ``OutputOnly``."""
    read = {source.index for node in state.nodes for source in node.inputs if source.sort == "T"}
    tensors = []
    for tensor, readers in zip(state.tensors, state.consumers(), strict=True):
        unread = tensor.kind == "Common" and tensor.index not in read
        kind: Kind = "OutputOnly" if unread else tensor.kind
        tensors.append(
            PlanTensor(
                tensor.index, tensor.aligned, tensor.size, 0, kind, "None", tensor.node, max(readers), tensor.node
            )
        )
    return State(state.parameters, tuple(tensors), state.nodes)


def _nbytes(spec: Spec) -> int:
    if isinstance(spec, TensorSpec):
        return max(spec.nbytes, 0)
    if isinstance(spec, ScalarSpec):
        return spec.dtype.itemsize
    return sum(map(_nbytes, spec.items)) if isinstance(spec, TupleSpec) else 0


def _constant_bytes(constant: Const) -> int:
    return constant.value.nbytes if isinstance(constant.value, np.ndarray) else _nbytes(constant.spec)
