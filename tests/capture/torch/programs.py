"""Programs as people write them: each gives a module and what runs it."""

from __future__ import annotations

import copy
import shutil
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

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


# --- modern ones ----------------------------------------------------------------------------------------------------


def _training(module: nn.Module, optimizer: Any, forward: Callable[[], Any] | None = None) -> Program:
    def program() -> Any:
        optimizer.zero_grad()
        loss = (module(given()) if forward is None else forward()).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss, [each.detach().clone() for each in module.parameters()]

    return module, program


@case
def autocast() -> Program:
    module = Net()

    def forward() -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return module(given())

    return _training(module, torch.optim.SGD(module.parameters(), 0.1), forward)


@case
def checkpointing() -> Program:
    module = Net()
    return _training(
        module, torch.optim.SGD(module.parameters(), 0.1),
        lambda: checkpoint(module, given().requires_grad_(), use_reentrant=False),
    )  # fmt: skip


@case
def checkpointing_reentrant() -> Program:
    module = Net()
    return _training(
        module, torch.optim.SGD(module.parameters(), 0.1),
        lambda: checkpoint(module, given().requires_grad_(), use_reentrant=True),
    )  # fmt: skip


@case
def lbfgs() -> Program:
    module = Net()
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=3)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = module(given()).square().mean()
        loss.backward()
        return loss

    return module, lambda: (optimizer.step(closure), [each.detach().clone() for each in module.parameters()])


@case
def fused_adam() -> Program:
    module = Net()
    return _training(module, torch.optim.AdamW(module.parameters(), fused=True))


@case
def foreach_adam() -> Program:
    module = Net()
    return _training(module, torch.optim.AdamW(module.parameters(), foreach=True))


@case
def clipped() -> Program:
    module = Net()
    optimizer = torch.optim.SGD(module.parameters(), 0.1)

    def program() -> Any:
        optimizer.zero_grad()
        module(given()).square().sum().backward()
        norm = nn.utils.clip_grad_norm_(module.parameters(), 0.1)
        optimizer.step()
        return norm, [each.detach().clone() for each in module.parameters()]

    return module, program


@case
def parametrised() -> Program:
    module = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), nn.Tanh())
    return module, lambda: module(given())


@case
def jagged() -> Program:
    module = Net()

    def program() -> Any:
        nested = torch.nested.nested_tensor([given()[:2], given()[2:]], layout=torch.jagged)
        return module(nested).values()

    return module, program


@case
def sparse() -> Program:
    class Sparse(Net):
        def forward(self, x: Any) -> Any:
            return torch.sparse.mm(x.to_sparse(), self.a.weight.t())

    module = Sparse()
    return module, lambda: module(given())


@case
def quantised() -> Program:
    module = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), {nn.Linear})
    return module, lambda: module(given())


@case
def attention() -> Program:
    class Attending(Net):
        def forward(self, x: Any) -> Any:
            q = self.a(x).view(1, 5, 2, 4).transpose(1, 2)
            return F.scaled_dot_product_attention(q, q, q, is_causal=True)

    module = Attending()
    return module, lambda: module(given())


@case
def flex_attention() -> Program:
    from torch.nn.attention.flex_attention import flex_attention as attend

    class Attending(Net):
        def forward(self, x: Any) -> Any:
            q = self.a(x).view(1, 5, 2, 4).transpose(1, 2)
            return attend(q, q, q, score_mod=lambda score, b, h, i, j: score + (i - j))

    module = Attending()
    return module, lambda: torch.no_grad()(module)(given())


@case
def recurrent() -> Program:
    module = nn.LSTM(4, 3, batch_first=True)
    return module, lambda: module(given().unsqueeze(0))[0]


@case
def functional_call() -> Program:
    module = Net()
    values = {name: each.detach() * 2 for name, each in module.named_parameters()}
    return module, lambda: torch.func.functional_call(module, values, (given(),))


@case
def grad_of_grad() -> Program:
    module = Net()

    def program() -> Any:
        x = given().requires_grad_()
        (first,) = torch.autograd.grad(module(x).square().sum(), x, create_graph=True)
        return torch.autograd.grad(first.square().sum(), x)

    return module, program


@case
def own_function() -> Program:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 3

    module = Net()
    return _training(
        module, torch.optim.SGD(module.parameters(), 0.1), lambda: Doubled.apply(module(given()))
    )  # fmt: skip


@case
def cache() -> Program:
    """Writes each step's values into memory of its own, as decoders do."""

    class Decoder(Net):
        def forward(self, x: Any) -> Any:
            held = torch.zeros(5, 8)
            for at in range(5):
                held[at] = self.a(x[at])
            return self.b(held)

    module = Decoder()
    return module, lambda: torch.no_grad()(module)(given())


@case
def tied() -> Program:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.head = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
            self.head.weight = self.words.weight

        def forward(self, ids: Any) -> Any:
            return self.head(self.words(ids))

    module = Tied()
    return module, lambda: module(torch.tensor([1, 5, 0]))


@case
def complex_numbers() -> Program:
    class Filtered(Net):
        def forward(self, x: Any) -> Any:
            return torch.fft.irfft(torch.fft.rfft(self.a(x)) * 0.5)

    module = Filtered()
    return module, lambda: module(given())


@case
def half() -> Program:
    module = Net().half()
    return module, lambda: module(given().half())


@case
def direct_forward() -> Program:
    module = nn.Sequential(Net(), nn.Linear(3, 2))
    return module, lambda: module[1].forward(module[0].forward(given()))


@case
def compiled_around() -> Program:
    """A function around a module that hooks watch."""
    module = Net()
    compiled = torch.compile(lambda x: module(x).relu().sum(), backend="aot_eager")
    return module, lambda: compiled(given())


@case
def scattered() -> Program:
    """Fills new memory place by place, as mixtures of experts sort their tokens."""

    class Sorting(Net):
        def forward(self, x: Any) -> Any:
            order = torch.argsort(x[:, 0])
            back = torch.empty_like(order)
            back[order] = torch.arange(len(order))
            return super().forward(x[order])[back]

    module = Sorting()
    return module, lambda: module(given())
