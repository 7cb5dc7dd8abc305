"""Programs give the same bits captured and alone, at every granularity, and nothing of them goes unread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from harness.capture.torch import TorchCapture
from harness.compare import check
from tests.capture.torch.programs import CASES

#: PyTorch's own, of what it is about to drop
pytestmark = pytest.mark.filterwarnings("ignore")


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _flat(each)
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


def _ran(name: str, watched: str | None, fault: Any = None) -> tuple[list[Any], Any]:
    if "compile" in name or name in ("aot_eager", "inductor"):
        torch._dynamo.reset()
    torch.manual_seed(0)
    module, program = CASES[name]()
    torch.manual_seed(1)
    if watched is None:
        return [each for _ in range(2) for each in _flat(program())], None
    watch = TorchCapture(module, paths=True, gradients=True, granularity=watched)
    found: list[Any] = []
    for _ in range(2):
        with fault or nullcontext(), watch.step() as returned:
            value = program()
            returned(value)
        found += _flat(value)
    return found, watch.capture()


@pytest.mark.parametrize("granularity", ["operators", "modules"])
@pytest.mark.parametrize("name", CASES)
def test_the_same_captured_and_alone(name: str, granularity: str) -> None:
    alone, _ = _ran(name, None)
    found, capture = _ran(name, granularity)
    assert len(alone) == len(found)
    for one, other in zip(alone, found, strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
    assert not capture.lost
    assert any(record.op_type == "Result" for record in capture.records())


#: Nothing of them has values that an operator computes below the capture.
WITHOUT_VALUES = frozenset({"meta"})


@pytest.mark.parametrize("name", sorted(CASES.keys() - WITHOUT_VALUES))
def test_a_tripled_value_fails(name: str) -> None:
    counted = Tripled()
    _, golden = _ran(name, "operators", counted)
    assert counted.count
    assert not golden.gaps
    _, same = _ran(name, "operators", Tripled())
    assert check(golden, same).holds
    _, found = _ran(name, "operators", Tripled(counted.count // 3))
    comparison = check(golden, found)
    assert not comparison.holds
    assert any(each.verdict.value == "differs" for each in comparison.slots)


def test_a_region_of_compiled_code_has_its_inputs_and_outputs() -> None:
    _, capture = _ran("inductor", "operators")
    regions = [each for each in capture.records() if each.op_type == "compiled_region"]
    names = {each.key.operator for each in regions}
    assert {"Default/compiled_region-op0", "Gradients/Default/compiled_region-op0"} <= names
    assert {each.key.io for each in regions} == {"input", "output"}
    forward = [each for each in regions if each.key.operator == "Default/compiled_region-op0"]
    assert any(each.key.io == "output" and each.shape == (5, 3) for each in forward)
    assert not any(each.op_type == "addmm" for each in capture.records())


def test_regions_that_run_by_operators_are_recorded_so() -> None:
    _, capture = _ran("aot_eager", "operators")
    types = {each.op_type for each in capture.records()}
    assert {"addmm", "gelu", "gelu_backward"} <= types
    assert "compiled_region" not in types
