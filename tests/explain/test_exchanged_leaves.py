"""Operands of PyTorch's operators that are exchanged, where one or both are arguments or parameters of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from harness.capture.torch import TorchCapture  # noqa: E402
from tests.interop.torch_gate import judged_and_told, stored  # noqa: E402

pytestmark = pytest.mark.interop
F = torch.nn.functional

Operands = Callable[[Any, Any, Any], tuple[Any, ...]]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "sub": lambda a, b: a - b, "div": lambda a, b: a / b, "mm": lambda a, b: a @ b, "pow": torch.pow,
    "atan2": torch.atan2, "fmod": torch.fmod, "kl_div": lambda a, b: F.kl_div(a, b, reduction="sum"),
}  # fmt: skip
OPERANDS: dict[str, Operands] = {
    "arguments": lambda a, b, w: (a, b), "parameter first": lambda a, b, w: (w, a),
    "parameter last": lambda a, b, w: (a, w), "result of it": lambda a, b, w: (a, a.abs() + 1),
    "result of another": lambda a, b, w: (b.exp(), a), "result and parameter": lambda a, b, w: (w, a.sin()),
    "view": lambda a, b, w: (w.t(), a), "constant": lambda a, b, w: (a, torch.full((4, 4), 1.5)),
}  # fmt: skip


class Net(torch.nn.Module):
    def __init__(self, compute: Callable[[Any, Any, Any], Any], weight: Any) -> None:
        super().__init__()
        self.w, self.compute = torch.nn.Parameter(weight), compute

    def forward(self, a: Any, b: Any) -> Any:
        return self.compute(a, b, self.w).tanh()


def told(golden: Callable[[Any, Any, Any], Any], run: Callable[[Any, Any, Any], Any], given: Any, other: Any) -> Any:
    captures = []
    for compute, (a, b, w) in ((golden, given), (run, other)):
        net = Net(compute, w.clone())
        watch = TorchCapture(net, paths=True)
        with torch.no_grad(), watch.step():
            net(a, b)
        captures.append(watch.capture())
    found = judged_and_told(stored(captures[0]), captures[1])[1]
    assert found is not None
    return found


@pytest.fixture
def given() -> list[Any]:
    seed = torch.seed() % (1 << 31)
    print("seed", seed)
    drawn = torch.Generator().manual_seed(seed)
    return [torch.rand(4, 4, generator=drawn) / 2 + 0.3 for _ in range(3)]


@pytest.mark.parametrize("operator", OPERATORS)
def test_they_are_told_as_exchanged(operator: str, given: list[Any]) -> None:
    op = OPERATORS[operator]
    for name, operands in OPERANDS.items():
        orders = (lambda *g, o=operands: op(*o(*g))), (lambda *g, o=operands: op(*o(*g)[::-1]))
        for golden, run in (orders, orders[::-1]):
            found = told(golden, run, given, given)
            cause = found.cause
            assert cause is not None, name
            assert cause.certainty.value == "proven by replay", (name, cause.text)
            assert cause.source, name
            assert "differs" not in f"{cause.text} {found.others}", (name, cause.text, found.others)
            if operator != "kl_div":  # several operators, of which not each takes both
                one, other = (s.split(" as ")[0].split(" in place of ") for s in _taken(cause.text).split(", and "))
                assert one == other[::-1] != other, cause.text


def test_three_in_a_circle_and_one_alone(given: list[Any]) -> None:
    circle = told(lambda a, b, w: torch.addmm(a, b, w), lambda a, b, w: torch.addmm(b, w, a), given, given).cause
    assert _taken(circle.text) == "b in place of a as input.0, and w in place of b as input.1 (and 1 more)"
    alone = told(lambda a, b, w: a - b, lambda a, b, w: w - b, given, given).cause
    assert _taken(alone.text) == "w in place of a as input.0"
    assert circle.certainty.proven
    assert alone.certainty.proven


def test_tensors_without_names_are_inputs_of_the_operator(given: list[Any]) -> None:
    a, b, _ = (each.clone() for each in given)  # not the model's own arguments
    cause = told(lambda *_: a - b, lambda *_: b - a, given, given).cause
    assert _taken(cause.text) == "input.1 in place of input.0 as input.0, and input.0 in place of input.1 as input.1"
    assert cause.certainty.proven
    cause = told(lambda *_: a - b.exp(), lambda *_: b.exp() - a, given, given).cause
    assert _taken(cause.text).startswith("Default/exp-op0 in place of given[1] as input.0, and given[1] in place of ")


def test_values_that_are_exchanged_or_changed_are_told_as_before(given: list[Any]) -> None:
    a, b, w = given
    swapped = told(lambda a, b, w: a - b, lambda a, b, w: a - b, given, [b, a, w]).cause
    assert swapped.text == "input a differs, input b differs"
    other = told(lambda a, b, w: a - w, lambda a, b, w: a - w, given, [a, b, w + 1]).cause
    assert other.text.startswith("parameter w differs from the start")


def test_of_one_that_changed_beside_another_only_what_is_true_is_told(given: list[Any]) -> None:
    a, b, w = given
    cause = told(lambda a, b, w: a - b, lambda a, b, w: w - b, given, [a, b * 1.5, w]).cause
    assert cause is None or "input a" not in cause.text, cause
    harmless = told(lambda a, b, w: a * b, lambda a, b, w: b * a + 1, given, given).cause
    assert harmless is None or "differs" not in harmless.text, harmless


def _taken(text: str) -> str:
    return text.split(" takes ")[1]
