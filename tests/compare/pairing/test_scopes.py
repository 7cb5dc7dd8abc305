"""Names of all frameworks and releases say where an operator stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare.pairing.scopes import ScopePath, parameter_name, place_of, type_of


@pytest.mark.parametrize(
    ("operator", "op_type", "path", "backward"),
    [
        ("Default/network-WithLossCell/_backbone-LeNet/conv1-Conv2d/Conv2D-op0", "Conv2D", ("conv1",), False),
        ("Default_network-WithLossCell__backbone-LeNet_conv1-Conv2d_Conv2D-op0", "Conv2D", ("conv1",), False),
        ("Default--network-WithLossCell--_backbone-LeNet--conv1-Conv2d--Conv2D-op0", "Conv2D", ("conv1",), False),
        ("Gradients/Default/network-WithLossCell/_backbone-N/fc-Dense/Grad_MatMul/MatMul-op3", "MatMul", ("fc",), True),
        ("Gradients_Default_network-WithLossCell__backbone-N_fc-Dense_Grad_MatMul_MatMul-op3", "MatMul", ("fc",), True),
        ("Default/fc1-Dense/activation-ReLU/ReLU-op0", "ReLU", ("fc1", "activation"), False),
        ("Default_fc1-Dense_activation-ReLU_ReLU-op0", "ReLU", ("fc1", "activation"), False),
        ("Default/conv1-Conv2d/convolution-op0", "convolution", ("conv1",), False),
        ("Gradients/Default/layer1-Linear/mm-op0", "mm", ("layer1",), True),
        ("Default/mse_loss-op0", "mse_loss", (), False),
        ("Default_MatMul-op0", "MatMul", (), False),
        ("MatMul-op12", "MatMul", None, False),
        ("Cell.network._backbone.conv1.Conv2d.forward.0", "Conv2d", ("conv1",), False),
        ("Module.block.0.conv1.Conv2d.backward.1", "Conv2d", ("block", "0", "conv1"), True),
        ("Functional.conv2d.0.forward", "conv2d", None, False),
    ],
)  # fmt: skip
def test_places(operator: str, op_type: str, path: tuple[str, ...] | None, backward: bool) -> None:
    assert place_of(operator, op_type) == ScopePath(path, backward)


@given(st.text(), st.text())
def test_any_text_is_taken_apart(operator: str, op_type: str) -> None:
    path, backward = place_of(operator, op_type)
    assert path is None or all(isinstance(each, str) for each in path)
    assert isinstance(backward, bool)


def test_the_type_ends_a_name() -> None:
    assert type_of("Default/conv1-Conv2d/Conv2D-op0") == "Conv2D"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("bn1.gamma", "bn1.weight"), ("bn1.beta", "bn1_bias"), ("bn1.moving_mean", "bn1.running_mean"),
        ("bn1.moving_variance", "bn1.running_var"), ("embedding.embedding_table", "embedding.weight"),
        ("fc1_weight", "fc1.weight"),
    ],
)  # fmt: skip
def test_parameters_of_one_use_have_one_name(ours: str, theirs: str) -> None:
    assert parameter_name(ours) == parameter_name(theirs)
    assert parameter_name(ours) != parameter_name("bn2.weight")
