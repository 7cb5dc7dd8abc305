"""Small graphs made by hand, and a driver that records their steps for an observer as a runtime would."""

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
from harness.recording import (
    Engine,
    Graph,
    Launch,
    Observer,
    Operator,
    Parameter,
    Recording,
    Result,
    Spec,
    Step,
    TensorSpec,
    TupleSpec,
    Value,
)
from harness.recording.events import EMULATION
from harness.recording.graph import declared

DATA = Path(__file__).parent / "data"
ENGINE = Engine(EMULATION, emulated=True)
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


def operator(name: str, inputs: Sequence[Any], spec: Spec, **attributes: Any) -> Operator:
    """An operator of full name ``name`` (``Default/fc1-Dense/MatMul-op0``), which may be an odd one; it overwrites no
    input."""
    scope, _, last = name.rpartition("/")
    op, _, number = last.rpartition("-op")
    outputs = spec.items if isinstance(spec, TupleSpec) else (spec,)
    return Operator.known(op, scope, int(number), attributes, inputs=tuple(inputs), outputs=outputs, mutates=())


def graph_of(nodes: Sequence[Operator], parameters: Sequence[Parameter], graph_id: int = 0, **fields: Any) -> Graph:
    """A graph that returns all ``nodes``."""
    made = Graph(graph_id, ENGINE, parameters=parameters, outputs=tuple(map(Result, nodes)), **fields)
    declared(made, nodes, None)
    return made


Slots = dict[Operator, tuple[list[Value], list[Value]]]


class Net:
    """A graph with the values its operators show; ``run`` records one step for an observer."""

    def __init__(self, graph: Graph, slots: Slots, values: dict[Parameter, Array]) -> None:
        self.graph = graph
        self.slots = slots
        self.values = values
        self.runs = 0

    def parameters(self) -> Iterator[tuple[Parameter, Array]]:
        yield from self.values.items()

    def step(self, observer: Observer, others: Sequence[Net] = ()) -> Step:
        """The next step, for tests that run its operators themselves, and those of ``others`` within it."""
        recording = Recording(ENGINE, observers=[observer])
        own = (*self.slots, *self.graph.operators, *(each for net in others for each in net.slots))
        for graph in {id(each.graph): each.graph for each in own}.values():
            recording.know(graph)
        return recording.step(self.graph, parameters=self.parameters, run=self.runs)

    def launch(self, step: Step, node: Operator) -> Launch:
        """A launch of ``node`` that reads its inputs."""
        return step.launch(node, self.slots[node][0])

    def run(self, observer: Observer, each: Callable[[Operator], None] | None = None) -> None:
        """One step; ``each`` is called with every operator as its kernel."""
        with self.step(observer) as step:
            for node in self.graph.order:
                with self.launch(step, node) as launch:
                    if each is not None:
                        each(node)
                    launch.done(self.slots[node][1])
        self.runs += 1


def measured_net(name: str) -> Net:
    """One of the nets the configuration cases were measured with: its operators, slots and parameters."""
    facts = json.loads((DATA / "config_nets.json").read_text())[name]
    values: dict[Parameter, Array] = {}
    for parameter, dtype in facts["parameters"]:
        kind = dtypes.by_name(dtype)
        values[Parameter(parameter, TensorSpec(kind, (2,)), True)] = tensor(kind, (2,), len(values))
    nodes: list[Operator] = []
    slots: Slots = {}
    for _, full_name, inputs, outputs in facts["ops"]:
        specs = tuple(TensorSpec(dtypes.by_name(dtype), (3,)) for _, dtype in outputs)
        edges = [None] * (1 + max((index for index, _ in inputs), default=-1))
        node = operator(full_name, edges, specs[0] if len(specs) == 1 else TupleSpec(specs))
        nodes.append(node)
        slots[node] = (_slots(inputs), _slots(outputs))
    return Net(graph_of(nodes, list(values)), slots, values)


def _slots(facts: list[tuple[int, str]]) -> list[Value]:
    kinds = [(index, dtypes.by_name(dtype)) for index, dtype in facts]
    return [Value(tensor(kind, (3,), index), kind, index=index) for index, kind in kinds]


def _result(array: Array, kind: DType, given: Sequence[Array]) -> Value:
    """What an operator gave; nobody changes it later, unless it lies in memory that is ``given``."""
    return Value(array, kind, index=0, stable=not any(np.may_share_memory(array, each) for each in given))


def one_op(name: str = "Default/Add-op0", arrays: Sequence[Array] = (), parameter: str = "x", **fields: Any) -> Net:
    """A net of one operator with one output; ``arrays`` are its inputs and, the last, its output."""
    given = list(arrays) or [tensor(dtypes.float32, (2, 3), k) for k in range(3)]
    specs = [TensorSpec(dtypes.from_numpy(a.dtype), a.shape) for a in given]
    weight = Parameter(parameter, specs[0], True)
    edges = [weight if spec == specs[0] else None for spec in specs[:-1]]
    node = operator(name, edges, specs[-1])
    inputs = [Value(a, specs[k].dtype, index=k) for k, a in enumerate(given[:-1])]
    outputs = [_result(given[-1], specs[-1].dtype, given[:-1])]
    graph = graph_of([node], [weight], **fields)
    return Net(graph, {node: (inputs, outputs)}, {weight: given[0]})


def chain(*arrays: Array, op: str = "Add", **attributes: Any) -> Net:
    """A net of one operator for each array, which is its output; the input of all is the weight ``w``."""
    weight = Parameter("w", TensorSpec(dtypes.float32, (2,), "w"), True)
    data = Parameter("x", TensorSpec(dtypes.float32, (2,)), False)
    value = tensor(dtypes.float32, (2,))
    nodes, slots = [], {}
    for number, array in enumerate(arrays):
        kind = dtypes.from_numpy(array.dtype)
        made = operator(f"Default/{op}-op{number}", [weight, data], TensorSpec(kind, array.shape), **attributes)
        nodes.append(made)
        read = [Value(value, dtypes.float32, index=slot) for slot in range(2)]
        slots[made] = (read, [_result(array, kind, [value])])
    return Net(graph_of(nodes, [weight, data]), slots, {weight: value, data: value})


def npy_files(root: Path) -> list[Path]:
    """Every ``.npy`` below ``root``, oldest timestamp first."""
    return sorted(root.rglob("*.npy"), key=lambda path: path.name.split(".")[-6:-5])


def dumped(root: Path, *nets: Net, steps: int = 1, **changes: Any) -> DumpObserver:
    """Runs nets one after the other with the dump of everything, changed by ``changes``."""
    watcher = DumpObserver(config(root, **changes))
    for net in nets:
        watcher.graph_declared(net.graph)
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
        watcher.graph_declared(net.graph)
    for net in nets:
        for _ in range(steps):
            net.run(watcher)
    watcher.closed()
    return watcher


def fields(path: Path) -> list[str]:
    """The ten parts of a dump file's name."""
    return path.name.split(".")
