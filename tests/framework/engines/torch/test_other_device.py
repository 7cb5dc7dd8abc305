"""No kernel mixes its device with the host's memory: each runs on PyTorch's device ``meta``, which refuses that.

There a tensor has a shape and a dtype and no values, so that what a kernel has to read ends it: those are listed.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from harness import dtypes
from harness.framework.ops import taken
from harness.framework.ops.base import Call, Operator

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is needed: pip install 'pytest-msdump[torch]'", allow_module_level=True)

import torch

from harness.framework.engines.torch import TorchEngine
from harness.framework.engines.torch.base import KERNELS, Kernel, NoKernel
from harness.framework.engines.torch.kernels import indexing, losses
from harness.framework.engines.torch.kernels.making import Here
from tests.framework.engines.torch import test_kernels
from tests.framework.engines.torch.beside import Beside, beside
from tests.properties.kernels import results

META = torch.device("meta")
#: kernels that read values, and what for
READS = {
    "MaxPool": "NaN", "BinaryCrossEntropy": "probabilities out of range", "UnsortedSegmentSum": "numbers out of range",
    "NonZero": "how many there are",
}  # fmt: skip
#: automatic differentiation does not run there; and what a graph never launches
OUT = {"LSTMGrad", *test_kernels.NEVER}


def moved(value: Any) -> Any:
    """The same without values, on the other device."""
    if isinstance(value, tuple):
        return tuple(map(moved, value))
    return torch.empty_like(value, device=META) if isinstance(value, torch.Tensor) else value


class Elsewhere:
    """Runs each kernel on the other device before it runs on the host."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.done: set[str] = set()
        self.read: set[str] = set()
        self.faults: dict[str, str] = {}

    def __call__(self, engine: TorchEngine, operator: Operator, call: Call, kernel: Kernel, tensors: Any) -> Any:
        if operator.name not in OUT:
            self._there(
                engine, operator, Call(call.op, call.inputs, call.values, call.attrs, call.out), kernel, tensors
            )
        return self.run(engine, operator, call, kernel, tensors)

    def _there(self, engine: TorchEngine, operator: Operator, call: Call, kernel: Kernel, tensors: Any) -> None:
        Here.device = META
        try:
            found = self.run(engine, operator, call, kernel, moved(tensors))
            assert {tensor.device for tensor in found} == {META}
            self.done.add(operator.name)
        except NoKernel:
            pass
        except (RuntimeError, NotImplementedError) as error:
            if any(
                text in str(error) for text in ("item() cannot be called on meta", "Cannot copy out of meta", "nonzero")
            ):
                self.read.add(operator.name)
            else:
                self.faults[operator.name] = f"{type(error).__name__}: {error}"
        finally:
            Here.device = engine.device


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    runs = Elsewhere(TorchEngine._results)
    monkeypatch.setattr(TorchEngine, "_results", lambda *given: runs(*given))
    # Whether an index is in range is asked of the device by this alone.
    for module in (indexing, losses):
        monkeypatch.setattr(module, "checked", lambda indices, *_range: indices.to(torch.int64))
    return runs


def test_kernels_stay_on_their_device(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taken, "TAKEN", {})  # kernels are run in every dtype

    def run(found: Beside) -> None:
        for case in test_kernels.CASES.values():
            assert list(results(case.function, case.inputs, dtypes.float32))
        test_kernels.test_updates_in_place(dtypes.float16, found)
        test_kernels.test_what_moves_bits(dtypes.uint16, found)
        test_kernels.test_what_makes_tensors(found)
        test_kernels.test_complex_numbers(dtypes.float32, found)
        for case in test_kernels.VALUES:
            test_kernels.test_what_mindspore_was_seen_to_give(case, found)
        assert test_kernels.called("Dropout", test_kernels.Tensor([1.0, 2.0]), 0.5, 1, 2)
        assert test_kernels.called("DropoutGrad", *[test_kernels.Tensor([1.0, 2.0])] * 2, keep_prob=0.5)

        flags = test_kernels.Tensor([True, False])
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LogicalXor"):
            assert test_kernels.called(name, flags, flags)
        assert test_kernels.called("ReduceAny", flags, (0,), False)

    with beside() as found:
        run(found)
    assert not elsewhere.faults
    assert elsewhere.read - elsewhere.done == set(READS)
    assert elsewhere.done | elsewhere.read | OUT == set(KERNELS)
