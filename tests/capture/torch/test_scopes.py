"""Operators are named by the module they run in, wherever PyTorch runs them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from harness.capture.torch import TorchCapture, lines  # noqa: E402
from tests.capture.torch.runs import Mlp  # noqa: E402

pytestmark = pytest.mark.interop


def names(net: Any, step: Callable[[], Any], **settings: Any) -> list[str]:
    """The operators of one step, in order."""
    watch = TorchCapture(net, **settings)
    with watch.step():
        step()
    return list(watch.capture().execution_order[0])


def scopes(found: list[str]) -> set[str]:
    return {each.rpartition("/")[0] for each in found}


def test_a_shared_module_counts_on_under_its_first_name() -> None:
    layer = nn.Linear(4, 4)
    net = nn.Sequential(layer, nn.ReLU(), layer)
    found = names(net, lambda: net(torch.ones(2, 4)).sum().backward())
    assert [each for each in found if each.startswith("Default/0-Linear/addmm")] == [
        "Default/0-Linear/addmm-op0", "Default/0-Linear/addmm-op1",
    ]  # fmt: skip
    assert not any("2-Linear" in each for each in found)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_forward_computed_again_in_backward_is_the_gradients(reentrant: bool) -> None:
    net = Mlp()
    x = torch.ones(2, 6, requires_grad=True)

    def step() -> None:
        checkpoint(net, x, use_reentrant=reentrant).sum().backward()

    found = names(net, step)
    assert found.count("Default/fc1-Linear/addmm-op0") == 1
    assert "Gradients/Default/fc1-Linear/addmm-op0" in found
    assert "Gradients/Default/fc2-Linear/mm-op0" in found
    assert not any(each.startswith("Gradients/Gradients") for each in found)


def test_gradients_of_gradients_stay_with_their_module() -> None:
    net = Mlp(torch.tanh)
    x = torch.ones(2, 6, requires_grad=True)

    def step() -> None:
        (given,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
        given.square().sum().backward()

    found = names(net, step)
    assert any(each.startswith("Gradients/Default/fc1-Linear/mm") for each in found)
    assert not any(each.startswith("Gradients/Gradients") for each in found)
    assert scopes(found) == {
        "Default", "Default/fc1-Linear", "Default/fc2-Linear", "Gradients/Default", "Gradients/Default/fc1-Linear",
        "Gradients/Default/fc2-Linear",
    }  # fmt: skip


def test_a_closure_runs_in_its_modules_not_in_the_optimizer() -> None:
    net = Mlp()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=2)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = net(torch.ones(2, 6)).square().sum()
        loss.backward()
        return loss

    found = scopes(names(net, lambda: optimizer.step(closure)))
    assert {"Default/fc1-Linear", "Gradients/Default/fc1-Linear", "Default/optimizer-LBFGS"} <= found


def test_an_own_function_of_autograd() -> None:
    class Twice(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, given: Any) -> Any:
            return given * 2

    net = Mlp(Twice.apply)
    found = names(net, lambda: net(torch.ones(2, 6)).sum().backward())
    assert "Default/mul-op0" in found
    assert "Gradients/Default/mul-op0" in found


def test_backward_of_a_graph_made_before_the_step_has_no_module() -> None:
    net = Mlp()
    loss = net(torch.ones(2, 6)).sum()
    found = names(net, lambda: loss.backward())
    assert "Gradients/mm-op0" in found
    assert not any("fc1-Linear/mm" in each for each in found)


def test_containers_are_part_of_the_scope() -> None:
    net = nn.ModuleDict({"a": nn.ModuleList([nn.Linear(2, 2)])})
    x = torch.ones(1, 2)
    found = names(net, lambda: net["a"][0](x))
    assert scopes(found) == {"Default/a-ModuleList/0-Linear"}


LIBRARY = """
import torch

