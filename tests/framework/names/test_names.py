"""Every public name of MindSpore 2.10.0 resolves: it works, or says on use that it is not supported."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from harness.errors import UnsupportedNameError
from harness.framework import names, nn, ops
from harness.framework.tensor import Parameter, Tensor

DATA = Path(__file__).resolve().parents[2] / "data" / "names"
SPACES = (
    "", "amp", "common", "common.initializer", "communication", "communication.management", "context", "dataset",
    "dataset.audio", "dataset.text", "dataset.transforms", "dataset.vision", "mindrecord", "mint", "mint.nn",
    "mint.nn.functional", "mint.optim", "nn", "nn.wrap", "nn.wrap.loss_scale", "numpy", "ops", "ops.composite",
    "ops.functional", "ops.operations", "parallel", "profiler", "train", "train.callback",
    "train.loss_scale_manager", "train.serialization",
)  # fmt: skip


@pytest.mark.parametrize("space", SPACES)
def test_every_public_name_resolves(space: str) -> None:
    module = names.load(space)
    public = [name for name in names.members(space) if not name.startswith("_")]
    assert public
    for name in public:
        assert getattr(module, name) is not None or name in ("", "None"), name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("space", SPACES)
def test_what_is_not_supported_says_so_in_one_line_when_used(space: str) -> None:
    module = names.load(space)
    for name, found in names.members(space).items():
        value = getattr(module, name)
        if names.is_absent(value) and found.kind in ("class", "function") and not name.startswith("_"):
            with pytest.raises(UnsupportedNameError) as caught:
                value()
            told = str(caught.value)
            assert told.startswith(
                names.public_name(space, name) + " is a name of MindSpore's that is not supported here"
            )
            assert "\n" not in told


def test_members_of_tensors_resolve() -> None:
    tensor = Tensor([1.0])
    for cls in (Tensor, Parameter):
        for name in names.members(f"{cls.__name__}:"):
            assert hasattr(cls, name), name
    with pytest.raises(UnsupportedNameError, match=r"^mindspore.Tensor.delta_seed is a name of MindSpore's"):
        tensor.delta_seed  # type: ignore[attr-defined]  # noqa: B018


def test_a_class_that_is_not_supported_can_be_asked_about_but_not_used() -> None:
    absent = nn.SampledSoftmaxLoss
    assert not isinstance(3, absent)
    assert absent is nn.SampledSoftmaxLoss
    assert copy.copy(absent) is absent
    made = type("A", (absent,), {"own": 3})
    assert made.own == 3
    for use in (lambda: absent(), lambda: absent.something, made, lambda: made.something):
        with pytest.raises(UnsupportedNameError, match=r"^mindspore\.nn\.SampledSoftmaxLoss is a name"):
            use()


def test_a_function_that_is_not_supported_refuses_every_use() -> None:
    assert repr(ops.ormqr) == "<function ormqr, not supported>"
    for use in (lambda: ops.ormqr(1), lambda: ops.ormqr.something):
        with pytest.raises(UnsupportedNameError, match=r"mindspore\.ops\.ormqr"):
            use()


@pytest.mark.parametrize("place", ["", "nn", "ops", "dataset", "dataset.vision", "train", "numpy", "ops.operations"])
def test_other_names_are_no_attributes(place: str) -> None:
    module = names.load(place)
    assert not hasattr(module, "no_name_of_anybodys")
    with pytest.raises(AttributeError, match=r"has no attribute 'no_name', here or in MindSpore 2\.10\.0$"):
        module.no_name  # noqa: B018


@pytest.mark.parametrize(
    ("place", "name", "near"),
    [
        ("numpy", "sum", "ops.sum"),
        ("ops", "einsum", "ops.matmul"),
        ("", "export", "save_checkpoint"),
    ],
)
def test_what_is_near_is_named(place: str, name: str, near: str) -> None:
    assert near in names.refusal(place, name)


def test_nothing_that_only_looks_alike_is_suggested() -> None:
    for place, name in (("ops", "rotated_iou"), ("ops", "jet"), ("ops", "deformable_conv2d")):
        assert "near it" not in names.refusal(place, name)


def test_the_table_has_what_scripts_import() -> None:
    used = json.loads((DATA / "api_use.json").read_text())["imports"]
    for module, members in used.items():
        space = names.load(module.partition(".")[2])
        for name in members:
            assert not name or hasattr(space, name), (module, name)
