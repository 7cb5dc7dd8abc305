"""MindSpore's internal module, as far as scripts call it: the switches of the dump.

Source: MindSpore 2.10.0, measured on the CPU; ``_dump_start`` and ``_dump_stop`` from public source.
"""

from __future__ import annotations

from harness import hooks
from harness.framework.communication.checker import CommExecOrderChecker

__all__ = ["CommExecOrderChecker", "_dump_set_dynamic", "_dump_start", "_dump_step", "_dump_stop", "_set_init_iter"]


def _set_init_iter(v: int = 0) -> None:
    """Sets the label of the next steps to ``v``; ``_dump_step`` adds to it. ``ValueError`` if it is negative."""
    hooks.provided("dump").set_initial_iteration(v)


def _dump_step(step: int = 1) -> None:
    """Adds ``step`` to the label; ignored with a warning without ``_set_init_iter``."""
    hooks.provided("dump").step(step)


def _dump_set_dynamic() -> None:
    """``_dump_start`` and ``_dump_stop`` say which steps are dumped, not ``iteration``; no effect on the CPU."""
    hooks.provided("dump").set_dynamic()


def _dump_start() -> None:
    """Dumps every step from the next on."""
    hooks.provided("dump").start_dump()


def _dump_stop() -> None:
    """Stops dumping steps."""
    hooks.provided("dump").stop_dump()
