"""Gradients along directions, of first and second order, beside central differences in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from harness import Tensor, float64, ops
from harness.devices import Kernels
from harness.errors import DecidedLateError
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.compile.order import Numbering
from harness.framework.compile.program import compile_function, is_input
from harness.framework.runtime.execute import Executor
from harness.framework.tensor import eager_rules

Array = np.ndarray[Any, np.dtype[Any]]
STEP = 1e-6


class Case(NamedTuple):
    """A function of tensors, and where its slope is asked for."""

    function: Callable[..., Any]
    inputs: tuple[Array, ...]


def random(shapes: tuple[tuple[int, ...], ...], seed: int) -> tuple[Array, ...]:
    """Standard normal float64 arrays."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return tuple(np.asarray(generator.standard_normal(shape)) for shape in shapes)


def graph(function: Callable[..., Any], *args: Any) -> Any:
    """Runs ``function`` as a graph, every kernel in the dtype the graph says: the CPU computes some float64 operators
    in float32, where a difference would show nothing but rounding. One that asks for a dimension that values decide is
    traced with them."""
    names = [f"x{i}" for i in range(len(args))]
    try:
        program = compile_function(function, args, names, 0, Numbering(), kernels=Kernels())
    except DecidedLateError:
        with eager_rules():
            program = compile_function(function, args, names, 0, Numbering(), kernels=Kernels())
    return Executor(program).run([a.asnumpy() for a in args if is_input(a)])


def tensors(arrays: tuple[Array, ...]) -> list[Tensor]:
    """float64 tensors of ``arrays``."""
    return [Tensor(array, float64) for array in arrays]


def weights(case: Case) -> Tensor:
    """What the elements of the result are weighted with to make one number of them."""
    shape = case.function(*tensors(case.inputs)).shape
    return Tensor(np.cos(np.arange(int(np.prod(shape)), dtype=np.float64)).reshape(shape))


def along(case: Case, directions: tuple[Array, ...]) -> Callable[..., Any]:
    """The derivative of the weighted result along ``directions``, as a function of the inputs and the weights."""
    count = len(case.inputs)

    def derivative(*args: Any) -> Any:
        slopes = value_and_grad_traced(case.function, args[:count], range(count), (), args[count])[1]
        parts = [ops.sum(s * Tensor(d, float64)) for s, d in zip(slopes, directions, strict=True)]
        return sum(parts[1:], parts[0])

    return derivative


def slope(function: Callable[..., Any], at: tuple[Array, ...], directions: tuple[Array, ...], *rest: Any) -> float:
    """Central difference of a function that gives one number."""
    ends = [
        float(function(*tensors(tuple(a + s * STEP * d for a, d in zip(at, directions, strict=True))), *rest))
        for s in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2 * STEP)


def first(case: Case, directions: tuple[Array, ...]) -> tuple[float, float]:
    """The derivative along ``directions``: by gradient rules, and by differences."""
    weight = weights(case)

    def total(*args: Any) -> Any:
        return ops.sum(case.function(*args) * weight)

    got = graph(along(case, directions), *tensors(case.inputs), weight)
    return float(got), slope(total, case.inputs, directions)


def second(case: Case, directions: tuple[Array, ...], others: tuple[Array, ...]) -> tuple[float, float]:
    """The derivative along ``others`` of the one along ``directions``: by rules, and by differences of the first."""
    weight, count = weights(case), len(case.inputs)
    inner = along(case, directions)

    def outer(*args: Any) -> Any:
        return value_and_grad_traced(inner, args, range(count))[1]

    found = graph(outer, *tensors(case.inputs), weight)
    got = sum(float(np.sum(f.asnumpy() * o)) for f, o in zip(found, others, strict=True))
    return got, slope(lambda *args: graph(inner, *args), case.inputs, others, weight)
