"""What a task is, and what those who run some of them do alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness import errors
from harness.errors import HarnessError, ScaleError, first_line
from harness.scale.wire import Failed

#: Seconds between two looks at what may have happened while nothing came.
TICK = 0.5

Sight = dict[str, dict[int, str]]


@dataclass(frozen=True)
class Task:
    """A task for a worker.

    Attributes:
        key: what it is, unique; results are put in order by it.
        function, args: of ``harness.scale.work``.
        needs: places and the rank of each that the worker must see.
        said: how messages call it.
        size: bytes it reads, for those who watch.
    """

    key: Any
    function: Callable[..., Any]
    args: tuple[Any, ...]
    needs: tuple[tuple[str, int], ...] = ()
    said: str = ""
    size: int = 0

    def raised(self, error: BaseException) -> ScaleError:
        """What is said of an error that nobody meant."""
        return ScaleError(f"{self.said}: {type(error).__name__}: {first_line(error)}")

    def deadly(self) -> ScaleError:
        """What is said of a task over which workers die."""
        return ScaleError(f"{self.said}: one worker after the other died over it; it is not tried again")


def raise_first(failed: Sequence[tuple[Task, Failed]]) -> None:
    """Raises the error of the task whose key comes first, if there is one.

    Raises:
        HarnessError: what it met.
    """
    if failed:
        _, first = min(failed, key=lambda each: each[0].key)
        kind = getattr(errors, first.kind, HarnessError)
        raise (kind if issubclass(kind, HarnessError) else HarnessError)(first.message)
