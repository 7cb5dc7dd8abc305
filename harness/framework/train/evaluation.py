"""One evaluation: the rows of a dataset through a network, into metrics."""

from __future__ import annotations

import copy
from typing import Any

from harness.errors import SettingError
from harness.framework.tensor import Tensor
from harness.framework.train.callback.base import RunContext
from harness.framework.train.callback.manager import CallbackManager
from harness.framework.train.metrics import Loss
from harness.framework.train.rows import Rows


class MetricSet:
    """The metrics of a model.

    Args:
        metrics: by name.
        indexes: which outputs are (loss, prediction, label); None to give each metric all outputs.
    """

    def __init__(self, metrics: dict[str, Any], indexes: list[int] | None) -> None:
        self.metrics = metrics
        self.indexes = indexes

    def clear(self) -> None:
        """Forgets all earlier rows."""
        for metric in self.metrics.values():
            metric.clear()

    def update(self, outputs: Any) -> None:
        """Adds the network's outputs for a row."""
        given = (outputs,) if isinstance(outputs, Tensor) else outputs
        if not isinstance(given, tuple):
            raise SettingError(f"Model.eval: the network must give a tensor or a tuple, got {type(outputs).__name__}")
        if self.indexes is not None and len(given) < 3:
            raise SettingError(f"Model.eval: the network must give (loss, prediction, label), got {len(given)} outputs")
        for metric in self.metrics.values():
            if self.indexes is None:
                metric.update(*given)
            elif isinstance(metric, Loss):
                metric.update(given[self.indexes[0]])
            else:
                metric.update(given[self.indexes[1]], given[self.indexes[2]])

    def values(self) -> dict[str, Any]:
        """The value of each metric, by name."""
        return {name: metric.eval() for name, metric in self.metrics.items()}

    def loss_of(self, outputs: Any) -> Any:
        """The loss of one row."""
        return Loss()(outputs[0 if self.indexes is None else self.indexes[0]])


def evaluate(model: Any, dataset: Any, callbacks: CallbackManager, run: Any, *, in_fit: bool) -> dict[str, Any]:
    """Runs the hooks and steps of one evaluation; gives the metrics.

    Args:
        model: gives ``eval_network``, ``judge`` and ``in_mode``.
        run: what callbacks see; ``in_fit`` also gets ``eval_results``.
    """
    context = RunContext(run)
    judge: MetricSet = model.judge
    run.dataset_sink_mode = False
    callbacks.call("on_eval_begin", context)
    model.prepare(train=False)
    callbacks.call("on_eval_epoch_begin", context)
    last_loss = None
    for row in Rows(dataset, 1):
        run.cur_step_num += 1
        run.eval_dataset_element = row
        callbacks.call("on_eval_step_begin", context)
        run.net_outputs = model.in_mode(train=False)(*row)
        callbacks.call("on_eval_step_end", context)
        judge.update(run.net_outputs)
        if in_fit:
            last_loss = judge.loss_of(run.net_outputs)
        if context.get_stop_requested():
            break
    callbacks.call("on_eval_epoch_end", context)
    found = judge.values()
    run.metrics = found
    if in_fit:
        run.eval_results = {**copy.deepcopy(found), "eval_loss": last_loss}
    callbacks.call("on_eval_end", context)
    return found
