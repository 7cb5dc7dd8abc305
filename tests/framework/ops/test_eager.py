"""Calls that run at once: promotion, numbers beside tensors, errors, and the registry of operators."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, ops
from harness.dtypes import DType
from harness.errors import DtypeError, KernelError, ShapeError, UnknownNameError, UnsupportedError
from harness.framework.ops import OPERATORS, Backward, Call, Operator, operator
from harness.framework.ops.eager import ALONE, is_number, number_dtype, plan_arguments, promote
from harness.framework.tensor import call
from harness.graph import ScalarSpec, TensorSpec, TupleSpec

NUMERIC = [d for d in dtypes.ALL if d.kind != "c"]
#: what MindSpore 2.10.0 gives for the sum of two tensors, where it is neither of them (measured)
NEITHER = {
    frozenset(("Float16", "BFloat16")): "Float32",
    frozenset(("UInt8", "Int8")): "Int16",
}


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations_with_replacement(NUMERIC, 2)), ids=str)
def test_promotion_is_symmetric_and_holds_both(a: DType, b: DType) -> None:
    if a is not b and {a.name, b.name} & ALONE and dtypes.bool_ not in (a, b):
        with pytest.raises(DtypeError, match="no common dtype"):
            promote([a, b])
        return
    found = promote([a, b])
    assert found is promote([b, a])
    assert found is promote([found, a])
    names = frozenset((a.name, b.name))
    assert found.name in names or found.name == NEITHER[names]
    if a.kind == b.kind:
        assert found.itemsize >= max(a.itemsize, b.itemsize)
    if "f" in (a.kind, b.kind):
        assert found.kind == "f"


@pytest.mark.parametrize(
    ("number", "beside", "expected"),
    [
        (1, [], "Int64"), (1.0, [], "Float32"), (True, [], "Bool"), (1, ["Int8"], "Int8"), (1, ["Float16"], "Float16"),
        (1.5, ["Float16"], "Float16"), (1.5, ["Int32"], "Float32"), (1.5, ["Float64"], "Float64"),
        (1, ["Bool"], "Int64"), (True, ["Int8"], "Int8"), (True, ["Float16"], "Float16"), (1.5, ["Bool"], "Float32"),
        (2, ["BFloat16"], "BFloat16"),
    ],
    ids=repr,
)  # fmt: skip
def test_numbers_take_the_dtype_of_what_they_stand_beside(number: Any, beside: list[str], expected: str) -> None:
    assert number_dtype(number, [dtypes.by_name(name) for name in beside]).name == expected


@pytest.mark.parametrize("value", [1, 1.5, True, np.float32(1), np.int8(1), np.bool_(True)])
def test_what_is_a_number(value: Any) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [None, "1", (1,), np.ones(1), Tensor(1), 1j])
def test_what_is_none(value: Any) -> None:
    assert not is_number(value)


def test_plans() -> None:
    add = OPERATORS.get("Add")
    whole, half = Tensor([1], dtypes.int32), Tensor([1.0], dtypes.float16)
    (a, cast_a), (b, cast_b) = plan_arguments(add, (whole, half))
    assert (a, cast_a) == (whole, dtypes.float16)
    assert (b, cast_b) == (half, None)
    (_, none), (number, _) = plan_arguments(add, (half, 2))
    assert none is None
    assert (number.dtype, number.shape, number.tolist()) == (dtypes.float16, (), 2.0)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(NUMERIC, NUMERIC)), ids=str)
def test_sums_of_all_dtypes(a: DType, b: DType) -> None:
    x, y = Tensor(np.array([1, 0]), a), Tensor(np.array([1, 1]), b)
    alone = a is not b and {a.name, b.name} & ALONE and dtypes.bool_ not in (a, b)
    if a is b is dtypes.bool_:
        assert (x + y).tolist() == [True, True]
        return
    if alone:
        with pytest.raises(DtypeError):
            x + y
        return
    got = x + y
    assert got.dtype is promote([a, b])
    assert got.asnumpy().dtype == got.dtype.numpy
    assert got.asnumpy().astype(np.float64).tolist() == [2, 1]


def test_several_results_are_a_tuple_of_tensors() -> None:
    values, places = ops.topk(Tensor([3.0, 1.0, 2.0]), 2)
    assert (values.tolist(), places.tolist()) == ([3.0, 2.0], [0, 2])


def test_conditions_decide_at_once() -> None:
    x = Tensor([2.0])
    assert ops.cond(x.sum() > 1, lambda x: x * 2, lambda x: x * 3, x).tolist() == [4.0]
    assert ops.while_loop(lambda x: x.sum() < 100, lambda x: x * 2, x).tolist() == [128.0]


def test_errors_show_operator_and_arguments() -> None:
    x = Tensor(np.ones((2, 3), np.float32))
    with pytest.raises(ShapeError, match=r"Add\(Float32\[2, 3\], Float32\[2\]\)"):
        call("Add", x, Tensor(np.ones(2, np.float32)))
    with pytest.raises(UnknownNameError, match="no operator is called 'Addd'; did you mean"):
        call("Addd", x, x)
    with pytest.raises(DtypeError):
        call("BitwiseAnd", x, x)


class _Failing(Operator):
    name = "FailingForTests"

    def infer(self, call: Call) -> TensorSpec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Any) -> Any:
        return np.linalg.inv(x)


def test_a_failing_kernel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    "Add" in OPERATORS  # noqa: B015 - fills the registry
    monkeypatch.setitem(OPERATORS._things, _Failing.name, _Failing())
    with pytest.raises(KernelError, match="kernel of FailingForTests failed: LinAlgError") as caught:
        call("FailingForTests", Tensor(np.ones((2, 2), np.float32)))
    assert isinstance(caught.value.__cause__, np.linalg.LinAlgError)


def test_kernels_warn_about_nothing() -> None:
    x = Tensor([0.0, -1.0, np.inf])
    assert np.isnan(ops.log(x).asnumpy()[1])
    assert ops.exp(Tensor([1000.0])).tolist() == [np.inf]


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="operator 'Add' is registered already"):

        @operator
        class Add(Operator):
            name = "Add"


def test_what_a_call_knows() -> None:
    spec = TensorSpec(dtypes.float32, (2, 3))
    given = (spec, ScalarSpec(dtypes.int64), TupleSpec((spec,)))
    made = Call("Op", given, (None, 3, None), {}, out=TupleSpec((spec, spec)))
    assert (made.tensor(0), made.shape(0), made.dtype(0), made.dtype(1)) == (spec, (2, 3), dtypes.float32, dtypes.int64)
    assert made.outputs() == (spec, spec)
    with pytest.raises(DtypeError, match="Op: argument 1 must be a tensor"):
        made.tensor(1)
    with pytest.raises(DtypeError, match="Op: argument 2 has no dtype"):
        made.dtype(2)
    assert str(made.fail("no good")).startswith("Op(Float32[2, 3], ")


def test_an_operator_without_rules_says_so() -> None:
    class Bare(Operator):
        name = "Bare"

    with pytest.raises(UnsupportedError, match="operator Bare has no gradient"):
        Bare().gradient(Backward((), None, None, {}, ()))
    with pytest.raises(NotImplementedError):
        Bare().infer(Call("Bare", (), (), {}))
    with pytest.raises(NotImplementedError):
        Bare().kernel(Call("Bare", (), (), {}))
    assert Bare().effect(()) is None


def test_every_operator_is_described() -> None:
    for name in OPERATORS:
        found = OPERATORS.get(name)
        assert found.name == name
        assert type(found).__doc__, name
        assert found.side_effect in (None, "memory", "io"), name
        assert not found.mutates or found.side_effect == "memory" or name.startswith("Inplace"), name
        places = (*found.tensors, *found.same_dtype, *found.unread, *found.mutates)
        assert all(isinstance(at, int) and at >= 0 for at in places), name


@pytest.mark.parametrize(("given", "dtype"), [(0.5, dtypes.float32), (2, dtypes.float16), (True, dtypes.int32)])
def test_cast_takes_a_number(given: float, dtype: DType) -> None:
    for cast in (ops.cast, ops.Cast()):
        made = cast(given, dtype)
        assert (made.dtype, made.shape, made.asnumpy().item()) == (dtype, (), given)
