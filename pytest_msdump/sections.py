"""Runs the sections of a test: training steps, faults. ``harness`` is imported inside functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from pytest_msdump.gate_test import GateTest

if TYPE_CHECKING:
    from harness.backends import Process
    from harness.testing import Injection

# pytest shows no frame of this module.
__tracebackhide__ = True


def as_inputs(values: Sequence[Any]) -> tuple[Any, ...]:
    """Converts inputs for a cell: numpy arrays and scalars, Python numbers and PyTorch tensors become tensors, also
    inside tuples, lists and dicts. A bool stays, because it is more often a switch than a tensor."""
    return tuple(_as_input(value, True) for value in values)


def _as_input(value: Any, numbers: bool) -> Any:
    kind = type(value)
    if kind in (int, float, complex):
        return _tensor(value) if numbers else value
    if kind in (tuple, list):
        return kind(_as_input(each, False) for each in value)
    if kind is dict:
        return {name: _as_input(each, False) for name, each in value.items()}
    package = kind.__module__.partition(".")[0]
    if package == "torch" and hasattr(value, "detach"):
        from harness.capture.given import array_of

        return _tensor(array_of("input", value))
    return _tensor(value) if package == "numpy" and hasattr(value, "dtype") else value


def _tensor(value: Any) -> Any:
    from harness import Tensor
    from harness.errors import HarnessError, SettingTypeError

    try:
        return Tensor(value)
    except (HarnessError, TypeError, ValueError) as error:
        dtype = getattr(value, "dtype", type(value).__name__)
        raise SettingTypeError(f"msdump: an input of dtype {dtype} cannot become a Tensor: {error}") from None


def train_step(network: Any, loss: Any, optimizer: Any) -> Callable[..., Any]:
    """One training step as a function of a batch."""
    from harness import nn

    step: Any = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    return cast("Callable[..., Any]", step)


def fit_model(
    test: GateTest,
    network: Any,
    loss: Any,
    optimizer: Any,
    batches: Sequence[Any],
    epochs: int,
    callbacks: Any,
    metrics: Any,
) -> list[Any]:
    """Trains with ``Model.fit``; keeps its log and its metrics, and returns the losses."""
    from harness.capture.capture import COMPARED
    from harness.framework.train import recording

    losses, text = recording.train(network, loss, optimizer, batches, epochs, callbacks, metrics)
    test.texts[f"{COMPARED}training_{test.programs}.txt"] = text.encode()
    return losses


def injection(process: Process, operator: str, **given: Any) -> Injection:
    """Injects a fault into the runs of ``process``; see ``harness.testing.inject``.

    Raises ``UnsupportedError`` for a backend whose kernels are not the harness's.
    """
    from harness.errors import UnsupportedError
    from harness.testing import inject

    if process.session is None:
        raise UnsupportedError("msdump.inject: only emulated backends can have faults; this one runs kernels elsewhere")
    return inject(operator, session=process.session, **given)
