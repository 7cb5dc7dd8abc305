"""Plans of compiled graphs on each device, and the addresses they give."""

from __future__ import annotations

import numpy as np
import pytest

from harness import ops
from harness.devices import DEVICES
from harness.framework.tensor import Tensor
from harness.graph import Graph
from harness.memory import MemoryPlan, addresses, plan, texts
from tests.framework.compile.build import compiled, floats, graph_of


def graph(*shape: int) -> Graph:
    return graph_of(lambda self, x: ops.exp(ops.reshape(ops.exp(ops.exp(x)), (-1,))) + 1, floats(*shape))


@pytest.mark.parametrize(("nbytes", "taken"), [(2048, 2560), (480, 512), (484, 1024), (4, 512)])
def test_ascend_keeps_32_bytes_behind_each_tensor(nbytes: int, taken: int) -> None:
    found = plan(graph(nbytes // 4), DEVICES.get("ascend-o0"))
    assert {t.aligned for t in found.state.tensors if t.kind != "GraphOutput"} == {taken}
    assert {t.size for t in found.state.tensors} == {nbytes}
    assert all(name.startswith("Ascend_somas_") for name in texts.artefacts(found) if "solver" not in name
               and "relation" not in name)  # fmt: skip


@pytest.mark.parametrize("device", list(DEVICES))
def test_every_device_plans(device: str) -> None:
    found = plan(graph(30), DEVICES.get(device))
    assert found.lower_bound() <= found.total <= found.sum_of_sizes()
    assert plan(graph(30), DEVICES.get(device), reuse=False).total == found.sum_of_sizes()


def test_a_dynamic_graph_is_not_planned() -> None:
    class Dynamic(ops_cell()):  # type: ignore[misc]
        def construct(self, x: Tensor) -> Tensor:
            return ops.exp(ops.exp(x) + 1)

    with compiled() as graphs:
        network = Dynamic()
        network.set_inputs(Tensor(shape=[None, 3], dtype=floats(1).dtype))
        network(floats(2, 3))
    found = plan(graphs[0])
    assert not found.planned
    assert texts.artefacts(found) == {}
    assert (found.total, found.sizes) == (0, (0,) * len(found.sizes))
    assert addresses(found).keys() == {node.name for node in graphs[0].execution_order}


def ops_cell() -> type:
    from harness import nn

    return nn.Cell


def lies(found: MemoryPlan, base: int) -> None:
    """Every kernel's addresses are what the plan says, and what it reads is where it was written."""
    at = addresses(found, base)
    state = found.state
    outside: dict[object, int] = {}
    for node in state.nodes:
        told = at[node.name]
        tensors = [*zip(node.outputs, told.outputs, strict=True), *zip(node.workspaces, told.workspaces, strict=True)]
        tensors += [(s.index, a) for s, a in zip(node.inputs, told.inputs, strict=True) if s.sort == "T"]
        for index, address in tensors:
            tensor = state.tensors[index]
            assert address.size == tensor.size
            if tensor.aligned:
                assert address.start == base + tensor.offset
            else:
                assert address.start is None or address.start >= base + found.total
                assert outside.setdefault(("T", index), address.start) == address.start
        for source, address in zip(node.inputs, told.inputs, strict=True):
            if source.sort == "P":
                assert outside.setdefault(("P", source.index), address.start) == address.start
                assert (address.start is None) == (address.size == 0)


@pytest.mark.parametrize("base", [0, 0x7F0000000000])
def test_addresses_come_from_the_plan(base: int) -> None:
    lies(plan(graph(30)), base)


def test_an_updated_parameter_keeps_its_address() -> None:
    found = plan(graph_of(lambda self, x: ops.assign_add(self.w, x + x), floats(2, 3)))
    update = next(node for node in found.state.nodes if node.op == "AssignAdd")
    told = addresses(found)[update.name]
    assert told.outputs[0].start == told.inputs[0].start
    lies(found, 0)


def test_no_texts_below_level_2_and_no_solver_below_3() -> None:
    found = plan(graph(30))
    assert texts.artefacts(found, 0) == texts.artefacts(found, 1) == {}
    solver = {"somas_solver_input_0.ir", "somas_solver_output_0.ir", "somas_tensor_relation_0.ir"}
    assert texts.artefacts(found, 3).keys() - texts.artefacts(found, 2).keys() == solver
    with pytest.raises(ValueError, match="initial_info"):
        texts.info(found, "first")


def test_sizes_are_those_of_the_tensors() -> None:
    source = graph(5, 6)
    found = plan(source)
    assert found.state.tensors[0].size == np.zeros((5, 6), np.float32).nbytes
    assert len(found.state.tensors) == len(source.execution_order)
