"""MindSpore's dtypes under the names ``mindspore.common.dtype`` has (``mstype.float32``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes as _dtypes
from harness._namespace import DTYPES as _DTYPES
from harness._namespace import lazy as _lazy
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.framework.names import fallback as _fallback
from harness.framework.outside import outside_graphs as _outside_graphs

Type = DType

_PYTHON: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


@_outside_graphs
def dtype_to_nptype(type_: DType) -> Any:
    """The numpy scalar type of a dtype; ``KeyError`` for anything else."""
    if not isinstance(type_, DType):
        raise KeyError(type_)
    return type_.numpy.type


@_outside_graphs
def dtype_to_pytype(type_: DType) -> type:
    """The Python type whose values a dtype holds."""
    return _PYTHON[type_.kind]


@_outside_graphs
def pytype_to_dtype(obj: Any) -> DType:
    """The dtype of a Python or numpy type; ``DtypeError`` if there is none."""
    python = {bool: _dtypes.bool_, int: _dtypes.int64, float: _dtypes.float32}
    if isinstance(obj, DType):
        return obj
    if obj in python:
        return python[obj]
    try:
        return _dtypes.from_numpy(np.dtype(obj))
    except TypeError:
        raise DtypeError(f"{obj!r} has no dtype") from None


__getattr__, __dir__ = _lazy(__name__, _DTYPES, _fallback(__name__))
