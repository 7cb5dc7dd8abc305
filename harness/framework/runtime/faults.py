"""Faults on purpose: the runtime calls a session's faults before and after kernels. ``harness.testing`` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.framework.runtime.launch import Launch
from harness.recording.value import Array


class Fault(Protocol):
    """One fault to inject."""

    def before(self, launch: Launch, iteration: int) -> None:
        """Before a kernel runs, when observers have seen its inputs; what it raises is what the kernel raises.

        Args:
            iteration: label of the step, as captures and dump trees give it (counted from 0).
        """

    def after(self, launch: Launch, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
        """The results of a kernel as its readers and observers see them. The arrays may be those of others;
        only an operator that updates in place may have them changed where they lie."""


def before_all(faults: Sequence[Fault], launch: Launch, iteration: int) -> None:
    """Asks each fault before a kernel runs."""
    for fault in faults:
        fault.before(launch, iteration)


def after_all(faults: Sequence[Fault], launch: Launch, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
    """Results after each fault was applied."""
    for fault in faults:
        results = fault.after(launch, iteration, results)
    return results
