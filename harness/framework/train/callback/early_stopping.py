"""``EarlyStopping``: stops a training that does not improve."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.nn import checks
from harness.framework.train.callback.base import RunContext
from harness.framework.train.callback.watched import Watching
from harness.framework.train.checks import whole


class EarlyStopping(Watching):
    """Stops after ``patience`` epochs without improvement; an epoch counts before it is judged, so 0 stops after one.

    Args:
        monitor, min_delta, mode: see ``Watching``.
        patience: epochs.
        verbose: print a line at the end.
        baseline: the value to beat as well; None or 0 for none. As in MindSpore, its value has no effect and
            ``min_delta`` is used instead.
        restore_best_weights: put back the parameters of the best epoch.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience = whole(patience, "patience", "EarlyStopping", 0)
        self.verbose = checks.boolean(verbose, "verbose", "EarlyStopping")
        self.baseline = min_delta if baseline else None
        self.restore_best_weights = checks.boolean(restore_best_weights, "restore_best_weights", "EarlyStopping")
        self.wait = 0
        self.stopped_epoch = 0
        self._weights: dict[str, Any] | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        self.wait = self.stopped_epoch = 0
        self._weights = None
        self._forget()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        value = self._value(run_context)
        if value is None:
            return
        if self._weights is None:
            self._keep(run.train_network)
        self.wait += 1
        if self._improves(value, self.best):
            self.best = value
            self._keep(run.train_network)
            if self.baseline is None or self._improves(value, self.baseline):
                self.wait = 0
        if self.wait >= self.patience:
            self.stopped_epoch = run.get("cur_epoch_num")
            run_context.request_stop()
            self._put_back(run.train_network)

    def _keep(self, network: Any) -> None:
        if self.restore_best_weights:
            self._weights = {each.name: each.asnumpy().copy() for each in network.get_parameters()}

    def _put_back(self, network: Any) -> None:
        if self._weights is None:
            return
        if self.verbose:
            print("Restoring model weights from the end of the best epoch.")
        for parameter in network.get_parameters():
            np.copyto(parameter.asnumpy(), self._weights[parameter.name])

    def on_train_end(self, run_context: RunContext) -> None:
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")
