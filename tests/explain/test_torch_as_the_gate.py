"""What the gate says of PyTorch's runs that leave their golden, with everything that golden and capture state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.grafting import Grafts  # noqa: E402
from tests.interop.torch_gate import grafted, judged_and_told, stored  # noqa: E402

pytestmark = pytest.mark.interop
F = torch.nn.functional
WEIGHTS = torch.linspace(0.5, 1.5, 5)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.norm, self.drop = torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.2)
        self.two, self.three = torch.nn.Linear(8, 8), torch.nn.Linear(8, 5)
        self.register_buffer("unused", torch.ones(3))
        self.swapped = self.scaled = False

    def forward(self, x: Any) -> Any:
        h = self.drop(self.norm(self.one(x)).relu())
        if self.scaled:
            h = h * 2
        h = h + self.two(h)
        products = [h.t() @ h.sin(), h.cos().t() @ h]
        return self.three(h @ (products[1] @ products[0] if self.swapped else products[0] @ products[1]))


Change = Callable[[Any], Any]


def run(
    change: Change = lambda _: None, train: bool = False, weights: Any = None, gradients: Change = lambda _: None,
    steps_of_optimizer: int = 1, grafts: Any = None,
) -> Any:  # fmt: skip
    torch.manual_seed(0)
    model = Net().train(train)
    with torch.no_grad():
        change(model)
    torch.manual_seed(3)
    x, labels = torch.randn(6, 4), torch.arange(6) % 5
    watch = TorchCapture(model, paths=True, gradients=True, grafts=Grafts(grafts) if grafts else None)
    if not train:
        with torch.no_grad(), watch.step():
            model(x)
        return watch.capture()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for _ in range(2):
        with watch.step():
            optimizer.zero_grad()
            F.cross_entropy(model(x), labels, weights).backward()
            gradients(model)
            for _ in range(steps_of_optimizer):
                optimizer.step()
    return watch.capture()


def left_on(model: Any) -> None:
    model.drop.train()
    model.drop.train = lambda mode=True: model.drop


def cause(golden: Any, found: Any) -> Any:
    told = judged_and_told(stored(golden), found)[1]
    assert told is not None
    assert told.cause is not None
    assert told.cause.certainty.proven, told
    return told


EVALUATIONS: dict[str, tuple[Change, str]] = {
    "eps of a batch norm": (lambda m: setattr(m.norm, "eps", 1e-3), "eps 1e-05 -> 0.001"),
    "statistics": (lambda m: m.norm.running_var.fill_(2.0), "norm.running_var all 1 -> all 2"),
    "unused buffer": (
        lambda m: m.unused.zero_(),
        "parameter unused differs from the start; no operator that was captured gives another value",
    ),
    "operands": (
        lambda m: setattr(m, "swapped", True),
        "Default/mm-op2 takes Default/mm-op1 in place of Default/mm-op0 as input.0, "
        "and Default/mm-op0 in place of Default/mm-op1 as input.1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EVALUATIONS)
def test_an_evaluation(name: str) -> None:
    change, text = EVALUATIONS[name]
    assert cause(run(), run(change)).cause.text == text


def test_an_optional_tensor_is_no_shift_of_what_follows() -> None:
    text = "input.2 of Default/nll_loss_forward-op0"
    assert cause(run(train=True, weights=WEIGHTS), run(train=True)).cause.text == f"removed: {text}"
    assert cause(run(train=True), run(train=True, weights=WEIGHTS)).cause.text == f"inserted: {text}"


def test_a_gradient_that_the_optimizer_is_not_given() -> None:
    def forget(model: Any) -> None:
        model.two.weight.grad = None

    told = cause(run(train=True), run(train=True, gradients=forget))
    assert told.cause.text == "the optimizer is given no gradient of two.weight"
    where = told.origin.operator  # the first of its updates, not the last of the operators that are fewer now
    assert where == "Default/optimizer-AdamW/zeros_like-op8", where


def test_two_steps_and_operators_that_are_others_in_a_later_step() -> None:
    told = cause(run(train=True), run(train=True, steps_of_optimizer=2))
    assert told.cause.text.startswith("inserted: optimizer-AdamW/settings-op1 ")
    scaled = cause(run(train=True), run(lambda m: setattr(m, "scaled", True), train=True))
    assert scaled.cause.text.startswith("inserted: Default/mul-op0 (after ")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (left_on, "drop not given -> train; input."),
        (lambda m: m.two.weight.copy_(m.two.weight.bfloat16().float()),
         "parameter two.weight differs from the start: found is expected rounded to bfloat16; input.0 of two/t-op0: "),
    ],
    ids=["dropout left on", "rounded weight"],
)  # fmt: skip
def test_a_graft_adds_to_what_is_known(change: Change, text: str) -> None:
    golden, found = stored(run()), run(change)
    judged, told = judged_and_told(golden, found)
    assert told is not None
    after = grafted(golden, lambda values: run(change, grafts=values), judged, told).cause
    assert after is not None
    assert after.certainty.value == "proven by graft"
    assert after.text.startswith(text), after.text
    assert after.text.endswith("with the golden's instead all that follows holds")
