"""Reuses products and convolutions: equal operands give equal results.

The tests of a gate run one network in each dump mode, so most of their results were computed already. Only operators
whose result depends on operands and attributes alone are remembered, and only inside ``remembering`` blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import xxhash

from harness.devices.operators import CONVOLUTION, MATMUL
from harness.framework.ops.base import Call, Operator

Array = np.ndarray[Any, np.dtype[Any]]
Results = tuple[Array, ...]
#: the operator and its kernel, because others may replace them; the arguments of the call
Key = tuple[Operator, Any, bytes]

#: Operators that are remembered.
PURE = MATMUL | CONVOLUTION
#: Largest size of one call's operands in bytes: hashing more costs as much as it saves.
LARGEST = 1 << 20
#: Bytes of results that are kept; beyond that, all are forgotten.
ROOM = 32 << 20

_PLAIN = (bool, int, float, str, type(None))
_asked: ContextVar[bool] = ContextVar("remembering kernels", default=False)


class _Remembered:
    def __init__(self) -> None:
        self.results: dict[Key, Results] = {}
        self.size = 0


_remembered = _Remembered()


@contextmanager
def remembering() -> Iterator[None]:
    """Inside the block, ``recall`` gives what ``remember`` kept, in this block or in an earlier one."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


def key_of(operator: Operator, call: Call, arguments: tuple[Any, ...]) -> Key | None:
    """The key of a call, different for calls with other results; None if the call is not remembered."""
    if call.op not in PURE or not _asked.get() or call.state:
        return None
    hasher, size = xxhash.xxh3_128(), 0
    said: list[Any] = [call.op, str(call.out), [str(each) for each in call.inputs]]
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            size += argument.nbytes
            if size > LARGEST or argument.dtype.hasobject:
                return None
            hasher.update(np.ascontiguousarray(argument).reshape(-1).view(np.uint8).data)
            said.append((str(argument.dtype), argument.shape))
        elif _is_plain(argument):
            said.append(argument)
        else:
            return None
    for name, value in sorted(call.attrs.items()):
        if not _is_plain(value):
            return None
        said.append((name, value))
    hasher.update(repr(said).encode())
    return operator, getattr(operator.kernel, "__func__", operator.kernel), hasher.digest()


def _is_plain(value: Any) -> bool:
    """Whether the text of a value describes it completely."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def recall(key: Key) -> Results | None:
    """Copies of the results of a call; None if it was not computed yet."""
    known = _remembered.results.get(key)
    return None if known is None else tuple(array.copy() for array in known)


def remember(key: Key, results: Results) -> None:
    """Keeps copies of the results of a call."""
    size = sum(array.nbytes for array in results)
    if size > LARGEST:
        return
    if _remembered.size + size > ROOM:
        forget()
    _remembered.results[key] = tuple(array.copy() for array in results)
    _remembered.size += size


def forget() -> None:
    """Drops everything."""
    _remembered.results.clear()
    _remembered.size = 0
