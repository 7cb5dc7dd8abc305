"""Learning rates that change by a rule of the epoch; see ``lr_scheduler``.

Source: MindSpore 2.10.0, measured (``tests/data/nn/experimental.json``).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness import dtypes
from harness.errors import ForeignKeyError, SettingError, SettingTypeError
from harness.framework.experimental.optim.optimizer import Optimizer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor


def of_kind(kind: Any, value: Any, name: str, owner: str) -> Any:
    """``value`` if it is of a class; ``SettingTypeError`` if not."""
    if not isinstance(value, kind):
        raise SettingTypeError(f"{owner}: {name} has the wrong type, got {type(value).__name__} {value!r}")
    return value


def for_each_group(optimizer: Any, given: Any, name: str, owner: str) -> list[Any]:
    """One of ``given`` for each group; one alone counts for all."""
    count = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        return [given] * count
    if len(given) != count:
        raise SettingError(f"{owner}: {name} needs one value for each of {count} groups, got {len(given)}")
    return list(given)


class LRScheduler:
    """Base of schedulers; a subclass defines ``get_lr()``, the rates of the groups in the epoch ``last_epoch``.

    Args:
        optimizer: of ``mindspore.experimental.optim``.
        last_epoch: the epoch to go on after; -1 begins.

    Raises:
        SettingTypeError, SettingError: another optimizer, or an epoch that is no int of at least -1.
    """

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        name = type(self).__name__
        of_kind(Optimizer, optimizer, "optimizer", name)
        if of_kind(int, last_epoch, "last_epoch", name) < -1:
            raise SettingError(f"{name}: last_epoch must be at least -1, got {last_epoch}")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"].value())
            elif "initial_lr" not in group:
                raise ForeignKeyError(
                    f"{name}: group {number} has no 'initial_lr', which last_epoch={last_epoch} needs"
                )
        self.base_lrs: list[Any] = [group["initial_lr"] for group in optimizer.param_groups]
        self.optimizer = optimizer
        self._last_lr = list(optimizer.lrs)
        self.groups_num = len(optimizer.param_groups)
        self.last_epoch: Any = Parameter(Tensor(last_epoch, dtypes.float32), name=f"last_epoch_{name}")
        self.increase_tensor = Tensor(1, dtypes.int32)
        self.step()

    def get_lr(self) -> list[Any]:
        """The rates; a subclass defines them."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The rates in force, a 0-d float32 tensor for each group."""
        return [lr.value() for lr in self._last_lr]

    def step(self, epoch: Any = None) -> Any:
        """Goes on to the next epoch, or to ``epoch``; True."""
        if epoch is None:
            ops.assign_add(self.last_epoch, self.increase_tensor)
            rates = self.get_lr()
        else:
            ops.assign(self.last_epoch, epoch)
            rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        for rate, value in zip(self._last_lr, rates, strict=True):
            ops.assign(rate, value)
        return True

    def _scaled(self, factor: Any) -> list[Any]:
        return [lr * factor for lr in self._last_lr]


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs."""

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = of_kind(int, step_size, "step_size", "StepLR")
        self.gamma = of_kind(float, gamma, "gamma", "StepLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        stays = self.last_epoch == 0 or self.last_epoch % self.step_size != 0
        return self._scaled(1.0 if stays else self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


class LinearLR(LRScheduler):
    """From ``start_factor`` to ``end_factor`` of the rate, in ``total_iters`` epochs."""

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise SettingError(f"LinearLR: start_factor must be above 0 and at most 1, got {start_factor!r}")
        if not 0 <= end_factor <= 1.0:
            raise SettingError(f"LinearLR: end_factor must be between 0 and 1, got {end_factor!r}")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = of_kind(int, total_iters, "total_iters", "LinearLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self.last_epoch > self.total_iters:
            return self._scaled(1.0)
        slope = self.end_factor - self.start_factor
        return self._scaled(1.0 + slope / (self.total_iters * self.start_factor + (self.last_epoch - 1) * slope))

    def _get_closed_form_lr(self) -> list[Any]:
        part = (self.end_factor - self.start_factor) * min(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * (self.start_factor + part) for lr in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times ``gamma`` every epoch."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = of_kind(float, gamma, "gamma", "ExponentialLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        return self._scaled(1.0 if self.last_epoch == 0 else self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self.gamma**self.last_epoch for lr in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to 0 in ``total_iters`` epochs, along ``(1 - epoch / total_iters) ** power``."""

    def __init__(self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        if of_kind(float, power, "power", "PolynomialLR") < 0:
            raise SettingError(f"PolynomialLR: power must be at least 0, got {power!r}")
        self.total_iters = of_kind(int, total_iters, "total_iters", "PolynomialLR")
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self._scaled(1.0)
        now, before = self.last_epoch / self.total_iters, (self.last_epoch - 1) / self.total_iters
        return self._scaled(((1.0 - now) / (1.0 - before)) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        part = ops.Minimum()(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * (1.0 - part) ** self.power for lr in self.base_lrs]


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch (one for each group, or one for all)."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = for_each_group(optimizer, lr_lambda, "lr_lambda", type(self).__name__)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        return [lr * factor(self.last_epoch) for factor, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(LambdaLR):
    """The rate before times a function of the epoch."""

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        if self.last_epoch > 0:
            return [lr * factor(self.last_epoch) for factor, lr in zip(self.lr_lambdas, self._last_lr, strict=True)]
        return self._scaled(1.0)


class MultiStepLR(LRScheduler):
    """Times ``gamma`` at each of the epochs ``milestones``."""

    def __init__(self, optimizer: Any, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        for milestone in of_kind(list, milestones, "milestones", "MultiStepLR"):
            of_kind(int, milestone, "each of milestones", "MultiStepLR")
        self.milestones = Counter(milestones)
        self.gamma = of_kind((float, int), gamma, "gamma", "MultiStepLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        times = self.milestones[int(self.last_epoch.value())]
        return [lr.value() * self.gamma**times if times else lr.value() for lr in self._last_lr]


class ConstantLR(LRScheduler):
    """``factor`` of the rate for ``total_iters`` epochs, then the rate."""

    def __init__(self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1.0:
            raise SettingError(f"ConstantLR: factor must be between 0 and 1, got {factor!r}")
        self.factor = factor
        self.total_iters = of_kind(int, total_iters, "total_iters", "ConstantLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._scaled(1.0)
        return [lr / self.factor for lr in self._last_lr]

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for lr in self.base_lrs]
