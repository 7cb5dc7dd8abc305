"""``Callback`` and the arguments of its hooks.

Source of the rules: MindSpore 2.10.0, measured (``tests/interop/test_train_traces.py`` holds them).
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from harness.errors import SettingTypeError
from harness.framework.tensor import Tensor


class InternalCallbackParam(dict[str, Any]):
    """The facts of a run by name, as items and as attributes; a missing one is a KeyError in both cases."""

    def __getattr__(self, key: str) -> Any:
        return self[key]

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value


class RunContext:
    """The argument of every hook of a run.

    Args:
        original_args: what the run knows, a dict; the same object in every hook.
    """

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise SettingTypeError(f"RunContext: original_args must be a dict, got {type(original_args).__name__}")
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """The facts of the run (``InternalCallbackParam``)."""
        return self._original_args

    def request_stop(self) -> None:
        """Ends the training after this step or epoch, the evaluation after this step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether ``request_stop`` was called."""
        return self._stop_requested


class Callback:
    """Base of callbacks. Hooks do nothing; ``on_train_X`` and ``on_eval_X`` call the old hook ``X``.

    A callback is entered before a run and left after it, in the order of the list and back.
    """

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        """A true result swallows the error."""

    def begin(self, run_context: RunContext) -> None:
        """Before the first epoch."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before each epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After each epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before each step."""

    def step_end(self, run_context: RunContext) -> None:
        """After each step."""

    def end(self, run_context: RunContext) -> None:
        """After the last epoch."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """``begin``, in training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """``epoch_begin``, in training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """``epoch_end``, in training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """``step_begin``, in training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """``step_end``, in training."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """``end``, in training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """``begin``, in evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """``epoch_begin``, in evaluation."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """``epoch_end``, in evaluation."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """``step_begin``, in evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """``step_end``, in evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """``end``, in evaluation."""
        self.end(run_context)


def shown_loss(output: Any) -> Any:
    """The loss in a network's output: a tensor's mean as a float; for a tuple or list its first tensor, unchanged."""
    if isinstance(output, (tuple, list)):
        return output[0] if isinstance(output[0], Tensor) else output
    if isinstance(output, Tensor):
        return float(np.mean(output.asnumpy()))
    return output
