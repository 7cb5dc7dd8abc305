"""``LossMonitor``: prints the loss, and stops a training whose loss is not a number."""

from __future__ import annotations

import math

from harness.errors import SettingError
from harness.framework.train.callback.base import Callback, RunContext, shown_loss
from harness.framework.train.checks import whole


class LossMonitor(Callback):
    """Prints ``epoch: 1 step: 2, loss is 0.5`` every so many steps.

    Args:
        per_print_times: how many steps lie between two lines; 0 for none.

    Raises (in ``step_end``): ``SettingError`` for a loss of NaN or Inf, at every step.
    """

    def __init__(self, per_print_times: int = 1) -> None:
        super().__init__()
        self._per_print_times = whole(per_print_times, "per_print_times", "LossMonitor", 0)
        self._last_print_time = 0

    def step_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        epoch, step = run.get("cur_epoch_num", 1), run.cur_step_num
        loss = shown_loss(run.net_outputs)
        in_epoch = (step - 1) % run.batch_num + 1
        if isinstance(loss, float) and not math.isfinite(loss):
            raise SettingError(f"LossMonitor: in epoch: {epoch} step: {in_epoch}, loss is NAN or INF ({loss}); the "
                               "training cannot go on")  # fmt: skip
        each = self._per_print_times
        if not each:
            return
        if step <= self._last_print_time:
            # A new run: the count goes back in strides, so that lines come at the same places.
            self._last_print_time -= each * (1 + (self._last_print_time - step) // each)
        if step - self._last_print_time >= each:
            self._last_print_time = step
            print(f"epoch: {epoch} step: {in_epoch}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        metrics = run.get("metrics")
        if metrics:
            print(f"Eval result: epoch {run.cur_epoch_num}, metrics: {metrics}")
