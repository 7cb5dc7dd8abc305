"""Products and sums with an accumulator of a narrower type, element by element, as a wrong kernel would compute
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from harness.explain.replay import Setting

Array = np.ndarray[Any, np.dtype[Any]]

_KINDS: tuple[tuple[str, Any], ...] = (
    ("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16), ("float32", np.float32),
)  # fmt: skip
#: longer sums are not computed element by element
_LONGEST = 4096


def narrow_sums(base: Setting) -> Iterator[tuple[str, Callable[[], tuple[Array, ...] | None]]]:
    """Types of accumulators, each with a function that computes the operator so; empty for unknown operators."""
    terms = _TERMS.get(base.statement.op)
    if terms is None:
        return
    for name, kind in _KINDS:
        yield name, lambda kind=kind: _summed(terms, base, kind)  # type: ignore[misc]


def _summed(terms: Callable[[Setting], Iterator[Array]], base: Setting, kind: Any) -> tuple[Array, ...] | None:
    total: Array | None = None
    try:
        with np.errstate(all="ignore"):
            for at, term in enumerate(terms(base)):
                if at >= _LONGEST:
                    return None
                term = term.astype(kind)
                total = term if total is None else (total + term).astype(kind)
    except (ValueError, TypeError, IndexError, KeyError):
        return None
    return None if total is None else (np.asarray(total.astype(base.outputs[0].numpy)),)


def _product(base: Setting) -> Iterator[Array]:
    a, b = base.values[0], base.values[1]
    a = np.swapaxes(a, -1, -2) if base.values[2] else a
    b = np.swapaxes(b, -1, -2) if base.values[3] else b
    for k in range(a.shape[-1]):
        yield a[..., :, k, None] * b[..., k, None, :]


def _rows(base: Setting) -> Iterator[Array]:
    x, axes, keep = base.values[0], base.values[1], base.values[2]
    axes = tuple(a % x.ndim for a in (axes if isinstance(axes, tuple) else (axes,))) or tuple(range(x.ndim))
    moved = np.moveaxis(x, axes, range(len(axes)))
    for at in np.ndindex(*moved.shape[: len(axes)]):
        yield np.expand_dims(moved[at], axes) if keep else moved[at]


_TERMS: dict[str, Callable[[Setting], Iterator[Array]]] = {
    "MatMul": _product, "BatchMatMul": _product, "ReduceSum": _rows,
}  # fmt: skip
