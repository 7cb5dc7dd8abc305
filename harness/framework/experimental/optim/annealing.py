"""Learning rates in waves, schedulers in a row, and rates that follow a metric; see ``lr_scheduler``.

Source: MindSpore 2.10.0, measured (``tests/data/nn/experimental.json``).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.experimental.optim.optimizer import Optimizer
from harness.framework.experimental.optim.schedules import LRScheduler, for_each_group, of_kind
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor


class CosineAnnealingLR(LRScheduler):
    """Along a half cosine to ``eta_min`` in ``T_max`` epochs."""

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.eta_min = of_kind((float, int), eta_min, "eta_min", "CosineAnnealingLR")
        self.T_max = of_kind(int, T_max, "T_max", "CosineAnnealingLR")
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: Any) -> Any:
        return 1 + ops.Cos()(math.pi * epoch / self.T_max)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        if self.last_epoch == 0:
            return self._scaled(1.0)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            drop = 1 - ops.Cos()(Tensor(math.pi / self.T_max, dtypes.float32))
            rates = zip(self.base_lrs, self._last_lr, strict=True)
            return [lr + (base - self.eta_min) * drop / 2 for base, lr in rates]
        part = self._height(self.last_epoch) / self._height(self.last_epoch - 1)
        return [part * (lr - self.eta_min) + self.eta_min for lr in self._last_lr]

    def _get_closed_form_lr(self) -> list[Any]:
        return [self.eta_min + (lr - self.eta_min) * self._height(self.last_epoch) / 2 for lr in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along half cosines to ``eta_min``: of ``T_0`` epochs, then ``T_mult`` times as many, and so on."""

    def __init__(self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise SettingError(f"CosineAnnealingWarmRestarts: {name} must be an int of at least 1, got {value!r}")
        of_kind((float, int), eta_min, "eta_min", "CosineAnnealingWarmRestarts")
        self.T_0: Any = Parameter(Tensor(T_0, dtypes.float32), name="T_0")
        self.T_i: Any = Parameter(Tensor(T_0, dtypes.float32), name="T_i")
        self.T_mult = T_mult
        self.eta_min = Tensor(eta_min)
        self.T_cur: Any = Parameter(Tensor(last_epoch, dtypes.float32), name="T_cur")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        height = 1 + ops.Cos()(ops.cast(math.pi * self.T_cur / self.T_i, dtypes.float32))
        return [self.eta_min + (lr - self.eta_min) * height / 2 for lr in self.base_lrs]

    def step(self, epoch: Any = None) -> Any:
        """See ``LRScheduler``; nothing is given back."""
        if epoch is None and self.last_epoch < 0:
            epoch = Tensor(0, dtypes.int32)
        if epoch is None:
            epoch = self.last_epoch + 1
            ops.assign_add(self.T_cur, self.increase_tensor)
            if self.T_cur >= self.T_i:
                ops.assign(self.T_cur, self.T_cur - self.T_i)
                ops.assign(self.T_i, self.T_i * self.T_mult)
        else:
            if epoch < 0:
                raise SettingError(f"CosineAnnealingWarmRestarts: epoch must be at least 0, got {epoch}")
            epoch = ops.cast(epoch, dtypes.float32)
            self._go_to(epoch)
        ops.assign(self.last_epoch, ops.Floor()(epoch))
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            ops.assign(group["lr"], rate)

    def _go_to(self, epoch: Any) -> None:
        first, grows = self.T_0.value(), self.T_mult
        if epoch < first:
            ops.assign(self.T_i, first)
            ops.assign(self.T_cur, epoch)
        elif grows == 1:
            ops.assign(self.T_cur, epoch % first)
        else:
            raise SettingTypeError(
                "CosineAnnealingWarmRestarts: an epoch behind T_0 is refused where T_mult is above 1, as by MindSpore; "
                "step without an epoch"
            )


class CyclicLR(LRScheduler):
    """Up to ``max_lr`` in ``step_size_up`` epochs and down to ``base_lr`` in ``step_size_down``, again and again."""

    def __init__(
        self,
        optimizer: Any,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[Any], Any] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        lowest = for_each_group(optimizer, base_lr, "base_lr", "CyclicLR")
        if last_epoch == -1:
            for lr, group in zip(lowest, optimizer.param_groups, strict=True):
                ops.assign(group["lr"], Parameter(lr))
        self.max_lrs = [Tensor(lr) for lr in for_each_group(optimizer, max_lr, "max_lr", "CyclicLR")]
        up = float(step_size_up)
        self.total_step_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_up_ratio = up / self.total_step_size
        scales: dict[str, tuple[Callable[[Any], Any], str]] = {
            "triangular": (lambda x: 1.0, "cycle"), "triangular2": (lambda x: 1 / 2.0 ** (x - 1), "cycle"),
            "exp_range": (lambda x: gamma**x, "iterations"),
        }  # fmt: skip
        if scale_fn is None and mode not in scales:
            raise SettingError(f"CyclicLR: mode must be one of {list(scales)}, or scale_fn given; got {mode!r}")
        self.scale_fn, self.scale_mode = scales[mode] if scale_fn is None else (scale_fn, scale_mode)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [Tensor(lr) for lr in lowest]

    def get_lr(self) -> list[Any]:
        """See ``LRScheduler``."""
        cycle = ops.Floor()(1 + self.last_epoch / self.total_step_size)
        x = 1.0 + self.last_epoch / self.total_step_size - cycle
        part = x / self.step_up_ratio if x <= self.step_up_ratio else (x - 1) / (self.step_up_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return [low + (high - low) * part * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]


class SequentialLR:
    """Schedulers one after the other, the next from each of the epochs ``milestones`` on."""

    def __init__(
        self, optimizer: Any, schedulers: Sequence[Any], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        if any(each.optimizer is not optimizer for each in schedulers):
            raise SettingError("SequentialLR: every scheduler must belong to the optimizer that is given")
        if len(milestones) != len(schedulers) - 1:
            raise SettingError(
                f"SequentialLR: {len(schedulers)} schedulers need {len(schedulers) - 1} milestones, "
                f"got {len(milestones)}"
            )
        self._schedulers, self.milestones, self.optimizer = schedulers, milestones, optimizer
        self.last_epoch: Any = Parameter(Tensor(last_epoch + 1, dtypes.float32), name="last_epoch_SequentialLR")
        self.increase_tensor = Tensor(1, dtypes.int32)
        for group in optimizer.param_groups:
            ops.assign(group["lr"], group["initial_lr"])
        for scheduler in schedulers:
            ops.assign_sub(scheduler.last_epoch, self.increase_tensor)
        schedulers[0].step()
        self._last_lr = schedulers[0]._last_lr

    def step(self) -> None:
        """Goes on to the next epoch."""
        ops.assign_add(self.last_epoch, self.increase_tensor)
        epoch = int(self.last_epoch)
        at = bisect_right(self.milestones, epoch)
        if at > 0 and self.milestones[at - 1] == epoch:
            self._schedulers[at].step(0)
        else:
            self._schedulers[at].step()

    def get_last_lr(self) -> list[Any]:
        """The rates in force, a 0-d float32 tensor for each group."""
        return [lr.value() for lr in self._last_lr]


class ReduceLROnPlateau:
    """Times ``factor`` once a metric stopped improving for ``patience`` epochs."""

    def __init__(
        self,
        optimizer: Any,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise SettingError(f"ReduceLROnPlateau: factor must be below 1, got {factor!r}")
        self.optimizer = of_kind(Optimizer, optimizer, "optimizer", "ReduceLROnPlateau")
        for name, value, known in (("mode", mode, ("min", "max")), ("threshold_mode", threshold_mode, ("rel", "abs"))):
            if value not in known:
                raise SettingError(f"ReduceLROnPlateau: {name} must be one of {list(known)}, got {value!r}")
        self.min_lrs = [
            Tensor(lr, dtypes.float32) for lr in for_each_group(optimizer, min_lr, "min_lr", "ReduceLROnPlateau")
        ]
        self.mode, self.threshold_mode, self.threshold = mode, threshold_mode, threshold
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        worst = math.inf if mode == "min" else -math.inf
        self.last_epoch: Any = Parameter(Tensor(0, dtypes.int32), name="last_epoch_ReduceLROnPlateau")
        self.best: Any = Parameter(Tensor(worst, dtypes.float32), name="best")
        self.cooldown_counter: Any = Parameter(Tensor(0, dtypes.float32), name="cooldown_counter")
        self.wait: Any = Parameter(Tensor(0, dtypes.float32), name="wait")
        self.increase_tensor = Tensor(1, dtypes.int32)
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics: Any) -> Any:
        """Takes the metric of an epoch; True."""
        current = ops.cast(metrics, dtypes.float32)
        ops.assign(self.last_epoch, self.last_epoch + 1)
        if self._is_improvement(current):
            ops.assign(self.best, current)
            ops.assign(self.wait, 0)
        else:
            ops.assign_add(self.wait, self.increase_tensor)
        if self.in_cooldown():
            ops.assign_sub(self.cooldown_counter, self.increase_tensor)
            ops.assign(self.wait, 0)
        if self.wait > self.patience:
            for lr, least in zip(self._last_lr, self.min_lrs, strict=True):
                lower = ops.maximum(lr.value() * self.factor, least)
                if lr > lower + self.eps:
                    ops.assign(lr, lower)
            ops.assign(self.cooldown_counter, self.cooldown)
            ops.assign(self.wait, 0)
        return True

    def in_cooldown(self) -> Any:
        """Whether epochs do not count yet after a reduction."""
        return self.cooldown_counter > 0

    def _is_improvement(self, current: Any) -> Any:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            bound = self.best * (1.0 + sign * self.threshold)
        else:
            bound = self.best + sign * self.threshold
        return current < bound if self.mode == "min" else current > bound

    def get_last_lr(self) -> list[Any]:
        """The rates in force, a 0-d float32 tensor for each group."""
        return [lr.value() for lr in self._last_lr]
