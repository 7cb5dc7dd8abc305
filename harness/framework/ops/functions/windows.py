"""Windows of signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, SettingError, SettingTypeError
from harness.framework.ops.operators.bessel import scaled
from harness.framework.tensor import Tensor, call

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]

_Y: dict[str, Any] = {"output_names": ["y"]}
#: numbers of the dtypes of a Hamming window, as graphs show them
_KINDS = {dtypes.float32: 0, dtypes.float16: 1, dtypes.float64: 11}


def _window(op: str, length: Any, periodic: Any, dtype: Any) -> Any:
    if not isinstance(length, Tensor):
        raise DtypeError(f"{op}: window_length must be a tensor, got {type(length).__name__}")
    return call(op, length, **window_attrs(op, periodic, dtype))


def window_attrs(op: str, periodic: Any, dtype: Any) -> dict[str, Any]:
    """Attributes of BartlettWindow and BlackmanWindow.

    Raises:
        SettingTypeError: ``periodic`` is no bool, or ``dtype`` no floating dtype.
    """
    if not isinstance(periodic, bool):
        raise SettingTypeError(f"{op}: periodic must be a bool, got {periodic!r}")
    kind = dtypes.float32 if dtype is None else dtype
    if not isinstance(kind, DType) or kind.kind != "f":
        raise SettingTypeError(f"{op}: dtype must be a floating dtype, got {dtype!r}")
    return {"periodic": periodic, "output_is_dynamic_shape": True, "max_length": 1000000, "dtype": kind}


def bartlett_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Any:
    """A triangle of ``window_length`` (a tensor) elements; ``periodic``: that of one more, without the last."""
    return _window("BartlettWindow", window_length, periodic, dtype)


def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Any:
    """Blackman's window of ``window_length`` (a tensor) elements; ``periodic`` as for ``bartlett_window``."""
    return _window("BlackmanWindow", window_length, periodic, dtype)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None
) -> Any:
    """``alpha - beta * cos`` over ``window_length`` elements; ``periodic`` as for ``bartlett_window``."""
    for value, kind, name in (
        (window_length, int, "window_length"), (periodic, bool, "periodic"), (alpha, float, "alpha"),
        (beta, float, "beta"),
    ):  # fmt: skip
        if not isinstance(value, kind):
            raise SettingTypeError(f"hamming_window: {name} must be of {kind.__name__}, got {value!r}")
    if window_length < 0:
        raise SettingError(f"hamming_window: window_length must be at least 0, got {window_length}")
    if window_length <= 1:
        return Tensor(np.ones(window_length))
    given = dtypes.float32 if dtype is None else dtype
    if given not in _KINDS:
        raise SettingTypeError(f"hamming_window: dtype must be a floating dtype, got {dtype!r}")
    attrs: dict[str, Any] = {
        "periodic": periodic, "input_names": ["length"], **_Y, "beta": beta, "alpha": alpha, "dtype": _KINDS[given],
    }  # fmt: skip
    return call("HammingWindow", Tensor(np.array([window_length], np.int32)), **attrs)


def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Half a cosine's wave, raised: a constant of ``window_length`` elements."""
    count = window_length + periodic
    places = np.arange(count) if count > 1 else np.zeros(1)
    angle = 2 * np.longdouble("3.14159265358979323846264338327950288") * places / max(1, count - 1)
    found = np.asarray(0.5 - 0.5 * np.cos(angle)) if window_length > 1 else np.ones(window_length)
    return Tensor(found[:window_length].astype(np.float64), dtypes.float64 if dtype is None else dtype)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None) -> Tensor:
    """Kaiser's window of parameter ``beta``: a constant of ``window_length`` elements."""
    count, width = window_length + periodic, np.asarray(beta, np.longdouble)
    middle = np.asarray(max(count - 1, 1), np.longdouble) / 2
    size = width * np.sqrt(np.maximum(0, 1 - ((np.arange(count) - middle) / middle) ** 2))
    found = scaled(0, size) * np.exp(size) / (scaled(0, width) * np.exp(width))
    found = found if window_length > 1 else np.ones(window_length)
    return Tensor(found[:window_length].astype(np.float64), dtypes.float64 if dtype is None else dtype)
