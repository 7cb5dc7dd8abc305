"""Methods of MindSpore's ``Cell`` without a counterpart here; each raises an error with its name."""

from __future__ import annotations

from typing import Any

from harness.errors import UnsupportedError


def _refuse(name: str, instead: str) -> Any:
    def method(self: object, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"{type(self).__name__}.{name} is not supported; {instead}")

    method.__name__ = name
    method.__doc__ = f"Refused: {instead}."
    return method


_LATER = "a run here is one process that keeps every value"


class Refusals:
    """Mixed into ``Cell``; every method raises ``UnsupportedError``."""

    recompute = _refuse("recompute", _LATER)
    offload = _refuse("offload", _LATER)
    shard = _refuse("shard", _LATER)
