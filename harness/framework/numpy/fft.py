"""``mindspore.numpy.fft``: the Fourier transforms of ``ops`` under NumPy's names of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.framework import ops as _operators
from harness.framework.names import fallback as _fallback

#: looks its names up when they are used
_ops: Any = _operators

_BASES = ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")

__all__ = [
    *(base + end for base in _BASES for end in ("", "2", "n")), "fftfreq", "fftshift", "ifftshift", "rfftfreq",
]  # fmt: skip

fftfreq, rfftfreq = _ops.fftfreq, _ops.rfftfreq


def _of_one(name: str) -> Callable[..., Any]:
    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return getattr(_ops, name)(a, n, axis, norm)

    return transform


def _of_several(name: str, last: tuple[int, ...] | None) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = last, norm: str | None = None) -> Any:
        return getattr(_ops, name)(a, s, axes, norm)

    return transform


for _base in _BASES:
    globals()[_base] = _of_one(_base)
    globals()[f"{_base}2"] = _of_several(f"{_base}2", (-2, -1))
    globals()[f"{_base}n"] = _of_several(f"{_base}n", None)
for _name in (base + end for base in _BASES for end in ("", "2", "n")):
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name
    globals()[_name].__doc__ = f"``ops.{_name}``."


def fftshift(x: Any, axes: Any = None) -> Any:
    """``ops.fftshift``."""
    return _ops.fftshift(x, axes)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """``ops.ifftshift``."""
    return _ops.ifftshift(x, axes)


__getattr__ = _fallback(__name__)
