"""Programs that are captured and run alone: the same bits, and a tripled value fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from harness.capture.torch import TorchCapture
from harness.compare import check

#: gives a module and what runs it
Made = Callable[[], tuple[nn.Module, Callable[[], Any]]]


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from flat(each)
    else:
        yield value.detach().clone() if isinstance(value, torch.Tensor) else value


class Tripled(TorchDispatchMode):
    """Triples the floating-point result of one operator where it is computed, below the capture.

    Args:
        at: its number; None: the results are counted.
    """

    supports_higher_order_operators = True

    def __init__(self, at: int | None = None) -> None:
        super().__init__()
        self.at, self.count = at, 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if type(result) is not torch.Tensor or not result.is_floating_point() or result.is_nested:
            return result
        if getattr(function, "is_view", False) or result._is_zerotensor():
            return result
        if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None or result.is_meta:
            return result
        if result.layout is torch.strided and result.numel() and bool(result.detach().ne(0).any()):
            if self.count == self.at:
                result = result.mul_(3) if result.grad_fn is None else result * 3
            self.count += 1
        return result


def ran(made: Made, watched: str | None, fault: Any = None) -> tuple[list[Any], Any]:
    """What a program gives in two steps, and its capture at the granularity ``watched``."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    torch.manual_seed(0)
    module, program = made()
    torch.manual_seed(1)
    if watched is None:
        return [each for _ in range(2) for each in flat(program())], None
    watch = TorchCapture(module, paths=True, gradients=True, granularity=watched)
    found: list[Any] = []
    for _ in range(2):
        with fault or nullcontext(), watch.step() as returned:
            value = program()
            returned(value)
        found += flat(value)
    return found, watch.capture()


def same_captured_and_alone(made: Made, granularity: str) -> None:
    alone, _ = ran(made, None)
    found, capture = ran(made, granularity)
    assert len(alone) == len(found)
    for one, other in zip(alone, found, strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
    assert not capture.lost
    assert any(record.op_type == "Result" for record in capture.records())


def a_tripled_value_fails(made: Made) -> None:
    counted = Tripled()
    _, golden = ran(made, "operators", counted)
    assert counted.count
    assert not golden.gaps
    _, same = ran(made, "operators", Tripled())
    assert check(golden, same).holds
    _, found = ran(made, "operators", Tripled(counted.count // 3))
    comparison = check(golden, found)
    assert not comparison.holds
    assert any(each.verdict.value == "differs" for each in comparison.slots)
