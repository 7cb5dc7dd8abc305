"""Programs give the same bits captured and alone, at every granularity, and nothing of them goes unread."""

from __future__ import annotations

import copy
import shutil
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional as F

from harness.capture.torch import TorchCapture

#: PyTorch's own, of what it is about to drop
pytestmark = pytest.mark.filterwarnings("ignore")
Program = tuple[nn.Module, Callable[[], Any]]
CASES: dict[str, Callable[[], Program]] = {}


class Net(nn.Module):
    """Two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.b(F.gelu(self.a(x)))


def given() -> Any:
    return torch.linspace(-1, 1, 20).reshape(5, 4)


def case(made: Callable[[], Program]) -> Callable[[], Program]:
    CASES[made.__name__] = made
    return made


@case
def fake_mode() -> Program:
    from torch._subclasses.fake_tensor import FakeTensorMode

    class Shaped(Net):
        def forward(self, x: Any) -> Any:
            with FakeTensorMode():
                shape = torch.empty(2, 3).sum(0).shape
            return super().forward(x) + shape[0]

    module = Shaped()
    return module, lambda: module(given())


@case
def meta() -> Program:
    module = Net().to("meta")
    return module, lambda: tuple(module(torch.empty(5, 4, device="meta")).shape)


@case
def export() -> Program:
    module = Net()
    return module, lambda: torch.export.export(module, (given(),)).module()(given())


@case
def jvp() -> Program:
    module = Net()
    return module, lambda: torch.func.jvp(module, (given(),), (torch.ones(5, 4),))


@case
def vmap() -> Program:
    module = Net()
    return module, lambda: torch.func.vmap(module)(given())


@case
def hessian() -> Program:
    module = Net()
    return module, lambda: torch.func.hessian(lambda x: module(x).sum())(given())


@case
def fast_path() -> Program:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    module, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(3, 5, 8)
    mask = torch.zeros(3, 5, dtype=torch.bool)
    mask[1, 3:] = True
    return module, lambda: torch.no_grad()(module)(x, src_key_padding_mask=mask)


@case
def lazy() -> Program:
    module = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(2))
    return module, lambda: module(given())


@case
def made_and_removed() -> Program:
    class Changing(Net):
        def forward(self, x: Any) -> Any:
            torch.manual_seed(3)
            self.c = nn.Linear(3, 2)
            y = self.c(super().forward(x))
            del self.c
            return y

    module = Changing()
    return module, lambda: module(given())


@case
def no_memory() -> Program:
    class Freed(Net):
        def forward(self, x: Any) -> Any:
            y = self.a(x)
            size, kept = y.untyped_storage().size(), y * 1
            y.untyped_storage().resize_(0)
            y.untyped_storage().resize_(size)
            return self.b(y.copy_(kept))

    module = Freed()
    return module, lambda: module(given())


@case
def copied() -> Program:
    module = Net()
    return module, lambda: copy.deepcopy(module)(given())


@case
def scripted_inside() -> Program:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = nn.Sequential(torch.jit.script(nn.Linear(4, 3)), nn.ReLU())
    return module, lambda: module(given())


@case
def precision() -> Program:
    class Precise(Net):
        def forward(self, x: Any) -> Any:
            torch.set_float32_matmul_precision("high")
            y = super().forward(x)
            torch.set_float32_matmul_precision("highest")
            return y

    module = Precise()
    return module, lambda: module(given())


@case
def another_mode() -> Program:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            Counting.count += 1
            return function(*args, **(kwargs or {}))

    module = Net()

    def program() -> Any:
        Counting.count = 0
        with Counting():
            result = module(given())
        return result, Counting.count

    return module, program


def _compiled(backend: str) -> Program:
    module = Net()
    compiled = torch.compile(module, backend=backend)
    optimizer = torch.optim.SGD(module.parameters(), 0.1)

    def program() -> Any:
        optimizer.zero_grad()
        loss = compiled(given()).square().mean()
        loss.backward()
        optimizer.step()
        return loss, [each.detach().clone() for each in module.parameters()]

    return compiled, program


@case
def aot_eager() -> Program:
    return _compiled("aot_eager")


@case
def inductor() -> Program:
    if shutil.which("g++") is None:
        pytest.skip("inductor needs a compiler")
    return _compiled("inductor")


@case
def compiled_inside() -> Program:
    module = nn.Sequential(Net(), nn.Linear(3, 2))
    module[0].compile(backend="aot_eager")
    return module, lambda: module(given())


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _flat(each)
    else:
        yield value.detach().clone() if isinstance(value, torch.Tensor) else value


def _ran(name: str, watched: str | None) -> tuple[list[Any], Any]:
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
        with watch.step() as returned:
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
