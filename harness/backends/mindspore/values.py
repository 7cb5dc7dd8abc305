"""Encodes a test's arguments as JSON, for a process that shares nothing with this one."""

from __future__ import annotations

import base64
from pathlib import PurePath
from typing import Any

import numpy as np

from harness.dtypes import by_name
from harness.errors import UnsupportedError

ACCEPTED = (
    "None, bool, int, float, str, bytes, paths, numpy arrays and scalars of numbers, "
    "and lists, tuples and dicts of them"
)
_PLAIN = (type(None), bool, int, float, str)


def received(value: Any) -> Any:
    """What ``forked_test.handed`` made, with numpy arrays for arrays of any library.

    Raises:
        DtypeError: an array's dtype is known to nobody here.
    """
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "list":
        return [received(each) for each in content]
    if kind == "dict":
        return {received(name): received(each) for name, each in content}
    name, shape, data = content
    return np.frombuffer(base64.b64decode(data), by_name(name).numpy).reshape(shape)


def encoded(value: Any) -> Any:
    """``value`` for JSON: itself if JSON has such values, else ``{KIND: CONTENT}``; ``forked_test.decoded`` is
    the way back.

    Raises:
        UnsupportedError: it is of another type, exactly: a subclass would come out as its base.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind in (list, tuple):
        return {kind.__name__: [encoded(each) for each in value]}
    if kind is dict and all(type(name) is str for name in value):
        return {"dict": {name: encoded(each) for name, each in value.items()}}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, PurePath):
        return {"path": str(value)}
    if (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.kind in "biufc":
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array" if kind is np.ndarray else "scalar": [value.dtype.str, list(value.shape), data]}
    raise UnsupportedError(f"a {kind.__module__}.{kind.__qualname__} cannot be given to another process: {ACCEPTED}")
