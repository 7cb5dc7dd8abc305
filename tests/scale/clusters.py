"""Clusters of this process: tasks are done at once, or travel as between processes. No Dask is needed."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from harness import errors
from harness.errors import ScaleError, TreeError
from harness.scale.cluster import Task
from harness.scale.wire import Failed
from harness.scale.work import visible_ranks

#: What is said of a tree that is none differs: workers say what each of them sees.
NOBODY = "sees a rank there"


class Here:
    """A cluster of nobody: tasks are done at once, the last first."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {"here": {}}
        self.tasks: list[Task] = []

    def discover(self, place: str) -> dict[int, list[str]]:
        self.seen["here"] |= visible_ranks([place])["seen"]
        return {rank: ["here"] for rank in sorted(self.seen["here"][place])}

    def sees(self, worker: str, needs: Iterable[tuple[str, int]]) -> bool:
        return all(rank in self.seen[worker][place] for place, rank in needs)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        for task in reversed(list(tasks)):
            self.tasks.append(task)
            result = task.function(*task.args)
            if isinstance(result, Failed):
                raise TreeError(result.message)
            yield task, result


class Far(Here):
    """A cluster whose tasks travel, the last first."""

    def discover(self, place: str) -> dict[int, list[str]]:
        try:
            ranks = super().discover(place)
        except (TypeError, ValueError):  # a text: why it is no tree
            ranks = {}
        if not ranks or isinstance(self.seen["here"][place], str):
            raise ScaleError(f"{place}: nobody {NOBODY}")
        return ranks

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        failed = []
        for task in reversed(list(tasks)):
            function, args = pickle.loads(pickle.dumps((task.function, task.args)))
            result = pickle.loads(pickle.dumps(function(*args)))
            if isinstance(result, Failed):
                failed.append((task.key, result))
            else:
                yield task, result
        if failed:
            first = min(failed, key=lambda each: each[0])[1]
            raise getattr(errors, first.kind)(first.message)


@contextmanager
def far(workers: int, address: str, tell: object) -> Iterator[Far]:
    yield Far()
