"""Which optimizers run as graphs in PyNative mode (measured on MindSpore 2.10.0)."""

from __future__ import annotations

import inspect

import pytest

from harness import Tensor, context, float32, nn, ops
from harness.framework.nn.transforms import jit
from harness.framework.runtime import session
from harness.graph import Graph
from tests.framework.compile.build import Graphs, kernels

OPTIMIZERS = sorted(
    name for name in nn.__all__ if inspect.isclass(kind := getattr(nn, name)) and issubclass(kind, nn.Optimizer)
)
#: what is no graph there, and what is refused
EAGER = {"Adadelta", "LARS", "Lamb", "Optimizer"}


class Own(nn.Optimizer):
    def construct(self, gradients):
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            ops.assign_sub(parameter, self.get_lr() * gradient)
        return True


class OwnGraph(Own):
    @jit
    def construct(self, gradients):
        for i in range(len(self.parameters)):
            ops.assign_sub(self.parameters[i], self.get_lr() * gradients[i])
        return True


class Doubled(nn.SGD):
    def construct(self, gradients):
        return super().construct(tuple(gradient * 2 for gradient in gradients))


class Within(nn.Optimizer):
    def __init__(self, parameters, rate):
        super().__init__(rate, parameters)
        self.inner = nn.SGD(parameters, rate)

    def construct(self, gradients):
        return self.inner(gradients)


def step(kind: type[nn.Optimizer], *first: object) -> tuple[float, list[Graph]]:
    """A step with gradients of 1 and, unless it is among ``first``, the rate 0.5; gives what it adds to a weight."""
    net = nn.Dense(1, 1, weight_init="zeros", bias_init="zeros")
    more = (0.9,) if kind is nn.Momentum else ()
    optimizer = kind(*first, net.trainable_params()) if first else kind(net.trainable_params(), 0.5, *more)
    watcher = Graphs()
    assert context.get_context("mode") == context.PYNATIVE_MODE
    with session.fresh([watcher], hooked=False):
        optimizer((Tensor([[1.0]], float32), Tensor([1.0], float32)))
    return float(net.weight.asnumpy().item()), watcher.found


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name not in EAGER])
def test_a_graph(name: str) -> None:
    _, graphs = step(getattr(nn, name))
    assert graphs


def test_none() -> None:
    assert not step(nn.Adadelta)[1]
    assert step(Own, 0.5) == (-0.5, [])


def test_of_a_user() -> None:
    moved, graphs = step(OwnGraph, 0.5)
    assert moved == -0.5
    assert kernels(graphs[0]).count("AssignSub") == 2


def test_a_subclass_that_calls_the_first_happens_twice() -> None:
    moved, graphs = step(Doubled)
    assert moved == -2.0  # twice twice
    assert kernels(graphs[0]).count("Mul") == 2


def test_within_another() -> None:
    moved, graphs = step(Within)
    assert moved == -0.5
    assert all("inner" not in node.scope for node in graphs[0].nodes)
