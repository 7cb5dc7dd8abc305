"""What the summary operators of networks were given, until a ``SummaryRecord`` takes it."""

from __future__ import annotations

from harness.framework.tensor import Tensor

#: kind (``Scalar``), tag and value, in the order the operators ran
_KEPT: list[tuple[str, str, Tensor]] = []
#: what no record takes is lost from here on, the oldest first
MOST = 4096


def keep(kind: str, tag: str, value: Tensor) -> None:
    """Keeps a value for the next ``SummaryRecord.record``."""
    _KEPT.append((kind, tag, value))
    del _KEPT[:-MOST]


def taken() -> list[tuple[str, str, Tensor]]:
    """What was kept since the last call."""
    found = list(_KEPT)
    _KEPT.clear()
    return found
