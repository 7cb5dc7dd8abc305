"""What a test runs inside a section: training steps, faults. ``harness`` is imported inside functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from pytest_msdump.gate_test import GateTest

if TYPE_CHECKING:
    from harness.backends import Process
    from harness.testing import Injection


def train_step(network: Any, loss: Any, optimizer: Any) -> Callable[..., Any]:
    """One training step as a function of a batch."""
    from harness import nn

    step: Any = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    return cast("Callable[..., Any]", step)


def fit(
    test: GateTest,
    network: Any,
    loss: Any,
    optimizer: Any,
    batches: Sequence[Any],
    epochs: int,
    callbacks: Any,
    metrics: Any,
) -> list[Any]:
    """A training by ``Model.fit``; keeps what it leaves beside tensors, and gives the losses."""
    from harness.capture.capture import COMPARED
    from harness.framework.train import recording

    losses, text = recording.train(network, loss, optimizer, batches, epochs, callbacks, metrics)
    test.texts[f"{COMPARED}training_{test.programs}.txt"] = text.encode()
    return losses


def injection(process: Process, operator: str, **given: Any) -> Injection:
    """A fault in the runs of ``process``; see ``harness.testing.inject``.

    Raises ``UnsupportedError`` for a backend whose kernels are not the harness's.
    """
    from harness.errors import UnsupportedError
    from harness.testing import inject

    if process.session is None:
        raise UnsupportedError("msdump.inject: only emulated backends can have faults; this one runs kernels elsewhere")
    return inject(operator, session=process.session, **given)
