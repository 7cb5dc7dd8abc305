"""Watches a PyTorch loop (extra ``torch``): norms of parameters and gradients a step, and a whole capture of the step
after one that looks wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.errors import SettingTypeError
from harness.inspect.digests import Alarm, Digests
from harness.inspect.finding import Report
from harness.inspect.inspecting import inspect
from harness.inspect.live import StoppedError


class Watch:
    """Watches the steps of a module's training.

    Args:
        module: a ``torch.nn.Module``.
        stop: raise ``StoppedError`` at the end of the step after an alarm.

    Attributes:
        digests: norms of every step, and alarms.
        alarm: the first alarm, or None.
        report: what an inspection of the captured step found; None while nothing looked wrong.

    Raises:
        SettingTypeError: ``module`` is no module.
    """

    def __init__(self, module: Any, stop: bool = False) -> None:
        import torch

        if not isinstance(module, torch.nn.Module):
            raise SettingTypeError(f"watch: a torch.nn.Module is watched, got {type(module).__name__}")
        self.digests = Digests()
        self.alarm: Alarm | None = None
        self.report: Report | None = None
        self._module, self._stop = module, stop
        self._loss: Any = None

    def loss(self, value: Any) -> Any:
        """Notes the step's loss; gives it back."""
        self._loss = value.detach()
        return value

    @contextmanager
    def step(self) -> Iterator[None]:
        """One step of training: forward, backward, update.

        Raises:
            StoppedError: the step before looked wrong, and ``stop`` was asked for.
        """
        if self.alarm is None or self.report is not None:
            yield
        else:
            from harness.capture.torch import TorchCapture

            whole = TorchCapture(self._module, gradients=True)
            with whole.step():
                yield
            self.report = inspect(whole.capture())
            if self._stop:
                raise StoppedError(f"stopped: {self.alarm.text}")
        alarm = self.digests.take(self._norms())
        self.alarm = self.alarm or alarm

    def _norms(self) -> dict[str, float]:
        import torch

        with torch.no_grad():
            named = [
                (name, each.detach()) for name, each in self._module.named_parameters() if each.is_floating_point()
            ]
            named += [
                (f"{name}.grad", each.grad.detach())
                for name, each in self._module.named_parameters()
                if each.grad is not None and not each.grad.is_sparse
            ]
            norms = torch._foreach_norm([each for _, each in named]) if named else []
            values = torch.stack([each.float() for each in norms]).tolist() if norms else []
            found = dict(zip((name for name, _ in named), values, strict=True))
            if self._loss is not None:
                found["loss"] = float(self._loss)
        return found


def watch(module: Any, stop: bool = False) -> Watch:
    """See ``Watch``."""
    return Watch(module, stop)
