"""Methods of MindSpore's ``Cell`` without a counterpart here; each raises an error with its name."""

from __future__ import annotations

from typing import Any

from harness.errors import TraceError, UnsupportedError
from harness.framework import frames
from harness.framework.compile.source import is_users, where
from harness.framework.tensor import is_eager, is_tracing


def _refuse(name: str, instead: str) -> Any:
    def method(self: object, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"{type(self).__name__}.{name} is not supported; {instead}")

    method.__name__ = name
    method.__doc__ = f"Refused: {instead}."
    return method


_LATER = "a run here is one process that keeps every value"


class Refusals:
    """Mixed into ``Cell``; every method raises ``UnsupportedError``, and within a graph the format of a cell
    ``TraceError``."""

    recompute = _refuse("recompute", _LATER)
    offload = _refuse("offload", _LATER)
    shard = _refuse("shard", _LATER)

    def __format__(self, wanted: str) -> str:
        if is_tracing() and not is_eager() and is_users(frames.file_of(frames.caller())):
            raise TraceError(f"no graph puts a cell into a text, at {where()}; use str()")
        return format(str(self), wanted)
