"""Watches the threads that a step starts: a dispatch mode holds for the thread that enters it alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, thread
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial, wraps
from typing import Any

#: gives what watches a thread, in the thread that starts it
Begin = Callable[[], Callable[[], AbstractContextManager[Any]]]
_WORKER = thread._worker  # type: ignore[attr-defined, unused-ignore]


@contextmanager
def followed(begin: Begin) -> Iterator[None]:
    """Inside the block, threads and tasks of thread pools run inside what ``begin`` gives: ``begin`` is called where
    they are started, its result is entered where they run."""
    with ExitStack() as stack:
        _replace(stack, threading.Thread, "start", partial(_start, begin))
        _replace(stack, ThreadPoolExecutor, "submit", partial(_submit, begin))
        yield


def _replace(stack: ExitStack, kind: type, name: str, by: Callable[..., Any]) -> None:
    original = getattr(kind, name)

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        return by(original, *args, **kwargs)

    setattr(kind, name, run)
    stack.callback(setattr, kind, name, original)


def _start(begin: Begin, original: Callable[..., Any], started: Any) -> None:
    # A pool's own threads have no operators but those of the tasks, which are followed one by one.
    if getattr(started, "_target", None) is not _WORKER:
        started.run = _inside(begin(), started.run)
    original(started)


def _submit(
    begin: Begin, original: Callable[..., Any], pool: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    return original(pool, _inside(begin(), function), *args, **kwargs)


def _inside(watched: Callable[[], AbstractContextManager[Any]], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with watched():
            return function(*args, **kwargs)

    return run
