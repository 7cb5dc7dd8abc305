"""``jacrev`` and ``jacfwd``: derivatives of each element of a function's results by each of its arguments'.

Source for shapes, results and refusals: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import CallError, SettingError, SettingTypeError
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.nn.namespace import ops
from harness.framework.nn.transforms import entry
from harness.framework.tensor import Tensor

__all__ = ["jacfwd", "jacrev"]


def jacrev(fn: Callable[..., Any], grad_position: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``fn``: for each result a tensor of its shape followed by an argument's.

    Args:
        fn: cell or function of Float32 tensors.
        grad_position: argument(s) to differentiate by; several give a tuple for each result, one in a tuple a tensor.
        has_aux: only the first result is differentiated; the other follows, several in a tuple.

    Raises:
        SettingTypeError: positions that are no ints, ``has_aux`` no bool; at a call: an argument that is no Float32
            tensor.
        SettingError: a position below 0, twice, or of no argument.
        CallError: ``fn`` cannot be called.
    """
    return _jacobian("jacrev", fn, grad_position, has_aux)


def jacfwd(fn: Callable[..., Any], grad_position: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """As ``jacrev``. The derivatives are taken backwards here, too: the numbers are equal."""
    return _jacobian("jacfwd", fn, grad_position, has_aux)


def _jacobian(owner: str, fn: Callable[..., Any], grad_position: Any, has_aux: bool) -> Callable[..., Any]:
    if not isinstance(has_aux, bool):
        raise SettingTypeError(f"{owner}: has_aux must be a bool, got {has_aux!r}")
    positions = _positions(owner, grad_position)

    def traced(*args: Any) -> Any:
        _check(owner, positions, args)
        out = fn(*args)
        several = isinstance(out, (tuple, list))
        if has_aux and (not several or len(out) < 2):
            raise SettingError(f"{owner}: with has_aux the function must give several results")
        results = (out[:1] if has_aux else out) if several else (out,)
        rows = [_rows(fn, args, positions, results, at, several) for at in range(len(results))]
        found = tuple(row[0] if len(positions) == 1 else row for row in rows)
        if has_aux:
            return found[0], out[1] if len(out) == 2 else tuple(out[1:])
        return found if several else found[0]

    if not callable(fn):
        raise CallError(f"{owner}: a function is needed, got {fn!r}")
    return entry(traced, fn)


def _rows(
    fn: Callable[..., Any], args: tuple[Any, ...], positions: tuple[int, ...], results: Any, at: int, several: bool
) -> tuple[Any, ...]:
    """The derivatives of result ``at`` by the argument of each position."""
    result = results[at]

    def one(*given: Any) -> Any:
        out = fn(*given)
        return out[at] if several else out

    count = int(np.prod(result.shape, dtype=np.int64))
    lines = []
    for start in np.eye(count, dtype=np.float32):
        seed = Tensor(start.reshape(result.shape), dtypes.float32)
        lines.append(value_and_grad_traced(one, args, positions, (), seed, called=False)[1])
    return tuple(
        ops.stack([line[n] for line in lines]).reshape((*result.shape, *args[p].shape)) for n, p in enumerate(positions)
    )


def _positions(owner: str, given: Any) -> tuple[int, ...]:
    positions = (given,) if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(positions, tuple) or not all(type(each) is int for each in positions):
        raise SettingTypeError(f"{owner}: grad_position must be an int or a tuple of ints, got {given!r}")
    if any(each < 0 for each in positions):
        raise SettingError(f"{owner}: grad_position must be 0 at least, got {given!r}")
    if len(set(positions)) != len(positions):
        raise SettingError(f"{owner}: grad_position names an argument twice: {given!r}")
    return positions


def _check(owner: str, positions: tuple[int, ...], args: tuple[Any, ...]) -> None:
    if not args and owner == "jacrev":
        raise SettingTypeError("jacrev: the function is called without arguments")
    if any(each >= len(args) for each in positions):
        raise SettingError(f"{owner}: grad_position {positions} of a function of {len(args)} arguments")
    for each in args:
        if not isinstance(each, Tensor) or each.dtype is not dtypes.float32:
            shown = each.dtype if isinstance(each, Tensor) else type(each).__name__
            raise SettingTypeError(f"{owner}: arguments must be tensors of Float32, got {shown}")
