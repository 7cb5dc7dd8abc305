"""Functions of ``mint`` that MindSpore's CPU computes in graphs alone; outside of them it has no kernel.

Source: MindSpore 2.10.0 CPU, measured (``tests/data/graphs/nets/mint_within.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from harness.errors import KernelError
from harness.framework import ops as _ops
from harness.framework.ops.functions.shape import as_dtype, sizes
from harness.framework.tensor import call, is_eager

F = TypeVar("F", bound=Callable[..., Any])
ops: Any = _ops
__all__ = ["arange", "argmax", "baddbmm", "einsum", "full", "ones_like", "zeros_like"]


def within_graphs(name: str, instead: str) -> Callable[[F], F]:
    """A function that works in graphs alone.

    Args:
        name: of the function.
        instead: what the error names in its place.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if is_eager():
                raise KernelError(f"{name} has no CPU kernel outside of graphs; use {instead}")
            return function(*args, **kwargs)

        return called  # type: ignore[return-value]

    return decorate


@within_graphs("mint.arange", "ops.arange")
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    """The numbers from ``start`` to before ``end``, known when the graph is made."""
    return ops.arange(start, end, step, dtype=dtype)


@within_graphs("mint.argmax", "ops.argmax")
def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Int64 places of the largest elements along ``dim`` (None: of the flat tensor)."""
    return call("ArgMaxExt", input, dim, keepdim)


@within_graphs("mint.baddbmm", "ops.baddbmm")
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (batch1 @ batch2)`` for batches of matrices."""
    return call("Baddbmm", input, batch1, batch2, beta, alpha)


@within_graphs("mint.einsum", "ops.einsum")
def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products by Einstein's notation."""
    return ops.einsum(equation, *operands)


@within_graphs("mint.full", "ops.full")
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """``fill_value`` everywhere, in its own dtype unless another is given."""
    return call("FillScalar", sizes((size,)), fill_value, None if dtype is None else as_dtype(dtype))


@within_graphs("mint.ones_like", "ops.ones_like")
def ones_like(input: Any, *, dtype: Any = None) -> Any:
    """Ones of the shape (and, unless given, the dtype) of ``input``."""
    return call("OnesLikeExt", input, None if dtype is None else as_dtype(dtype))


@within_graphs("mint.zeros_like", "ops.zeros_like")
def zeros_like(input: Any, *, dtype: Any = None) -> Any:
    """Zeros of the shape (and, unless given, the dtype) of ``input``."""
    return call("ZerosLikeExt", input, None if dtype is None else as_dtype(dtype))
