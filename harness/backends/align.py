"""Which captures of two emulated devices can be aligned, slot by slot (``aligned``)."""

from __future__ import annotations

from harness.backends.base import BACKENDS, get
from harness.compare.policy import Party
from harness.records import Record


def stand_beside(*names: str) -> bool:
    """Whether captures of these backends can be aligned: the harness compiles all their graphs, and the backends
    differ."""
    return len(set(names)) > 1 and all(name in BACKENDS and get(name).compiles for name in names)


def lay_beside(expected: Party, found: Party) -> tuple[list[Record], list[Record]] | None:
    """The records of two emulated backends under equal keys, see ``aligned``; None for any other two backends."""
    if not stand_beside(expected.backend, found.backend):
        return None
    from harness.backends.aligned import aligned  # most commands compare no two backends

    samples = found.mode == "sample" != expected.mode
    return aligned(expected.records(), found.records(), expected.backend, found.backend, samples=samples)
