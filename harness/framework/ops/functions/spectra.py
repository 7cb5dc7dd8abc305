"""Discrete Fourier transforms: what NumPy's module of that name has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.framework.ops.operators.fft import KINDS
from harness.framework.tensor import Tensor, call

_NORMS = {"backward": 0, "forward": 1, "ortho": 2}
_BASES = ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")

__all__ = [
    *(base + end for base in _BASES for end in ("", "2", "n")), "fftfreq", "fftshift", "ifftshift", "rfftfreq",
]  # fmt: skip


def _constant(value: Any) -> Any:
    return None if value is None else Tensor(np.asarray(value, np.int64))


def _norm(norm: Any, owner: str) -> Any:
    if norm is None:
        return None
    if not isinstance(norm, str) or norm not in _NORMS:
        raise SettingError(f"{owner}: norm must be one of {', '.join(_NORMS)}, got {norm!r}")
    return _constant(_NORMS[norm])


def _check(input: Any, owner: str) -> None:
    if not isinstance(input, Tensor):
        raise DtypeError(f"{owner}: a tensor is needed, got {type(input).__name__}")


def _of_one(name: str) -> Callable[..., Any]:
    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        _check(input, name)
        for value, named in ((n, "n"), (dim, "dim")):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise SettingTypeError(f"{name}: {named} must be an int, got {value!r}")
        return call(name.upper(), input, _constant(n), _constant(dim), _norm(norm, name))

    transform.__doc__ = f"``numpy.fft.{name}`` of ``input`` along ``dim``, of ``n`` elements; ``norm`` as in numpy."
    return transform


def _of_several(name: str, axes: tuple[int, ...] | None) -> Callable[..., Any]:
    def transform(input: Any, s: Any = None, dim: Any = axes, norm: str | None = None) -> Any:
        _check(input, name)
        for value, named in ((s, "s"), (dim, "dim")):
            if value is not None and not isinstance(value, (tuple, list)):
                raise SettingTypeError(f"{name}: {named} must be a tuple of ints, got {value!r}")
        return call(name.upper(), input, _constant(s), _constant(dim), _norm(norm, name))

    where = "the last two axes" if axes else "all axes"
    transform.__doc__ = f"``{name}`` of ``input`` along ``dim`` ({where}), of ``s`` elements; ``norm`` as NumPy's."
    return transform


for _base in _BASES:
    globals()[_base] = _of_one(_base)
    globals()[f"{_base}2"] = _of_several(f"{_base}2", (-2, -1))
    globals()[f"{_base}n"] = _of_several(f"{_base}n", None)
for _name in (base + end for base in _BASES for end in ("", "2", "n")):
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name


def _axes(dim: Any) -> Any:
    return _constant([dim] if isinstance(dim, int) else dim)


def fftshift(input: Any, dim: Any = None) -> Any:
    """The first half of each axis ``dim`` (None: all) moved behind the second."""
    _check(input, "fftshift")
    return call("FFTShift", input, _axes(dim))


def ifftshift(input: Any, dim: Any = None) -> Any:
    """What ``fftshift`` undoes."""
    _check(input, "ifftshift")
    return call("IFFTShift", input, _axes(dim))


def _frequencies(op: str, n: Any, d: Any, dtype: Any) -> Any:
    if isinstance(n, bool) or not isinstance(n, int):
        raise SettingTypeError(f"{op}: n must be an int, got {n!r}")
    if isinstance(d, bool) or not isinstance(d, (int, float)):
        raise SettingTypeError(f"{op}: d must be a number, got {d!r}")
    numbers = {kind: number for number, kind in KINDS.items()}
    if dtype is not None and dtype not in numbers:
        raise SettingTypeError(f"{op}: dtype must be a floating dtype, got {dtype!r}")
    return call(op, n, Tensor(np.asarray(d, np.float32)), None if dtype is None else _constant(numbers[dtype]))


def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    """The frequencies of a spectrum of ``n`` elements ``d`` apart."""
    return _frequencies("FFTFreq", n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    """Those of half a spectrum."""
    return _frequencies("RFFTFreq", n, d, dtype)
