"""Sections of a test that run PyTorch modules. PyTorch is used only if the test has imported it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from pytest_msdump.gate_test import GateTest

# pytest shows no frame of this module.
__tracebackhide__ = True


def is_module(network: object) -> bool:
    """Whether ``network`` is a ``torch.nn.Module``; PyTorch must have been imported to make one."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "nn") and isinstance(network, torch.nn.Module)


def _step(test: GateTest, module: Any, act: str) -> Callable[[], AbstractContextManager[Any]]:
    from harness.errors import UnsupportedError

    step = test.process.follow(module)
    if step is None:
        raise UnsupportedError(
            f"{act}: a PyTorch module ({type(module).__name__}) runs on backend torch, not on {test.variant.backend}; "
            "mark the test msdump(backends='torch'), or run pytest with --msdump-backend=torch"
        )
    return step


def run(test: GateTest, module: Any, inputs: Sequence[Any], steps: int) -> Callable[[], Any]:
    """Makes a program that calls ``module`` so many times and returns its last result."""
    step = _step(test, module, "msdump.run")
    given = [as_tensor(each, module) for each in inputs]

    def program() -> Any:
        output = None
        for _ in range(steps):
            with step():
                output = module(*given)
        return output

    return program


def train(
    test: GateTest, module: Any, loss: Any, optimizer: Any, batches: Sequence[Sequence[Any]]
) -> Callable[[], list[Any]]:
    """Makes a program that takes one training step per batch and returns the losses."""
    step = _step(test, module, "msdump.train")
    asks = _asks_for_the_loss(optimizer)
    pairs = [tuple(as_tensor(each, module) for each in batch) for batch in batches]

    def program() -> list[Any]:
        losses = []
        module.train()
        for *data, label in pairs:
            values: list[Any] = []
            compute = partial(_computed, module, loss, optimizer, data, label, values)
            with step() as returned:
                if asks:
                    optimizer.step(compute)
                else:
                    compute()
                    optimizer.step()
                returned(values[0], "loss")
            losses.append(values[0].detach())
        return losses

    return program


def _computed(module: Any, loss: Any, optimizer: Any, data: Sequence[Any], label: Any, values: list[Any]) -> Any:
    """One forward and backward; the loss, which is kept in ``values``, too."""
    optimizer.zero_grad()
    value = loss(module(*data), label)
    value.backward()
    values.append(value)
    return value


def _asks_for_the_loss(optimizer: Any) -> bool:
    """Whether an optimizer's step cannot do without a function that computes the loss anew, as LBFGS's."""
    try:
        given = inspect.signature(optimizer.step).parameters.get("closure")
    except (AttributeError, TypeError, ValueError):
        return False
    return given is not None and given.default is inspect.Parameter.empty


def as_tensor(value: Any, module: Any) -> Any:
    """``value`` on the device of ``module``: numpy arrays and MindSpore tensors become PyTorch tensors, numbers
    stay."""
    torch = sys.modules["torch"]
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    if hasattr(value, "__array__") and not isinstance(value, torch.Tensor):
        value = torch.from_numpy(value.copy()) if hasattr(value, "strides") else torch.as_tensor(value)
    if not isinstance(value, torch.Tensor):
        return value
    at = next(module.parameters(), None)
    return value if at is None or value.device == at.device else value.to(at.device)
