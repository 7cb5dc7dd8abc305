"""Runs the hooks of several callbacks, and enters and leaves them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from harness import log
from harness.errors import SettingTypeError
from harness.framework.train.callback.base import Callback, RunContext

_LOG = log.get("train")


class CallbackManager:
    """The callbacks of one run, in the order of the list; a callback that occurs twice runs twice.

    Args:
        callbacks: a callback, a list of them, or None; ``SettingTypeError`` for anything else.

    Attributes:
        callbacks: those that run; a callback whose ``__enter__`` gives another one is replaced by it.
    """

    def __init__(self, callbacks: Any) -> None:
        given = [callbacks] if isinstance(callbacks, Callback) else [] if callbacks is None else callbacks
        if not isinstance(given, list):
            raise SettingTypeError(f"callbacks must be a Callback or a list of them, got {type(callbacks).__name__}")
        for each in given:
            if not isinstance(each, Callback):
                raise SettingTypeError(f"callbacks must hold Callbacks, got {each!r} among them")
        self.callbacks: list[Callback] = list(given)
        self._stack = ExitStack()

    def __enter__(self) -> CallbackManager:
        # If an __enter__ fails, earlier callbacks are not exited, as in MindSpore.
        self.callbacks = [self._entered(each) for each in self.callbacks]
        return self

    def _entered(self, callback: Callback) -> Callback:
        target = self._stack.enter_context(callback)
        if isinstance(target, Callback):
            return target
        _LOG.warning("__enter__ of %s gives %r, which is not a Callback; it goes on itself", callback, target)
        return callback

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._stack.__exit__(kind, error, trace)

    def call(self, hook: str, run_context: RunContext) -> None:
        """Calls ``hook`` (``on_train_begin``) of every callback."""
        for callback in self.callbacks:
            getattr(callback, hook)(run_context)


def as_list(callbacks: Any) -> list[Any]:
    """The given callbacks as a new list."""
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
