"""Edges of PyTorch's operators: beside PyTorch's own graphs, and beside who wrote each element in drawn programs."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from harness.capture import Capture  # noqa: E402
from harness.capture.torch import TorchCapture  # noqa: E402
from harness.recording import Described, Edge  # noqa: E402
from harness.recording.described import SETTINGS_TYPE  # noqa: E402
from tests.capture.torch.runs import CASES, Mlp, conv_net, encoder  # noqa: E402
from tests.capture.torch.runs import captured as captured_training  # noqa: E402

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]

#: a node of either graph: its number among those that compute, or the name of what came from outside
Node = int | str
LAYOUTS = frozenset({
    "view", "_unsafe_view", "t", "transpose", "permute", "expand", "select", "slice", "unsqueeze", "squeeze", "detach",
    "alias", "as_strided", "split", "split_with_sizes", "unbind", "diagonal", "_reshape_alias", "lift_fresh",
})  # fmt: skip


# --- beside PyTorch's own graphs ------------------------------------------------------------------------------------


def traced(function: Callable[..., Any], *args: Any) -> list[tuple[str, list[set[Node]]]]:
    """The computing nodes of PyTorch's graph, without updates in place: type, and for each tensor where it may come
    from: a written slice comes from the write and from what was there before."""
    graph = make_fx(function)(*args).graph
    sources: dict[Any, set[Node]] = {}
    found: list[tuple[str, list[set[Node]]]] = []
    for node in graph.nodes:
        if node.op == "placeholder":
            sources[node] = {str(node.name)}
        elif node.op == "get_attr":
            sources[node] = {"constant"}
        elif node.op == "call_function" and "getitem" in str(node.target):
            sources[node] = sources[node.args[0]]
        elif node.op == "call_function":
            kind = node.target._schema.name.partition("::")[2]
            inputs = node.all_input_nodes if not kind.endswith("_scatter") else node.args[:2]
            given_to = [sources[each] for each in node.args if each in sources] if kind in LAYOUTS else []
            if kind.startswith(("empty", "new_empty")):
                sources[node] = {"unknown"}
            elif kind in LAYOUTS:
                sources[node] = given_to[0]
            elif kind.endswith("_scatter"):
                sources[node] = set().union(*(sources[each] for each in inputs))
            elif kind == "copy_" and node.args[0].op == "placeholder":
                continue  # what was written goes back to an argument
            else:
                sources[node] = {len(found)}
                found.append((kind, [sources[each] for each in _flat([*node.args, *node.kwargs.values()])]))
    return found


def _flat(given_to: Any) -> Iterator[Any]:
    """The nodes among arguments, but for those of empty tensors, which a capture leaves out."""
    for each in given_to:
        if isinstance(each, (list, tuple)):
            yield from _flat(each)
        elif isinstance(each, torch.fx.Node) and (each.op == "placeholder" or each.meta["tensor_meta"].shape.numel()):
            yield each


class Graph:
    """The operators of a capture, without views."""

    def __init__(self, capture: Capture) -> None:
        self._by_name = {one.name: one for one in capture.operators.values() if one.type != SETTINGS_TYPE}
        self.computing = [one for one in self._by_name.values() if one.type not in LAYOUTS]
        self._number = {one.name: at for at, one in enumerate(self.computing)}

    def source(self, edge: Edge) -> Node:
        """The computing operator that an edge comes from, through views; else its name."""
        while edge.kind == "result" and edge.name not in self._number:
            edge = self._by_name[edge.name].inputs[0]
        return self._number[edge.name] if edge.kind == "result" else edge.name or edge.kind

    def tensors(self, one: Described) -> list[Node]:
        """The sources of the tensors that an operator reads or overwrites."""
        names = one.names or ("",) * len(one.inputs)
        return [self.source(edge) for edge, name in zip(one.inputs, names, strict=True) if name in ("", "self")]

    def written(self, one: Described) -> list[int]:
        """The slots that it updates."""
        return [*(one.mutates or ())]


class Slices(nn.Module):
    """Updates in place of slices, views made before and after, a buffer that counts."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x: Any) -> Any:
        y = x * self.scale
        left, right = y[:, :3], y[:, 3:]
        left.mul_(2.0)
        self.seen.add_(right.sum(0).mean())
        z = left + right
        y[1].zero_()
        return y.t() @ z, right.exp(), self.seen * 1.0


