"""The loop of a training: epochs, steps, hooks, evaluations in between."""

from __future__ import annotations

from typing import Any, NamedTuple

from harness.errors import SettingError
from harness.framework.train.callback import __all__ as own_names
from harness.framework.train.callback.base import Callback, InternalCallbackParam, RunContext
from harness.framework.train.callback.manager import CallbackManager
from harness.framework.train.callback.time_monitor import TimeMonitor
from harness.framework.train.evaluation import evaluate
from harness.framework.train.rows import Rows, size_of
from harness.progress import Progress

LONG = 5.0
"""Seconds after which a training shows its progress."""


class _StepSync(Callback):
    """Stands first in the list, as in MindSpore's PyNative mode; it has nothing to wait for here."""


class _FrameworkProfilerCallback(Callback):
    """Stands first in the list, as in MindSpore."""


class Plan(NamedTuple):
    """The plan of a training.

    Attributes:
        first, last: epochs done before, and the number of the last one.
        train: its dataset.
        valid: dataset evaluated in between, or None.
        frequency: every so many epochs, or after which ones.
    """

    first: int
    last: int
    train: Any
    valid: Any = None
    frequency: int | list[int] = 1

    def evaluates(self, epoch: int) -> bool:
        """Whether there is an evaluation after ``epoch``."""
        if self.valid is None:
            return False
        return epoch % self.frequency == 0 if isinstance(self.frequency, int) else epoch in self.frequency


def internal(pynative: bool) -> list[Callback]:
    """The callbacks that MindSpore puts before a user's."""
    return [_StepSync(), _FrameworkProfilerCallback()] if pynative else [_FrameworkProfilerCallback()]


def train(model: Any, plan: Plan, callbacks: CallbackManager, run: InternalCallbackParam) -> None:
    """Runs every epoch, or until a callback requests a stop.

    Args:
        model: gives ``train_network``, ``in_mode``, and is told of epoch and step.
        run: what callbacks see.
    """
    model.prepare(train=True)
    rows = Rows(plan.train, plan.last)
    run.dataset_sink_mode = False
    context = RunContext(run)
    callbacks.call("on_train_begin", context)
    steps = (plan.last - plan.first) * size_of(plan.train)
    with Progress("training", steps, "steps", after=LONG, lines=True) as progress:
        _epochs(model, plan, rows, callbacks, context, progress)
    callbacks.call("on_train_end", context)


def _epochs(
    model: Any, plan: Plan, rows: Rows, callbacks: CallbackManager, context: RunContext, progress: Progress
) -> None:
    run = context.original_args()
    for epoch in range(plan.first + 1, plan.last + 1):
        run.cur_epoch_num = epoch
        model.position = (epoch, 0)
        callbacks.call("on_train_epoch_begin", context)
        _epoch(model, rows, callbacks, context, progress)
        if plan.evaluates(epoch):
            _evaluate_between(model, plan.valid, callbacks, run)
        reset = getattr(plan.train, "reset", None)
        if callable(reset):
            reset()
        callbacks.call("on_train_epoch_end", context)
        run.pop("metrics", None)
        run.pop("eval_results", None)
        if context.get_stop_requested():
            break


def _epoch(model: Any, rows: Rows, callbacks: CallbackManager, context: RunContext, progress: Progress) -> None:
    run = context.original_args()
    for row in rows:
        if model.loss_fn is not None and len(row) != 2:
            raise SettingError(f"Model.train: with a loss_fn a row must be (data, label), got {len(row)} columns")
        run.cur_step_num += 1
        model.position = (run.cur_epoch_num, int((run.cur_step_num - 1) % run.batch_num + 1))
        run.train_dataset_element = row
        callbacks.call("on_train_step_begin", context)
        run.net_outputs = model.in_mode(train=True)(*row)
        callbacks.call("on_train_step_end", context)
        progress.step(model.position[0])
        if context.get_stop_requested():
            break


def _evaluate_between(model: Any, valid: Any, callbacks: CallbackManager, run: InternalCallbackParam) -> None:
    """Evaluates during a training; afterwards the run continues unchanged."""
    kept = {name: run[name] for name in ("mode", "cur_step_num", "batch_num", "dataset_sink_mode", "net_outputs")}
    # Of MindSpore's own callbacks only TimeMonitor takes part.
    some = [
        each for each in callbacks.callbacks if type(each).__name__ not in own_names or isinstance(each, TimeMonitor)
    ]
    run.update(eval_network=model.eval_network, valid_dataset=valid, batch_num=size_of(valid), mode="eval")
    run.cur_step_num = 0
    model.judge.clear()
    with CallbackManager(some) as entered:
        evaluate(model, valid, entered, run, in_fit=True)
    run.update(kept)
