"""``History``: the final values of each epoch."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.tensor import Tensor
from harness.framework.train.callback.base import Callback, RunContext


class History(Callback):
    """Keeps the last output of each epoch, and the metrics of those that were evaluated.

    Attributes:
        epoch: ``{"epoch": [1, 2, ...]}`` of the last run.
        history: ``{"net_output": [...], metric: [...]}`` of all runs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] | None = None

    def begin(self, run_context: RunContext) -> None:
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        if self.epoch is not None:
            self.epoch["epoch"].append(run.get("cur_epoch_num", 1))
        output = run.net_outputs
        if isinstance(output, (tuple, list)) and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = np.mean(output.asnumpy())
        for name, value in {"net_output": output, **(run.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)
