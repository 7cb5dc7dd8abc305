"""A backend's process that is opened when it is first used: a test that only checks values needs nothing of what runs
networks, and importing that takes longer than many such tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.backends import Process


class Deferred:
    """Stands for a ``Process`` of a backend that runs programs in this process.

    Args:
        opener: opens the process; it is called once, and whatever it raises reaches the test.
    """

    def __init__(self, opener: Callable[[], Process]) -> None:
        self._opener = opener
        self._opened: Process | None = None

    def __getattr__(self, name: str) -> Any:
        if self._opened is None:
            self._opened = self._opener()
        return getattr(self._opened, name)
