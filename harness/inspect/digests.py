"""What a watched training leaves of each step: a few numbers, and whether something looks wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True)
class Alarm:
    """Why a step looks wrong.

    Attributes:
        step: number of the step, from 0.
        kind: ``not finite``, ``exploding``, ``zero gradients`` or ``loss grows``.
        name: the parameter, or ``loss``.
        text: in words.
    """

    step: int
    kind: str
    name: str
    text: str


@dataclass
class Digests:
    """The norms of a training's steps.

    Args:
        growth: growth of a norm over the median of the steps before that is an alarm.
        history: steps that are needed before growth is judged.

    Attributes:
        steps: norms by name, a mapping a step.
        alarms: what looked wrong.
    """

    growth: float = 100.0
    history: int = 3
    steps: list[dict[str, float]] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)

    def take(self, norms: Mapping[str, float]) -> Alarm | None:
        """Takes a step; gives its alarm, or None.

        Args:
            norms: by name; gradients are called ``NAME.grad``, the loss ``loss``.
        """
        step = len(self.steps)
        self.steps.append(dict(norms))
        alarm = self._alarm(step, norms)
        if alarm is not None:
            self.alarms.append(alarm)
        return alarm

    def _alarm(self, step: int, norms: Mapping[str, float]) -> Alarm | None:
        for name, value in norms.items():
            if not math.isfinite(value):
                return Alarm(step, "not finite", name, f"{name} is {value} after step {step}")
        gradients = [value for name, value in norms.items() if name.endswith(".grad")]
        if gradients and not any(gradients):
            return Alarm(step, "zero gradients", "", f"every gradient is 0 in step {step}")
        if step < self.history:
            return None
        for name, value in norms.items():
            before = [each[name] for each in self.steps[-self.history - 1 : -1] if name in each]
            usual = median(abs(each) for each in before) if len(before) == self.history else 0.0
            if usual > 0 and abs(value) > self.growth * usual:
                kind = "loss grows" if name == "loss" else "exploding"
                return Alarm(step, kind, name, f"{name} is {value:.3g} in step {step}, and was {usual:.3g}")
        return None
