"""Tuples, lists and dicts as arguments of a graph: constants, unless ``mutable`` or the gradients of an optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Tensor, mutable, nn, ops
from harness.framework import context
from harness.framework.nn.transforms import GradOperation, grad, jit
from harness.framework.runtime import session
from harness.recording import Graph, Observer, Step
from tests.framework.compile.build import floats, graph_mode


@pytest.fixture(autouse=True)
def _graph_mode() -> Iterator[None]:
    with graph_mode():
        yield


X, Y = floats(2, 3), Tensor(np.full((2, 3), 2, np.float32))


class Seen(Observer):
    """The graphs and the parameters a dump would show of each step."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.steps: list[tuple[int, int, list[str]]] = []

    def graph_declared(self, graph: Graph) -> None:
        self.graphs.append(graph)

    def step_begin(self, step: Step) -> None:
        self.steps.append((step.graph.id, step.run, [p.name for p, _ in step.parameters()]))


@contextmanager
def seen() -> Iterator[Seen]:
    observer = Seen()
    with session.fresh([observer], hooked=False):
        yield observer


def total(value: Any) -> Any:
    """The sum of all tensors in a container."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return sum((total(member) for member in value[1:]), start=total(value[0]))
    return ops.exp(value)


def renewed(value: Any) -> Any:
    """The same container of other tensors."""
    if isinstance(value, dict):
        return {key: renewed(member) for key, member in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(renewed(member) for member in value)
    return Tensor(value.asnumpy() / 2)


def members(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(members, value)) if isinstance(value, (tuple, list)) else 1


tensors = st.integers(0, 9).map(lambda n: Tensor(np.full((2,), n / 9, np.float32)))
containers = st.recursive(
    tensors,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
).filter(lambda value: not isinstance(value, Tensor))


@given(containers)
def test_only_mutable_containers_are_inputs(value: Any) -> None:
    """Measured: a constant is compiled once for the same tensors and again for others; what is mutable once."""
    function, other = jit(total), renewed(value)
    with seen() as got:
        results = [function(v).asnumpy() for v in (value, value, other, mutable(value), mutable(other))]
    assert [graph for graph, _, _ in got.steps] == [0, 0, 1, 2, 2]
    assert all(names == [] for _, _, names in got.steps)
    assert [len(graph.parameters) for graph in got.graphs] == [0, 0, members(value)]
    for result, given_value in zip(results, (value, value, other, value, other), strict=True):
        assert np.allclose(result, total(given_value).asnumpy())


def test_a_list_is_compiled_every_time_unless_mutable() -> None:
    function = jit(lambda a: ops.exp(a[0]) + a[1])
    with seen() as got:
        function([X, Y]), function([X, Y]), function(mutable([X, Y])), function(mutable([Y, Y]))
    assert [graph for graph, _, _ in got.steps] == [0, 1, 2, 2]


def test_a_constant_is_computed_with_when_the_graph_is_compiled() -> None:
    function = jit(lambda a: ops.exp(a[0]) * ops.abs(a[1]))
    with seen() as got:
        function((X, Y)), function(mutable((X, Y)))
    kernels = [[operator.type for operator in graph.order] for graph in got.graphs]
    assert "Abs" not in kernels[0]
    assert "Abs" in kernels[1]


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_an_optimizer_takes_gradients_as_inputs_that_no_dump_shows(mode: int) -> None:
    context.set_context(mode=mode)
    net = nn.Dense(3, 2)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    with seen() as got:
        for factor in (1, 2):
            optimizer(tuple(Tensor(p.asnumpy() * factor) for p in net.trainable_params()))
    assert [(graph, iteration) for graph, iteration, _ in got.steps] == [(0, 0), (0, 1)]
    assert not [name for _, _, names in got.steps for name in names if "grad" in name]


def test_arguments_by_keyword_are_shown_with_their_dict() -> None:
    with seen() as got:
        jit(lambda *a, **kw: ops.exp(a[0]) + kw["q"])(X, q=Y)
    assert got.steps == [(0, 0, ["a0", "kw[q]"])]


def product(pair: Any, z: Any) -> Any:
    return (ops.exp(pair[0]) * pair[1] * z).sum()


def test_gradients_of_tuples() -> None:
    """Measured: a mutable tuple has a tuple of gradients, a constant none; one gradient comes alone."""
    exp = np.exp(X.asnumpy())
    assert grad(product, 0)((X, Y), X) == ()
    of_pair = grad(product, 0)(mutable((X, Y)), X)
    assert isinstance(of_pair, tuple)
    assert np.allclose(of_pair[1].asnumpy(), exp * X.asnumpy(), rtol=1e-5)
    assert np.allclose(grad(product, (0, 1))((X, Y), X).asnumpy(), exp * 2, rtol=1e-5)
    assert len(GradOperation(get_all=True)(product)((X, Y), X)) == 1
    everything = GradOperation(get_all=True)(product)(mutable((X, Y)), X)
    assert [isinstance(each, tuple) for each in everything] == [True, False]


def test_tuples_have_no_gradient_in_pynative_mode() -> None:
    context.set_context(mode=context.PYNATIVE_MODE)
    assert grad(product, 0)(mutable((X, Y)), X) == ()
    assert np.allclose(grad(product, (0, 1))((X, Y), Tensor(X.asnumpy())).asnumpy(), np.exp(X.asnumpy()) * 2, rtol=1e-5)
