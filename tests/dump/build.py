"""Small graphs made by hand, and a driver that shows them to an observer as a runtime would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness import dtypes
from harness.devices import DEVICES
from harness.dtypes import DType
from harness.dump import DumpConfig, DumpObserver, parse
from harness.dump.npy import Array
from harness.framework.runtime.observer import Observer, Slot, Step
from harness.graph import Graph, Node, Parameter, TensorSpec, TupleSpec

DATA = Path(__file__).parent / "data"
NPY = re.compile(r"^[^.]+\.[^.]+\.\d+\.\d+\.\d{16}\.(input|output)\.\d+\.[^.]+\.[^.]+\.npy$")


def config_text(path: Path, e2e: dict[str, Any] | None = None, **changes: Any) -> str:
    """A file that dumps everything below ``path``; ``changes`` go to the common section."""
    common = {
        "dump_mode": 0, "path": str(path), "net_name": "Net", "iteration": "all", "input_output": 0, "kernels": [],
        "support_device": [0],
    }  # fmt: skip
    return json.dumps({"common_dump_settings": common | changes, "e2e_dump_settings": e2e or {}})


def config(path: Path, **changes: Any) -> DumpConfig:
    """``config_text``, read."""
    return parse(config_text(path, **changes))


def tensor(dtype: DType, shape: tuple[int, ...], start: int = 0) -> Array:
    """Values that differ from slot to slot."""
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(start, start + count) % 100).astype(dtype.numpy).reshape(shape)


def operator(name: str, inputs: Sequence[Any], spec: Any) -> Node:
    """A kernel of full name ``name`` (``Default/fc1-Dense/MatMul-op0``)."""
    scope, _, last = name.rpartition("/")
    op, _, number = last.rpartition("-op")
    return Node(op, list(inputs), {}, scope, spec, number=int(number))


def graph_of(nodes: Sequence[Node], parameters: Sequence[Parameter], graph_id: int = 0, **fields: Any) -> Graph:
    """A graph that returns the tuple of all ``nodes``."""
    specs = tuple(node.spec for node in nodes)
    result = Node("MakeTuple", list(nodes), {}, "Default", TupleSpec(specs), kernel=False, number=0)
    return Graph(
        graph_id, list(parameters), result, [*nodes, result], list(nodes), root_id=fields.pop("root_id", graph_id),
        **fields,
    )  # fmt: skip


Slots = dict[Node, tuple[list[Slot], list[Slot]]]


class Net:
    """A graph with the slots its kernels show; ``run`` shows one step to an observer."""

    def __init__(self, graph: Graph, slots: Slots, values: dict[Parameter, Array]) -> None:
        self.graph = graph
        self.slots = slots
        self.values = values
        self.runs = 0

    def parameters(self) -> Iterator[tuple[Parameter, Array]]:
        yield from self.values.items()

    def run(self, observer: Observer, each: Callable[[Node], None] | None = None) -> None:
        step = Step(self.graph, self.runs, self.parameters)
        observer.step_begin(step)
        for node in self.graph.execution_order:
            inputs, outputs = self.slots[node]
            observer.kernel_inputs(node, inputs)
            if each is not None:
                each(node)
            observer.kernel_outputs(node, inputs, outputs)
        observer.step_end(step)
        self.runs += 1


def measured_net(name: str) -> Net:
    """One of the nets the configuration cases were measured with: its operators, slots and parameters."""
    facts = json.loads((DATA / "config_nets.json").read_text())[name]
    values: dict[Parameter, Array] = {}
    for parameter, dtype in facts["parameters"]:
        kind = dtypes.by_name(dtype)
        values[Parameter(parameter, TensorSpec(kind, (2,)), True)] = tensor(kind, (2,), len(values))
    nodes: list[Node] = []
    slots: Slots = {}
    first = next(iter(values))
    for _, full_name, inputs, outputs in facts["ops"]:
        specs = tuple(TensorSpec(dtypes.by_name(dtype), (3,)) for _, dtype in outputs)
        node = operator(full_name, [first], specs[0] if len(specs) == 1 else TupleSpec(specs))
        nodes.append(node)
        slots[node] = (_slots(inputs), _slots(outputs))
    return Net(graph_of(nodes, list(values)), slots, values)


def _slots(facts: list[tuple[int, str]]) -> list[Slot]:
    kinds = [(index, dtypes.by_name(dtype)) for index, dtype in facts]
    return [Slot(index, tensor(kind, (3,), index), kind) for index, kind in kinds]


def one_op(name: str = "Default/Add-op0", arrays: Sequence[Array] = (), parameter: str = "x", **fields: Any) -> Net:
    """A net of one operator with one output; ``arrays`` are its inputs and, the last, its output."""
    given = list(arrays) or [tensor(dtypes.float32, (2, 3), k) for k in range(3)]
    specs = [TensorSpec(dtypes.from_numpy(a.dtype), a.shape) for a in given]
    weight = Parameter(parameter, specs[0], True)
    node = operator(name, [weight] * (len(given) - 1), specs[-1])
    inputs = [Slot(k, a, specs[k].dtype) for k, a in enumerate(given[:-1])]
    outputs = [Slot(0, given[-1], specs[-1].dtype)]
    graph = graph_of([node], [weight], **fields)
    return Net(graph, {node: (inputs, outputs)}, {weight: given[0]})


def chain(*arrays: Array, op: str = "Add", **node: Any) -> Net:
    """A net of one operator for each array, which is its output; the input of all is the weight ``w``."""
    weight = Parameter("w", TensorSpec(dtypes.float32, (2,), "w"), True)
    data = Parameter("x", TensorSpec(dtypes.float32, (2,)), False)
    value = tensor(dtypes.float32, (2,))
    nodes, slots = [], {}
    for number, array in enumerate(arrays):
        kind = dtypes.from_numpy(array.dtype)
        made = operator(f"Default/{op}-op{number}", [weight, data], TensorSpec(kind, array.shape))
        made.attrs.update(node)
        nodes.append(made)
        slots[made] = ([Slot(0, value, dtypes.float32), Slot(1, value, dtypes.float32)], [Slot(0, array, kind)])
    return Net(graph_of(nodes, [weight, data]), slots, {weight: value, data: value})


def npy_files(root: Path) -> list[Path]:
    """Every ``.npy`` below ``root``, oldest timestamp first."""
    return sorted(root.rglob("*.npy"), key=lambda path: path.name.split(".")[-6:-5])


def dumped(root: Path, *nets: Net, steps: int = 1, **changes: Any) -> DumpObserver:
    """Runs nets one after the other with the dump of everything, changed by ``changes``."""
    watcher = DumpObserver(config(root, **changes))
    for net in nets:
        watcher.graph_compiled(net.graph)
    for net in nets:
        for _ in range(steps):
            net.run(watcher)
    watcher.closed()
    return watcher


def dumped_on(
    root: Path,
    device: str,
    *nets: Net,
    steps: int = 1,
    e2e: dict[str, Any] | None = None,
    environ: dict[str, str] | None = None,
    **changes: Any,
) -> DumpObserver:
    """As ``dumped``, on an emulated device; ``e2e`` is the section of that name."""
    read = parse(config_text(root, {"enable": True} | (e2e or {}), **changes), device, environ=environ or {})
    watcher = DumpObserver(read, DEVICES.get(device))
    for net in nets:
        watcher.graph_compiled(net.graph)
    for net in nets:
        for _ in range(steps):
            net.run(watcher)
    watcher.closed()
    return watcher


def fields(path: Path) -> list[str]:
    """The ten parts of a dump file's name."""
    return path.name.split(".")