def _networks() -> dict[str, tuple[Callable[[], nn.Module], Any]]:
    return {
        "mlp": (Mlp, (5, 6)),
        "conv": (lambda: conv_net().eval(), (4, 2, 6, 6)),
        "encoder": (lambda: encoder().eval(), (3, 5, 8)),
        "slices": (Slices, (4, 6)),
    }


@pytest.mark.parametrize(
    ("name", "backward"),
    [(name, backward) for name in ("mlp", "conv", "encoder", "slices") for backward in (False, True)][:-1],
    ids=lambda value: value if isinstance(value, str) else ("forward", "backward")[value],
)
def test_as_pytorchs_own_graph(name: str, backward: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    make, shape = _networks()[name]
    # PyTorch's graph has the operators inside of attention.
    monkeypatch.setattr(torch.backends.mha, "get_fastpath_enabled", lambda: False)
    torch.manual_seed(3)
    module, x = make(), torch.randn(shape)
    names = [*dict(module.named_parameters()), *dict(module.named_buffers())]
    held = [*module.parameters(), *module.buffers()]

    def program(values: list[Any], data: Any) -> Any:
        made = torch.func.functional_call(module, dict(zip(names, values, strict=True)), (data,))
        if not backward:
            return made
        loss = sum(each.square().sum() for each in (made if isinstance(made, tuple) else (made,)))
        return torch.autograd.grad(loss, values[: len(list(module.parameters()))])

    kept = [each.detach().clone().requires_grad_(each.requires_grad) for each in held]
    with torch.no_grad() if not backward else torch.enable_grad():
        nodes = traced(program if backward else torch.func.functionalize(program), kept, x)
    watch = TorchCapture(module, paths=True)
    with watch.step(), torch.no_grad() if not backward else torch.enable_grad():
        program(held, x)
    graph = Graph(watch.capture())
    outside = {f"values_{at + 1}": known for at, known in enumerate(names)}
    outside["data_1"] = next(iter(inspect.signature(module.forward).parameters))
    assert [one.type.removesuffix("_") for one in graph.computing] == [kind.removesuffix("_") for kind, _ in nodes]
    compared = 0
    for one, (_, wanted) in zip(graph.computing, nodes, strict=True):
        found = graph.tensors(one)
        assert len(found) == len(wanted), one
        for mine, theirs in zip(found, wanted, strict=True):
            assert mine in {outside.get(str(each), each) for each in theirs}, (one, theirs)
            compared += len(theirs) == 1
    assert compared > 3


# --- beside the writers of each element -----------------------------------------------------------------------------


class Drawn(nn.Module):
    """A program of views, operators and updates in place, drawn from a seed. A second memory, on which the same views
    are laid, holds the number of the operator that wrote each element last."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.draw = random.Random(seed)
        self.weight = nn.Parameter(torch.ones(4, 6))
        #: what each operator is expected to read, in order
        self.expected: list[list[int]] = []

    def forward(self, x: Any) -> Any:
        self.expected = []
        held = [(self.weight, np.full((4, 6), -2)), (x, np.full((4, 6), -1))]
        for _ in range(24):
            held.append(self._step(held))
        return [each for each, _ in held[2:]]

    def _step(self, held: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        value, writers = self.draw.choice(held)
        action = self.draw.choice(("view", "view", "view", "new", "change", "overwrite"))
        if action == "view":
            view = self._view(value)
            return view(value), view(writers)
        number = len(self.expected)
        if action == "overwrite":
            self.expected.append([int(writers.max())])
            value.zero_()
        elif action == "change":
            self.expected.append([int(writers.max())])
            value.mul_(0.5)
        else:
            other, others = self.draw.choice(held)
            same = other.shape == value.shape
            self.expected.append([int(writers.max()), int(others.max())] if same else [int(writers.max())])
            made = value + other if same else value.sin()
            return made, np.full(made.shape, number)
        writers[...] = number
        return value, writers

    def _view(self, value: Any) -> Callable[[Any], Any]:
        draw = self.draw
        axis = draw.randrange(value.dim())
        size = value.shape[axis]
        start = draw.randrange(size)
        end = draw.randrange(start, size) + 1
        step = draw.choice((1, 1, 2))
        kind = draw.choice(("slice", "slice", "t", "reshape"))
        if kind == "slice":
            return lambda each: each[(slice(None),) * axis + (slice(start, end, step),)]
        if kind == "t" or not value.is_contiguous():
            return lambda each: each.swapaxes(0, -1)
        return lambda each: each.reshape(-1, each.shape[0])


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_each_input_comes_from_who_wrote_last(seed: int) -> None:
    module = Drawn(seed)
    watch, x = TorchCapture(module, paths=True), torch.ones(4, 6)
    with watch.step(), torch.no_grad():
        module(x)
    graph = Graph(watch.capture())
    assert [one.type for one in graph.computing if one.type not in ("add", "sin", "mul_", "zero_")] == []
    assert len(graph.computing) == len(module.expected)
    outside = {-1: "x", -2: "weight"}
    for one, wanted in zip(graph.computing, module.expected, strict=True):
        assert graph.written(one) == ([0] if one.type.endswith("_") else []), one
        found = [graph.source(one.inputs[slot]) for slot in range(len(wanted))]
        assert found == [outside.get(each, each) for each in wanted], one


# --- trainings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_every_input_of_a_training_is_known(name: str) -> None:
    capture = captured_training(name, paths=True)
    operators = {one.name: one for one in capture.operators.values()}
    slots = {(r.key.operator, r.key.slot) for r in capture.records() if r.key.io == "input" and r.op_type != "Settings"}
    edges = {(one.name, slot): edge for one in operators.values() for slot, edge in enumerate(one.inputs)}
    texts = {(r.key.operator, r.key.slot) for r in capture.records() if r.extra.named == "settings"}
    assert slots - texts <= edges.keys()
    # What nobody filled before it was overwritten has no origin.
    assert {where for where, edge in edges.items() if edge.kind == "unknown"} <= texts | (edges.keys() - slots)
    phases = {one.phase for one in operators.values() if one.type != SETTINGS_TYPE}
    assert phases == {"forward", "backward", "optimizer"}
    # Each parameter is written by the optimizer, and by nobody else.
    written = [
        edge.name
        for one in operators.values() if one.phase == "optimizer" and one.name in capture.execution_order[0]
        for edge in (one.inputs[slot] for slot in one.mutates or ()) if edge.kind == "parameter"
    ]  # fmt: skip
    module = CASES[name].make()
    assert {each for each, _ in module.named_parameters()} <= set(written)


def test_an_operator_with_other_sources_in_a_later_step_stands_there_again() -> None:
    capture = captured_training("mlp-adam", paths=True)
    state = [one for (_, _, name), one in capture.operators.items() if name.endswith("@1") and "lerp_" in name]
    assert {edge.name for one in state for edge in one.inputs if edge.kind == "parameter"} >= {
        "fc1.weight.exp_avg", "fc2.bias.exp_avg",
    }  # fmt: skip
    assert all(edge.kind != "unknown" for one in state for edge in one.inputs)


def test_statistics_and_operators_of_threads_have_edges() -> None:
    capture = captured_training("mlp-sgd", mode="statistic", paths=True)
    assert capture.operators[0, 0, "fc1/addmm-op0"].inputs[0] == Edge("parameter", "fc1.bias")
    assert capture.results[0, 0] == (Edge("result", "fc2/addmm-op0"),)


def test_modules_have_settings_and_no_operators() -> None:
    operators = captured_training("conv-sgd", granularity="modules").operators.values()
    assert [one.type for one in operators] == [SETTINGS_TYPE]


def test_what_numpy_made_is_unknown() -> None:
    class Through(nn.Module):
        def forward(self, x: Any) -> Any:
            y = x * 2
            return torch.from_numpy(y.numpy() + 1) * 3

    module = Through()
    watch, x = TorchCapture(module, paths=True), torch.ones(3)
    with watch.step():
        module(x)
    _modules, first, second = watch.capture().operators.values()
    assert first.inputs[0] == Edge("argument", "x", 0)
    assert second.inputs[0].kind == "unknown"


def test_what_the_program_states_is_a_constant() -> None:
    class Stated(nn.Module):
        def forward(self, x: Any) -> Any:
            return F.softplus(x) * torch.tensor([1.0, 2.0, 4.0])

    module = Stated()
    watch, x = TorchCapture(module, paths=True), torch.ones(3)
    with watch.step():
        module(x)
    edge = watch.capture().operators[0, 0, "Default/mul-op0"].inputs[1]
    assert edge.kind == "constant"
    assert edge.value.tolist() == [1.0, 2.0, 4.0]
