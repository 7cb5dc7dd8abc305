"""Cells: attributes, parameters, flags, calls, and clear refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import context, dtypes, nn, ops
from harness.errors import (
    CellAttributeError,
    CellNameError,
    SettingError,
    SettingTypeError,
    UnsupportedError,
)
from harness.framework.tensor import Parameter, ParameterTuple, Tensor


class Scale(nn.Cell):
    """x * weight, in training plus one."""

    def __init__(self, weight: float = 2.0) -> None:
        super().__init__()
        self.weight = Parameter(Tensor([weight], dtypes.float32))

    def construct(self, x: Any, shift: float = 0.0) -> Any:
        y = x * self.weight + shift
        return y + 1 if self.training else y


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE])
def mode(request: pytest.FixtureRequest) -> Iterator[int]:
    """Both execution modes."""
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def test_call(mode: int) -> None:
    cell = Scale().set_train(False)
    x = Tensor(np.array([1.0, 2.0], np.float32))
    assert cell(x).asnumpy().tolist() == [2.0, 4.0]
    assert cell(x, shift=0.5).asnumpy().tolist() == [2.5, 4.5]
    assert cell.set_train()(x).asnumpy().tolist() == [3.0, 5.0]
    assert cell.set_train(False)(x).asnumpy().tolist() == [2.0, 4.0]


def test_a_changed_parameter_is_used_without_recompilation(mode: int) -> None:
    cell = Scale()
    x = Tensor(np.array([1.0], np.float32))
    cell(x)
    cell.weight = Tensor([5.0], dtypes.float32)
    assert cell(x).asnumpy().tolist() == [5.0]
    assert isinstance(cell.weight, Parameter)


def test_wrong_arguments_name_the_cell(mode: int) -> None:
    with pytest.raises(SettingTypeError, match=r"Scale.construct: missing a required argument: 'x'"):
        Scale()()
    with pytest.raises(TypeError, match="too many positional arguments"):
        Scale()(1, 2, 3)


def test_a_cell_without_construct(mode: int) -> None:
    with pytest.raises(AttributeError, match="Cell does not define the method 'construct'"):
        nn.Cell()(Tensor([1.0]))


def test_duplicate_names_are_renamed_by_path_before_the_first_call(mode: int) -> None:
    class Pair(nn.Cell):
        def __init__(self) -> None:
            super().__init__(auto_prefix=False)
            self.left = Scale()
            self.right = Scale(3.0)

        def construct(self, x: Any) -> Any:
            return self.left(x) + self.right(x)

    pair = Pair()
    assert [p.name for p in pair.get_parameters()] == ["weight", "weight"]
    with pytest.raises(SettingError, match=r"'left.weight' and 'right.weight' are both named 'weight'"):
        pair.check_names()
    assert pair(Tensor([1.0])).asnumpy().tolist() == [5.0]
    assert [p.name for p in pair.get_parameters()] == ["left.weight", "right.weight"]


def test_a_tuple_with_equal_names_is_refused() -> None:
    one, other = (Parameter(Tensor([1.0]), name="q") for _ in range(2))
    with pytest.raises(ValueError, match="two parameters are named 'q'"):
        ParameterTuple([one, other])
    assert len(ParameterTuple([one, one])) == 2
    other.name = "r"
    pair = ParameterTuple([one, other])
    other.name = "q"
    with pytest.raises(SettingError, match="two parameters are named 'q'"):
        nn.Cell().pair = pair


@pytest.mark.parametrize(("attribute", "error"), [("requires_grad", TypeError), ("name", ValueError)])
def test_an_attribute_of_a_parameter_keeps_its_kind(attribute: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        setattr(Parameter(Tensor([1.0]), name="q"), attribute, 1)


def test_a_copy_of_a_parameter_is_one_at_once() -> None:
    one = Parameter(Tensor([1.0]), name="q", requires_grad=False)
    copy = one.copy()
    copy[0] = 5.0
    assert (type(copy), copy.name, copy.requires_grad, one.tolist()) == (Parameter, "q", False, [1.0])


def test_attributes_before_init_are_refused() -> None:
    class Forgot(nn.Cell):
        def __init__(self) -> None:
            self.part = nn.ReLU()

    with pytest.raises(CellAttributeError, match=r"Forgot: call super\(\).__init__\(\)"):
        Forgot()


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="The 'ReLU' object has no attribute 'nope'"):
        nn.ReLU().nope  # noqa: B018


@pytest.mark.parametrize(
    ("name", "error"), [("", CellNameError), ("a.b", CellNameError), (3, (SettingTypeError, CellNameError))]
)
def test_names_of_children_and_parameters(name: Any, error: Any) -> None:
    cell = nn.Cell()
    with pytest.raises(error):
        cell.insert_child_to_cell(name, nn.ReLU())
    with pytest.raises(error):
        cell.insert_param_to_cell(name, Parameter(Tensor([1.0])))


def test_taken_names_and_wrong_values_are_refused() -> None:
    cell = Scale()
    cell.part = nn.ReLU()
    with pytest.raises(CellNameError, match="Scale has an attribute 'weight' already"):
        cell.insert_child_to_cell("weight", nn.ReLU())
    with pytest.raises(CellNameError, match="Scale has an attribute 'part' already"):
        cell.insert_param_to_cell("part", Parameter(Tensor([1.0])))
    with pytest.raises(SettingTypeError, match="expected a Cell, got int"):
        cell.insert_child_to_cell("other", 3)  # type: ignore[arg-type]
    with pytest.raises(SettingTypeError, match="expected a Parameter, got Tensor"):
        cell.insert_param_to_cell("other", Tensor([1.0]))  # type: ignore[arg-type]
    with pytest.raises(SettingTypeError, match=r"Scale.weight is a parameter; .* not int"):
        cell.weight = 3
    with pytest.raises(SettingTypeError, match=r"Scale.part is a cell; .* not str"):
        cell.part = "relu"


def test_none_removes_and_del_deletes() -> None:
    cell = Scale()
    cell.part = nn.ReLU()
    cell.part = None
    cell.weight = None
    assert cell.part is None
    assert cell.weight is None
    assert list(cell.get_parameters()) == []
    del cell.part
    assert not hasattr(cell, "part")


def test_a_plain_attribute_gives_way_to_a_cell() -> None:
    cell = nn.Cell()
    cell.act = None
    cell.act = nn.ReLU()
    assert [name for name, _ in cell.cells_and_names()] == ["", "act"]


def test_apply_visits_children_first() -> None:
    seen: list[str] = []
    nn.SequentialCell(nn.ReLU(), nn.SequentialCell(nn.Tanh())).apply(lambda cell: seen.append(cell.cls_name))
    assert seen == ["ReLU", "Tanh", "SequentialCell", "SequentialCell"]


@pytest.mark.parametrize("method", ["offload", "recompute", "shard"])
def test_what_is_not_supported_says_so(method: str) -> None:
    with pytest.raises(UnsupportedError, match=f"ReLU.{method} is not supported"):
        getattr(nn.ReLU(), method)(print)


def test_set_inputs() -> None:
    cell = Scale()
    assert cell.get_inputs() is None
    shape = Tensor(shape=[None, 2], dtype=dtypes.float32)
    cell.set_inputs(x=shape)
    assert cell.get_inputs() == (shape,)
    with pytest.raises(SettingError, match="not both"):
        cell.set_inputs(shape, x=shape)


def test_flags() -> None:
    cell = nn.SequentialCell(nn.ReLU()).add_flags_recursive(mark=3)
    assert cell[0].get_flags() == {"mark": 3}  # type: ignore[index]
    assert cell[0].mark == 3  # type: ignore[index]


class Half(nn.Cell):
    """Returns what it is given and its weight, as construct sees them."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(Tensor([1.5], dtypes.float32))
        self.count = Parameter(Tensor([1], dtypes.int32))

    def construct(self, x: Any, pair: Any, number: Any) -> Any:
        return x * 1, pair[0] * 1, pair[1] * 1, self.weight * 1, self.count * 1


