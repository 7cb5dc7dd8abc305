"""PyTorch's capture of a network and ours are paired, and the values of all pairs agree: no pair is a wrong one."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from harness.backends.align import lay_beside
from harness.compare import Verdict, first_divergence
from harness.compare.pairing import check_paired
from harness.compare.policy import Party, judge
from harness.explain import settle
from tests.compare.pairing.twins import captures

pytestmark = pytest.mark.interop

#: What each network's slots agree within, and how many are compared at least. Adam divides nearly zero by nearly zero.
CASES: dict[str, tuple[Any, int]] = {
    "mlp": ((1e-2, 1e-3), 150), "lenet": ("default", 230), "residual": ("default", 230), "encoder": ("default", 490),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_networks_of_both_frameworks(name: str) -> None:
    tolerance, slots = CASES[name]
    comparison, pairing = check_paired(*captures(name), tolerance)
    assert [slot for slot in comparison.failures() if slot.verdict is Verdict.DIFFERS] == []
    assert len(comparison.slots) >= slots
    for side in (0, 1):
        assert [lone for _, _, lone in pairing.alone(side) if not lone.explained] == []
    assert comparison.holds


@pytest.mark.parametrize("name", ["mlp", "encoder"])
def test_both_frameworks_hold_under_noise(name: str) -> None:
    sides = [Party(each, each.backend, each.mode, each.emulated) for each in captures(name)]
    judged = judge(sides[0], sides[1], "noise", lay=lay_beside, settle=settle)
    assert [(slot.key, slot.reason) for slot in judged.comparison.failures()] == []
    assert judged.holds


def test_another_weight_does_not_hold_under_noise() -> None:
    def change(model: Any) -> None:
        model.fc2.weight.data[3, 2] *= 1.001

    sides = [Party(each, each.backend, each.mode, each.emulated) for each in captures("mlp", 1, change)]
    assert not judge(sides[0], sides[1], "noise", lay=lay_beside, settle=settle).holds


@pytest.mark.parametrize(
    ("network", "module", "changed", "operator", "found_as"),
    [
        ("encoder", "norm1", {"eps": 0.1}, "norm1-LayerNorm/LayerNorm-op0", "norm1-LayerNorm/native_layer_norm-op0"),
        ("residual", "bn2", {"eps": 0.1}, "bn2-BatchNorm2d/BatchNorm-op0", "bn2-BatchNorm2d/native_batch_norm-op0"),
        ("encoder", "softmax", {"dim": -2}, "softmax-Softmax/Softmax-op0", "softmax-Softmax/_softmax-op0"),
        ("lenet", "conv2", {"padding": 0, "dilation": 1, "bias": None}, "conv2-Conv2d/BiasAdd-op0", None),
    ],
)
def test_the_first_divergence_is_named_in_both_frameworks(
    network: str, module: str, changed: dict[str, Any], operator: str, found_as: str | None
) -> None:
    def change(model: Any) -> None:
        for name, value in changed.items():
            setattr(getattr(model, module), name, value)

    comparison, pairing = check_paired(*captures(network, 1, change), "default")
    if found_as is None:  # a bias that one side does not have
        assert operator in {lone.name.operator.partition("LeNet/")[2] for _, _, lone in pairing.alone(0) if lone.whole}
        return
    divergence = first_divergence(comparison)
    assert divergence is not None
    assert divergence.inputs_agree
    assert divergence.where.operator.endswith(operator)
    assert divergence.slots[0].found_as is not None
    assert divergence.slots[0].found_as.operator == f"Default/{found_as}"
