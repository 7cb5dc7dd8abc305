"""``LambdaCallback``: hooks given as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.framework.train.callback.base import Callback, RunContext

Hook = Callable[[RunContext], Any]


def _nothing(run_context: RunContext) -> None:
    """Stands for a hook that was not given."""


class LambdaCallback(Callback):
    """Calls the function given for a hook; the old hooks do not run."""

    def __init__(
        self,
        on_train_epoch_begin: Hook | None = None,
        on_train_epoch_end: Hook | None = None,
        on_train_step_begin: Hook | None = None,
        on_train_step_end: Hook | None = None,
        on_train_begin: Hook | None = None,
        on_train_end: Hook | None = None,
        on_eval_epoch_begin: Hook | None = None,
        on_eval_epoch_end: Hook | None = None,
        on_eval_step_begin: Hook | None = None,
        on_eval_step_end: Hook | None = None,
        on_eval_begin: Hook | None = None,
        on_eval_end: Hook | None = None,
    ) -> None:
        super().__init__()
        given = {name: hook for name, hook in locals().items() if name.startswith("on_")}
        for name, hook in given.items():
            setattr(self, name, hook or _nothing)
