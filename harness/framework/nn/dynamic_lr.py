"""Lists of learning rates, one for each step, to give to an optimizer.

Every function counts epochs from the step: ``step // step_per_epoch``. Source: MindSpore 2.10.0, measured
(``tests/data/nn/learning_rates.json``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks

__all__ = [
    "cosine_decay_lr", "exponential_decay_lr", "inverse_decay_lr", "natural_exp_decay_lr", "piecewise_constant_lr",
    "polynomial_decay_lr", "warmup_lr",
]  # fmt: skip


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """``learning_rates[i]`` for the steps before ``milestone[i]`` that the milestones before it leave.

    Args:
        milestone: steps, rising; ints above 0.
        learning_rates: as many floats.
    """
    owner = "piecewise_constant_lr"
    for name, given in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(given, (tuple, list)):
            raise SettingTypeError(f"{owner}: {name} must be a tuple or list, got {type(given).__name__} {given!r}")
    if len(milestone) != len(learning_rates):
        raise SettingError(
            f"{owner}: milestone and learning_rates must be as long, got {len(milestone)} and {len(learning_rates)}"
        )
    rates: list[float] = []
    for at, (until, rate) in enumerate(zip(milestone, learning_rates, strict=True)):
        _count(until, f"milestone[{at}]", owner)
        _float(rate, f"learning_rates[{at}]", owner)
        if until < len(rates):
            raise SettingError(f"{owner}: milestone must rise, got {until} behind {len(rates)}")
        rates += [rate] * (until - len(rates))
    return rates


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * decay_rate ** (epoch / decay_epoch); whole powers only with ``is_stair``."""
    _decay("exponential_decay_lr", learning_rate, decay_rate, decay_epoch, is_stair)

    def rate(epoch: int) -> float:
        return float(learning_rate * decay_rate ** (epoch // decay_epoch if is_stair else epoch / decay_epoch))

    return _each(rate, total_step, step_per_epoch, "exponential_decay_lr")


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * e ** (-decay_rate * epoch); the epoch stays for ``decay_epoch`` epochs with ``is_stair``."""
    _decay("natural_exp_decay_lr", learning_rate, decay_rate, decay_epoch, is_stair)

    def rate(epoch: int) -> float:
        return float(
            learning_rate * math.e ** (-decay_rate * (epoch // decay_epoch * decay_epoch if is_stair else epoch))
        )

    return _each(rate, total_step, step_per_epoch, "natural_exp_decay_lr")


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate / (1 + decay_rate * epoch / decay_epoch); whole numbers of decays only with ``is_stair``."""
    _decay("inverse_decay_lr", learning_rate, decay_rate, decay_epoch, is_stair)

    def rate(epoch: int) -> float:
        return learning_rate / (1 + decay_rate * (epoch // decay_epoch if is_stair else epoch / decay_epoch))

    return _each(rate, total_step, step_per_epoch, "inverse_decay_lr")


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Half a cosine from ``max_lr`` down to ``min_lr`` over ``decay_epoch`` epochs, then ``min_lr``."""
    owner = "cosine_decay_lr"
    if _float(min_lr, "min_lr", owner) < 0:
        raise SettingError(f"{owner}: min_lr must be at least 0, got {min_lr!r}")
    if _positive(max_lr, "max_lr", owner) <= min_lr:
        raise SettingError(f"{owner}: max_lr must be above min_lr, got {max_lr!r} and {min_lr!r}")
    _count(decay_epoch, "decay_epoch", owner)

    def rate(epoch: int) -> float:
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * min(epoch, decay_epoch) / decay_epoch))

    return _each(rate, total_step, step_per_epoch, owner)


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """From ``learning_rate`` to ``end_learning_rate`` as (1 - epoch / decay_epoch) ** power; after ``decay_epoch`` the
    end rate, or with ``update_decay_epoch`` again with the next multiple of ``decay_epoch``."""
    owner = "polynomial_decay_lr"
    _positive(learning_rate, "learning_rate", owner)
    if _float(end_learning_rate, "end_learning_rate", owner) < 0:
        raise SettingError(f"{owner}: end_learning_rate must be at least 0, got {end_learning_rate!r}")
    _positive(power, "power", owner)
    _count(decay_epoch, "decay_epoch", owner)
    checks.boolean(update_decay_epoch, "update_decay_epoch", owner)

    def rate(epoch: int) -> float:
        over = decay_epoch * max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else decay_epoch
        left = 1 - min(epoch, over) / over
        return float((learning_rate - end_learning_rate) * left**power) + end_learning_rate

    return _each(rate, total_step, step_per_epoch, owner)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """From 0 to ``learning_rate`` in equal parts over ``warmup_epoch`` epochs."""
    owner = "warmup_lr"
    if _float(learning_rate, "learning_rate", owner) < 0:
        raise SettingError(f"{owner}: learning_rate must be at least 0, got {learning_rate!r}")
    _count(warmup_epoch, "warmup_epoch", owner)

    def rate(epoch: int) -> float:
        return learning_rate * min(epoch, warmup_epoch) / warmup_epoch

    return _each(rate, total_step, step_per_epoch, owner)


def _each(rate: Callable[[int], float], total_step: int, step_per_epoch: int, owner: str) -> list[float]:
    """The rate of every step."""
    _count(total_step, "total_step", owner)
    _count(step_per_epoch, "step_per_epoch", owner)
    return [rate(step // step_per_epoch) for step in range(total_step)]


def _decay(owner: str, learning_rate: Any, decay_rate: Any, decay_epoch: Any, is_stair: Any) -> None:
    _positive(learning_rate, "learning_rate", owner)
    _positive(decay_rate, "decay_rate", owner)
    _count(decay_epoch, "decay_epoch", owner)
    checks.boolean(is_stair, "is_stair", owner)


def _float(value: Any, name: str, owner: str) -> float:
    if not isinstance(value, float):
        raise SettingTypeError(f"{owner}: {name} must be a float, got {type(value).__name__} {value!r}")
    return value


def _positive(value: Any, name: str, owner: str) -> float:
    if _float(value, name, owner) <= 0:
        raise SettingError(f"{owner}: {name} must be above 0, got {value!r}")
    return value  # type: ignore[no-any-return]


def _count(value: Any, name: str, owner: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int, got {type(value).__name__} {value!r}")
    return checks.positive_int(value, name, owner)
