"""One training of a PyTorch module, step by step."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_msdump.torch_uses import torch

# pytest shows no frame of this module.
__tracebackhide__ = True

#: What a batch's label is called, if the module takes no argument of this name.
_LABELS = ("labels", "label", "targets", "target", "y")


class Training:
    """Takes training steps.

    Args:
        module: the module that learns.
        loss: called with its output and the label; None if the module gives the loss itself.
        optimizer: its optimizer.
        count: number of batches.
        scheduler: a scheduler of the learning rate, or several; they step after the optimizer.
        clip: the largest norm of the gradients, or a function that is given the parameters.
        scaler: a ``GradScaler``.
        accumulate: how many batches' gradients are added up for one step of the optimizer.
    """

    def __init__(
        self, module: Any, loss: Any, optimizer: Any, count: int,
        *, scheduler: Any = None, clip: Any = None, scaler: Any = None, accumulate: int = 1,
    ) -> None:  # fmt: skip
        self._module, self._loss, self._optimizer, self._count = module, loss, optimizer, count
        schedulers = scheduler if isinstance(scheduler, (list, tuple)) else [scheduler]
        self._schedulers = [each for each in schedulers if each is not None]
        self._clip, self._scaler, self._accumulate = clip, scaler, accumulate
        self._takes = _parameters(module)
        self._asks = _asks_for_the_loss(optimizer)

    def step(self, at: int, batch: Any) -> Any:
        """One batch, by its number; gives its loss."""
        if self._asks:
            values: list[Any] = []
            self._optimizer.step(lambda: self._computed(batch, values))
            self._schedule(values[0])
            return values[0]
        if at % self._accumulate == 0:
            self._optimizer.zero_grad()
        value = self._value(batch)
        scaled = value / self._accumulate if self._accumulate > 1 else value
        (scaled if self._scaler is None else self._scaler.scale(scaled)).backward()
        if (at + 1) % self._accumulate == 0 or at + 1 == self._count:
            self._update()
            self._schedule(value)
        return value

    def _computed(self, batch: Any, values: list[Any]) -> Any:
        """One forward and backward for an optimizer that asks for the loss; the loss, which is kept in ``values``."""
        self._optimizer.zero_grad()
        value = self._value(batch)
        value.backward()
        self._clipped()
        values.append(value)
        return value

    def _value(self, batch: Any) -> Any:
        positional, named, label = self._parts(batch)
        output = self._module(*positional, **named)
        if self._loss is not None:
            return self._loss(output, label)
        for found in (getattr(output, "loss", None), output["loss"] if isinstance(output, Mapping) else None):
            if found is not None:
                return found
        return output[0] if isinstance(output, (tuple, list)) else output

    def _parts(self, batch: Any) -> tuple[Sequence[Any], Mapping[str, Any], Any]:
        """The module's arguments by place and by name, and the label."""
        if not isinstance(batch, Mapping):
            return (batch[:-1], {}, batch[-1]) if self._loss is not None else (batch, {}, None)
        takes, any_other = self._takes
        any_label = any_other and self._loss is None
        named = {
            name: each for name, each in batch.items() if name in takes or (any_label if name in _LABELS else any_other)
        }
        rest = {name: each for name, each in batch.items() if name not in named}
        if len(rest) == 1:
            return (), named, next(iter(rest.values()))
        label = next((batch[name] for name in _LABELS if name in batch), None)
        return (), named, rest or (label if label is not None else batch)

    def _clipped(self) -> None:
        if self._clip is None:
            return
        if callable(self._clip):
            self._clip(self._module.parameters())
        else:
            torch().nn.utils.clip_grad_norm_(self._module.parameters(), self._clip)

    def _update(self) -> None:
        if self._scaler is None:
            self._clipped()
            self._optimizer.step()
            return
        if self._clip is not None:
            self._scaler.unscale_(self._optimizer)
        self._clipped()
        self._scaler.step(self._optimizer)
        self._scaler.update()

    def _schedule(self, value: Any) -> None:
        for each in self._schedulers:
            given = inspect.signature(each.step).parameters.get("metrics")
            if given is not None and given.default is inspect.Parameter.empty:
                each.step(value.detach())
            else:
                each.step()


def _parameters(module: Any) -> tuple[set[str], bool]:
    """The names of the arguments a module takes, and whether it takes any other."""
    try:
        given = inspect.signature(module.forward).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return set(), True
    return {each.name for each in given}, any(each.kind is inspect.Parameter.VAR_KEYWORD for each in given)


def _asks_for_the_loss(optimizer: Any) -> bool:
    """Whether an optimizer's step cannot do without a function that computes the loss again, as LBFGS's does."""
    try:
        given = inspect.signature(optimizer.step).parameters.get("closure")
    except (AttributeError, TypeError, ValueError):
        return False
    return given is not None and given.default is inspect.Parameter.empty
