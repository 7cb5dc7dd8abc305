"""Callbacks that change the learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from harness.errors import SettingError
from harness.framework.nn import checks
from harness.framework.tensor import Parameter, Tensor
from harness.framework.train.callback.base import Callback, RunContext
from harness.framework.train.callback.watched import Watching
from harness.framework.train.checks import whole


class LearningRateScheduler(Callback):
    """Sets the rate to a function's result after each step.

    Args:
        learning_rate_function: (rate, global step) -> rate.
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        super().__init__()
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        rate = run.optimizer.learning_rate
        before = float(np.array2string(rate.asnumpy()))
        after = self.learning_rate_function(before, run.cur_step_num)
        if not math.isclose(before, after, rel_tol=1e-10):
            rate.set_data(Tensor(np.float32(after)))


class ReduceLROnPlateau(Watching):
    """Lowers the rate after ``patience`` epochs without improvement.

    Args:
        monitor, mode, min_delta: see ``Watching``.
        factor: the rate is multiplied by it; in (0, 1).
        patience: epochs.
        verbose: print a line.
        cooldown: epochs after a change that do not count.
        min_lr: the lowest rate.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        owner = "ReduceLROnPlateau"
        self.factor = checks.open_share(factor, "factor", owner)
        self.patience = whole(patience, "patience", owner, 0)
        self.verbose = checks.boolean(verbose, "verbose", owner)
        self.cooldown = whole(cooldown, "cooldown", owner, 0)
        self.min_lr = checks.number(min_lr, "min_lr", owner)
        self.wait = 0
        self.cooldown_counter = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        self.wait = self.cooldown_counter = 0
        self._forget()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        rate = run.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise SettingError("ReduceLROnPlateau: the optimizer's learning rate must be one number, it is "
                               f"{type(rate).__name__}")  # fmt: skip
        value = self._value(run_context)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._improves(value, self.best):
            self.best = value
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._lower(rate, run.cur_epoch_num)
                self.cooldown_counter, self.wait = self.cooldown, 0

    def _lower(self, rate: Parameter, epoch: int) -> None:
        now = rate.asnumpy()
        if not now > self.min_lr:
            return
        new = Tensor(max(np.float32(now * np.float32(self.factor)), np.float32(self.min_lr)))
        rate.set_data(new)
        if self.verbose:
            print(f"Epoch {epoch:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
