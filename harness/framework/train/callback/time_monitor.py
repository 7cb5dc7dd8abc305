"""``TimeMonitor``: prints how long an epoch took."""

from __future__ import annotations

import time

from harness.framework.nn import checks
from harness.framework.train.callback.base import Callback, RunContext
from harness.framework.train.checks import whole


class TimeMonitor(Callback):
    """Prints ``Train epoch time: 1.234 ms, per step time: 0.411 ms`` after each epoch.

    Args:
        data_size: steps of an epoch, if the run does not know them.
        data_time: also print how long the data of a step took.
    """

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        super().__init__()
        self.data_size = data_size
        self.data_time = checks.boolean(data_time, "data_time", "TimeMonitor")
        self.epoch_time = time.time()
        self._waited = 0.0
        self._asked = 0.0

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self._waited += time.time() - self._asked

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._asked = time.time()

    def epoch_begin(self, run_context: RunContext) -> None:
        self.epoch_time = self._asked = time.time()
        self._waited = 0.0

    def epoch_end(self, run_context: RunContext) -> None:
        spent = (time.time() - self.epoch_time) * 1000
        run = run_context.original_args()
        steps = run.get("batch_num")
        if not isinstance(steps, int) or steps <= 0:
            steps = whole(self.data_size, "data_size", "TimeMonitor", 1)
        line = f"{run.get('mode', '').title()} epoch time: {spent:5.3f} ms, per step time: {spent / steps:5.3f} ms"
        if self.data_time:
            line += f" (data time: {self._waited * 1000 / steps:5.3f} ms)"
        print(line, flush=True)