class Dense(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.inner(x)) * 2
"""


def test_the_users_own_line_where_an_operator_stands_in_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed, own = tmp_path / "installed", tmp_path / "own"
    for folder, name, text in ((installed, "layers_of_others", LIBRARY), (own, "layers_of_ours", USER)):
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(lines, "_INSTALLED", (f"{installed}/",))
    module = importlib.import_module("layers_of_ours").Ours()
    watch = TorchCapture(module, rootdir=str(own))
    with watch.step():
        module(torch.ones(4, 3))
    found = {record.key.operator: record.source for record in watch.capture().records() if record.op_type == "relu"}
    assert found == {"Default/dense-Dense/relu-op0": "layers_of_ours.py:10"}


USER = """
import torch
from layers_of_others import Dense

class Ours(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = Dense()
    def forward(self, x):
        return self.dense(x)
"""


class Tied(nn.Module):
    """One layer under two names, and another that shares its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.again = self.first
        self.head = nn.Linear(4, 4)
        self.head.weight = self.first.weight

    def forward(self, x: Any) -> Any:
        return self.head(self.again(self.first(x)))


def test_a_tied_module_has_its_first_name() -> None:
    module, x = Tied(), torch.ones(2, 4)
    watch = TorchCapture(module, paths=True)
    with watch.step():
        module(x).sum().backward()
    names = watch.capture().execution_order[0]
    assert [name for name in names if "addmm" in name] == ["first/addmm-op0", "first/addmm-op1", "head/addmm-op0"]
    scopes = {name.rpartition("/")[0] for name in names if "/mm-op" in name}
    assert scopes == {"Gradients/first", "Gradients/head"}


@pytest.mark.parametrize("by", ["place", "name"])
@pytest.mark.parametrize("kind", [torch.optim.LBFGS, torch.optim.Adam])
def test_what_a_closure_runs_is_none_of_the_optimizers(kind: Any, by: str) -> None:
    """A closure that an optimizer calls, as Lightning has it: forward, loss and backward."""
    module, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh()), torch.ones(2, 4)
    optimizer = kind(module.parameters(), lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (module(x) - 1).square().mean()
        loss.backward()
        return loss

    watch = TorchCapture(module, paths=True)
    with watch.step():
        optimizer.step(closure) if by == "place" else optimizer.step(closure=closure)
    names = watch.capture().execution_order[0]
    own = {name.rpartition("/")[2].rpartition("-op")[0] for name in names if name.startswith("Default/optimizer-")}
    assert not own & {"pow", "mean", "ones_like", "addmm"}
    assert {"Default/pow-op0", "Default/mean-op0", "0/addmm-op0", "Gradients/0/mm-op0"} <= set(names)
    assert not [name for name in names if name.startswith("Gradients/Default/optimizer")]
    assert own


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return self.two.forward(torch.relu(self.one(x)))


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.last = Inner(), nn.Linear(3, 2)
        self.hooked = nn.Sequential(nn.Tanh())
        self.hooked.register_forward_pre_hook(lambda _, given: (given[0].neg(),))

    def forward(self, x: Any) -> Any:
        return self.last.forward(self.hooked(self.inner.forward(x)).sigmoid())


@pytest.mark.parametrize("direct", [False, True])
def test_a_forward_that_is_not_called_as_a_module_has_its_scope_too(direct: bool) -> None:
    module = Outer()
    watch = TorchCapture(module, paths=True)
    with watch.step():
        (module.forward if direct else module)(torch.ones(2, 3)).sum().backward()
    names = {each.key.operator for each in watch.capture().records()}
    outer = "Default"
    assert {
        "inner.one/addmm-op0", "inner/relu-op0", "inner.two/addmm-op0", "hooked/neg-op0", "hooked.0/tanh-op0",
        f"{outer}/sigmoid-op0", "last/addmm-op0", "Gradients/last/mm-op0", "Gradients/inner/threshold_backward-op0",
        "Gradients/inner.two/mm-op0", f"Gradients/{outer}/sigmoid_backward-op0",
    } <= names  # fmt: skip
