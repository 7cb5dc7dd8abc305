"""Arguments that are no tensors are recorded under the names of the schemas, and a changed one fails and is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.capture.torch.scalars import Signature, classified  # noqa: E402
from harness.compare import check, first_divergence  # noqa: E402
from harness.compare.arguments import changed_argument  # noqa: E402
from tests.capture.torch.runs import CASES, Mlp, Training  # noqa: E402

pytestmark = pytest.mark.interop

X = torch.linspace(-2, 2, 24).reshape(2, 3, 4)
SAME = torch.full((2, 3, 4), 0.5)


def captured(step: Callable[[], Any], mode: str = "tensor") -> Any:
    watch = TorchCapture(torch.nn.Identity(), mode=mode)
    with watch.step() as returned:
        torch.manual_seed(0)
        returned(step())
    return watch.capture()


def changes(one: Any, other: Any) -> list[str]:
    expected = {record.key: record for record in one.records()}
    pairs = [(expected[each.key], each) for each in other.records() if each.key in expected]
    return [text for pair in pairs if (text := changed_argument(*pair)) is not None]


#: what is called, with one argument and with another; what is said. On ``SAME`` many give the same tensors.
CALLS: dict[str, tuple[Callable[[Any], Any], Any, Any, str]] = {
    "layer norm": (lambda eps: F.layer_norm(X, (4,), eps=eps), 1e-5, 1e-6, "(eps) 1e-05 -> 1e-06"),
    "batch norm": (
        lambda eps: F.batch_norm(X, torch.zeros(3), torch.ones(3), eps=eps), 1e-5, 1e-3, "(eps) 1e-05 -> 0.001",
    ),
    "training": (
        lambda flag: torch.native_batch_norm(X, None, None, torch.zeros(3), torch.ones(3), flag, 0.1, 1e-5),
        True, False, "(training) True -> False",
    ),
    "gelu": (lambda way: F.gelu(X, approximate=way), "none", "tanh", "(approximate) not given -> tanh"),
    "causal": (
        lambda flag: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            SAME[None], SAME[None], SAME[None], is_causal=flag),
        False, True, "(is_causal) not given -> True",
    ),
    "ignored": (
        lambda at: F.nll_loss(X[0], torch.tensor([1, 2, 0]), ignore_index=at), -100, -1, "(ignore_index) -100 -> -1",
    ),
    "axis": (lambda dim: torch.softmax(SAME[:, :, :3], dim), 1, 2, "(dim) 1 -> 2"),
    "padding index": (lambda at: F.embedding(torch.tensor([1]), SAME[0], padding_idx=at), 0, 2, "(padding_idx) 0 -> 2"),
    "dilation": (
        lambda by: F.conv1d(X, torch.ones(2, 3, 1), dilation=by), 1, 2, "(dilation) [1] -> [2]",
    ),
    "random": (lambda p: torch.zeros(3).bernoulli_(p), 0.001, 0.002, "(p) 0.001 -> 0.002"),
    "number for a tensor": (lambda by: X * by, 0.5, 0.25, "(other) 0.5 -> 0.25"),
    "whole number for a tensor": (lambda by: X / by, 2, 3, "(other) 2 -> 3"),
    "norm": (lambda p: torch.linalg.vector_norm(torch.ones(1), p), 1, 3, "(ord) 1 -> 3"),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["tensor", "statistic"])
@pytest.mark.parametrize("name", CALLS)
def test_a_changed_argument_is_told(name: str, mode: str) -> None:
    call, one, other, told = CALLS[name]
    sides = [captured(lambda each=each: call(each), mode) for each in (one, one, other)]
    assert check(sides[0].records(), sides[1].records()).holds
    comparison = check(sides[0].records(), sides[2].records())
    assert not comparison.holds
    if mode == "tensor" or "." in told:  # texts are kept by their digests there
        assert changes(sides[0], sides[2]) == [told]
    origin = first_divergence(comparison)
    assert origin is not None
    assert origin.where.operator != "Default/result"


def test_axes_count_from_the_front_and_defaults_are_left_out() -> None:
    (one, other) = (captured(lambda dim=dim: torch.softmax(X, dim)) for dim in (-1, 2))
    assert check(one.records(), other.records()).holds
    assert Signature(torch.ops.aten.sum.dim_IntList).given((X, [1], False), {}) == [("settings", "dim=[1]")]
    assert Signature(torch.ops.aten.view.default).given((X, [24]), {}) == []


@settings(deadline=None, max_examples=50)
@given(st.recursive(
    st.booleans() | st.integers(-9, 9) | st.floats(-2, 2) | st.sampled_from([None, torch.float16, "x", object()]),
    lambda inner: st.lists(inner, max_size=3), max_leaves=4,
))  # fmt: skip
def test_whatever_is_given_is_classified(value: Any) -> None:
    found = classified(value)
    if isinstance(value, float) or (isinstance(value, list) and any(type(each) is float for each in value)):
        assert found is None or not isinstance(found, str)


SETTINGS = {
    "lr": (lambda given, on: torch.optim.SGD(given, 0.2 if on else 0.1), "(lr) 0.1 -> 0.2"),
    "eps": (lambda given, on: torch.optim.Adam(given, eps=1e-7 if on else 1e-8), "(eps) 1e-08 -> 1e-07"),
    "betas": (
        lambda given, on: torch.optim.Adam(given, betas=(0.9, 0.99 if on else 0.999)),
        "(betas) [0.9, 0.999] -> [0.9, 0.99]",
    ),
    "nesterov": (
        lambda given, on: torch.optim.SGD(given, 0.1, momentum=0.9, nesterov=on), "(nesterov) False -> True",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_optimizers(name: str) -> None:
    make, told = SETTINGS[name]

    def trained(on: bool) -> Any:
        training = Training(CASES["mlp-sgd"])
        training.optimizer = make(training.module.parameters(), on)
        return training.captured()

    one, other = trained(False), trained(True)
    assert told in changes(one, other)
    origin = first_divergence(check(one.records(), other.records()))
    assert origin is not None
    assert origin.where.operator.startswith("Default/optimizer-")


def test_a_learning_rate_in_force_at_each_step() -> None:
    training = Training(CASES["mlp-sgd"])
    plan = torch.optim.lr_scheduler.ExponentialLR(training.optimizer, 0.5)
    watch = TorchCapture(training.module)
    for batch in training.batches:
        with watch.step():
            training.step(batch)
            plan.step()
    found = [r for r in watch.capture().records() if r.op_type == "Settings" and r.extra.named == "lr"]
    assert [(r.key.iteration, r.load().item()) for r in found] == [(0, 0.1), (1, 0.05)]


def test_a_module_left_in_training_is_told() -> None:
    def run(flag: bool) -> Any:
        torch.manual_seed(1)
        net = Mlp().eval()
        net.fc2.train(flag)
        watch = TorchCapture(net)
        with watch.step():
            net(torch.ones(2, 6))
        return watch.capture()

    one, other = run(False), run(True)
    assert changes(one, other) == ["(fc2) not given -> train"]
    assert not check(one.records(), other.records()).holds


def test_numbers_computed_from_tensors_may_differ_in_their_last_bits() -> None:
    one, other, far = (captured(lambda by=by: F.layer_norm(X, (4,), eps=1e-5 * by)) for by in (1, 1 + 1e-9, 1.01))
    assert check(one.records(), other.records()).holds
    assert not check(one.records(), far.records()).holds


def test_arguments_follow_empty_tensors() -> None:
    capture = captured(lambda: torch.cat([torch.ones(0, 3), torch.ones(2, 3)], 0) + torch.cat([X, X[:0]], -3)[0, 0, 0])
    keys = [record.key for record in capture.records()]
    assert len(set(keys)) == len(keys)
    assert [key.slot for key in keys if key.operator == "Default/cat-op0" and key.io == "input"] == [1, 2]