def test_to_float_casts_floats_only(mode: int) -> None:
    x, ints = Tensor([1.0]), Tensor([2], dtypes.int32)
    found = Half().to_float(dtypes.float16)(x, (x, ints), 3)
    assert [t.dtype for t in found] == [
        dtypes.float16, dtypes.float16, dtypes.int32, dtypes.float16, dtypes.int32,
    ]  # fmt: skip
    assert Half().weight.dtype is dtypes.float32


def test_to_float_leaves_parameters_alone_outside_construct() -> None:
    cell = Half().to_float(dtypes.bfloat16)
    assert isinstance(cell.weight, Parameter)
    with pytest.raises(SettingError, match=r"float16, float32 or bfloat16, got mindspore.int32"):
        cell.to_float(dtypes.int32)


def test_set_dump_marks_cells_and_primitives() -> None:
    from harness.framework.tools import set_dump

    cell = nn.SequentialCell(nn.ReLU(), nn.Tanh())
    with pytest.warns(UserWarning, match="the device is CPU") as caught:
        set_dump(cell)
    assert len(caught) == 3
    assert all(c._dump for _, c in cell.cells_and_names())
    primitive = ops.ReLU()
    with pytest.warns(UserWarning, match="dump mode 2"):
        set_dump(primitive, enabled=False)
    assert primitive.marks == {"dump": "false"}
    for target, enabled in ((nn.ReLU, True), (None, True), (cell, 1)):
        with pytest.raises(ValueError, match="set_dump"):
            set_dump(target, enabled)  # type: ignore[arg-type]


def test_a_copy_is_independent() -> None:
    import copy

    cell = nn.SequentialCell(Scale(), nn.ReLU())
    twin = copy.deepcopy(cell)
    twin[0].weight = Tensor([7.0])
    assert cell[0].weight.asnumpy().tolist() == [2.0]
    assert twin[0].weight.asnumpy().tolist() == [7.0]
    assert [p.name for p in twin.get_parameters()] == [p.name for p in cell.get_parameters()]
    assert twin(Tensor([1.0])).asnumpy().tolist() == [7.0]
