"""Shared parts of callbacks that watch one number per epoch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness import log
from harness.errors import SettingError
from harness.framework.nn import checks
from harness.framework.train.callback.base import Callback, RunContext, shown_loss
from harness.framework.train.metrics.base import typed

_LOG = log.get("train")
#: with mode ``auto``, numbers for which smaller is better (measured)
SMALLER_IS_BETTER = frozenset(("eval_loss", "loss", "mae", "mse", "perplexity", "hausdorff_distance",
                               "mean_surface_distance", "root_mean_square_distance"))  # fmt: skip


class Watching(Callback):
    """Watches ``monitor``: ``loss``, or the name of a result of an evaluation (``eval_loss``, a metric's name).

    Args:
        monitor: name of the watched number.
        mode: ``min`` or ``max`` is better; ``auto`` decides by the name.
        min_delta: the least improvement that counts.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        super().__init__()
        owner = type(self).__name__
        self.monitor = typed(monitor, (str,), "monitor", owner)
        self.mode = checks.among(typed(mode, (str,), "mode", owner), ("auto", "min", "max"), "mode", owner)
        self.min_delta = abs(checks.number(min_delta, "min_delta", owner))
        self.best: Any = math.inf
        self._forget()

    @property
    def _smaller(self) -> bool:
        return self.mode == "min" or (self.mode == "auto" and self.monitor in SMALLER_IS_BETTER)

    def _forget(self) -> None:
        self.best = math.inf if self._smaller else -math.inf

    def _improves(self, value: Any, on: Any) -> bool:
        return bool(value < on - self.min_delta if self._smaller else value > on + self.min_delta)

    def _value(self, run_context: RunContext) -> Any:
        """The watched number of this epoch (0-d array); None, with a warning, where there is none.

        As in MindSpore, a value of exactly 0 counts as none, without a warning.
        """
        run = run_context.original_args()
        owner = type(self).__name__
        found = run.get("eval_results", {})
        value = shown_loss(run.get("net_outputs")) if self.monitor == "loss" else found.get(self.monitor)
        if value is None:
            _LOG.warning("%s watches %s, which does not exist; available: %s", owner, self.monitor, ["loss", *found])
            return None
        if np.ndim(value):
            raise SettingError(f"{owner}: {self.monitor} must be one number, got an array of shape {np.shape(value)}")
        return np.array(value) if value else None
