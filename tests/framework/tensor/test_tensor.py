"""``Tensor`` and ``Parameter``: accepted data, refusals, shared memory."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import harness
from harness import Tensor, dtypes, ops
from harness.dtypes import DType
from harness.framework.nn.initializer import initializer
from harness.framework.tensor import Parameter, ParameterTuple, as_array
from harness.framework.tensor import tensor as TENSOR

PLAIN = [d for d in dtypes.ALL if d.kind != "c"]


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (1, "Int64", ()), (1.5, "Float32", ()), (True, "Bool", ()), ([1, 2], "Int64", (2,)),
        ([[1.0], [2]], "Float32", (2, 1)), ((1, 2.5), "Float32", (2,)), ([True, False], "Bool", (2,)),
        (np.float64(1), "Float64", ()), (np.int8(1), "Int8", ()),
        (np.zeros((2, 0)), "Float64", (2, 0)), ([], "Float32", (0,)), ([[], []], "Float32", (2, 0)),
        (np.zeros(2, ml_dtypes.bfloat16), "BFloat16", (2,)), (np.zeros(2, ">f4"), "Float32", (2,)),
    ],
    ids=repr,
)  # fmt: skip
def test_what_data_becomes(value: Any, dtype: str, shape: tuple[int, ...]) -> None:
    tensor = Tensor(value)
    assert (tensor.dtype.name, tensor.shape) == (dtype, shape)
    assert tensor.asnumpy().dtype == tensor.dtype.numpy
    assert tensor.asnumpy().flags.c_contiguous


@pytest.mark.parametrize("value", ["text", [1, "a"], object(), {1: 2}, [[1], [2, 3]], np.zeros(2, "M8[s]"), None])
def test_what_is_no_data_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Tensor(value)


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_a_dtype_converts(dtype: DType) -> None:
    tensor = Tensor([0, 1, 2], dtype)
    assert tensor.dtype is dtype
    assert tensor.asnumpy().astype(np.float64).tolist() == ([0, 1, 1] if dtype.kind == "b" else [0, 1, 2])
    assert tensor.itemsize == dtype.itemsize
    assert tensor.nbytes == 3 * dtype.itemsize


NATIVE = hnp.floating_dtypes(endianness="=") | hnp.integer_dtypes(endianness="=")


@given(hnp.arrays(NATIVE, hnp.array_shapes(min_dims=0, min_side=0)))
def test_arrays_are_kept_as_they_are(array: np.ndarray) -> None:
    tensor = Tensor(array)
    assert tensor.asnumpy().tobytes() == array.tobytes()
    assert (tensor.shape, tensor.ndim, tensor.size) == (array.shape, array.ndim, array.size)
    assert tensor.tolist() == array.tolist() or np.isnan(array).any()


def test_a_tensor_of_a_tensor() -> None:
    first = Tensor([1.0, 2.0])
    assert Tensor(first).asnumpy().tolist() == [1.0, 2.0]
    assert Tensor(first, dtypes.int32).dtype is dtypes.int32
    assert Tensor([first, first]).shape == (2, 2)


def test_strided_and_foreign_arrays_become_plain() -> None:
    base = np.arange(6.0).reshape(2, 3)
    for array in (base.T, base[:, ::2], base[::-1], base.astype(">f8")):
        tensor = Tensor(array)
        assert tensor.asnumpy().flags.c_contiguous
        assert tensor.asnumpy().dtype.isnative
        np.testing.assert_array_equal(tensor.asnumpy(), array)


def test_without_data() -> None:
    made = Tensor(shape=(2, 3), dtype=dtypes.float32, init=None)
    assert made.asnumpy().tolist() == [[0.0] * 3] * 2
    dynamic = Tensor(shape=[None, 3], dtype=dtypes.float16)
    assert dynamic.shape == (-1, 3)
    assert dynamic.is_dynamic
    assert not made.is_dynamic
    assert Tensor(shape=4, dtype=dtypes.int8).shape == (4,)
    with pytest.raises(TypeError, match="needs input_data, or a dtype and a shape"):
        Tensor(shape=(2,))
    assert Tensor(dtype=dtypes.int8).shape == (-2,)


def test_python_numbers() -> None:
    one = Tensor([[2.5]])
    assert (float(one), int(one), bool(one), one.item()) == (2.5, 2, True, 2.5)
    assert [10, 11, 12][Tensor(1)] == 11
    many = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="one element"):
        many.item()
    with pytest.raises(ValueError, match="should have only one element, but got 2"):
        bool(many)
    with pytest.raises(ValueError, match="Only integer tensors of a single element"):
        [1][Tensor(0.0)]


def test_length_and_rows() -> None:
    x = Tensor([[1, 2], [3, 4]])
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="len"):
        len(Tensor(1))


def test_numpy_sees_the_data_and_leaves_arithmetic() -> None:
    x = Tensor([1.0, 2.0])
    assert np.asarray(x).tolist() == [1.0, 2.0]
    assert np.asarray(x, np.int32).dtype == np.int32
    assert isinstance(np.float32(2) * x, np.ndarray)
    assert (x + np.float64(1)).dtype is dtypes.float32
    assert type(np.ones(2, np.float32) * x) is np.ndarray
    for mixed in (lambda: x * np.ones(2), lambda: x + np.ones(2), lambda: x < np.ones(2)):
        with pytest.raises(TypeError, match="numpy array"):
            mixed()


def test_numbers_of_numpys_stand_beside_tensors_as_measured() -> None:
    x = Tensor([1.0, 2.0])
    assert (x == np.float32(1)) is False
    assert (x != np.float32(1)) is True
    assert (x == np.float64(1)).asnumpy().tolist() == [True, False]
    assert x.eq(np.float32(1)).asnumpy().tolist() == [True, False]
    assert type(np.float32(1) < x) is np.ndarray
    assert (2.0 in x, 3 in x, Tensor(1.0) in x, x in x, "a" in x) == (True, False, True, True, False)
    assert round(Tensor(1.6)).asnumpy() == 2


def test_bools_are_added_at_once_but_not_by_the_operator() -> None:
    a, b = Tensor([True, False, True]), Tensor([True, True, False])
    assert [(a + b).asnumpy().tolist(), a.add(b).asnumpy().tolist()] == [[True] * 3] * 2
    assert [(a - b).asnumpy().tolist(), a.sub(b).asnumpy().tolist()] == [[False, True, True]] * 2
    assert (a + True).dtype is (True + a).dtype is dtypes.bool_
    for refused in (lambda: ops.add(a, b), lambda: ops.sub(a, b), lambda: True - a):
        with pytest.raises(TypeError):
            refused()


def test_astype_takes_numpys_types_and_further_names() -> None:
    x = Tensor([1.5])
    given = {np.float16: "Float16", np.uint8: "UInt8", np.bool_: "Bool", float: "Float64", int: "Int64", bool: "Bool"}
    names = {"float": "Float64", "half": "Float16", "byte": "Int8", "long": "Int64", "uint": "UInt64"}
    for dtype, name in (given | names).items():
        assert x.astype(dtype).dtype.name == name
    with pytest.raises(TypeError):
        x.astype(np.dtype("int8"))


def test_a_name_that_is_not_supported_says_so() -> None:
    with pytest.raises(AttributeError, match="virtual_flag is a name of MindSpore's that is not supported"):
        _ = Tensor([1.0]).virtual_flag
    assert Tensor([1.0]).data.tolist() == [1.0]
    assert Tensor([1.0]).has_init is False


def test_sums_with_lists_are_in_the_tensors_dtype() -> None:
    whole = Tensor([1, 2])
    assert (whole + [1.5, 2]).asnumpy().tolist() == [2, 4]  # noqa: RUF005
    assert ((1.5, 2) - Tensor([1.0, 1.0])).asnumpy().tolist() == [0.5, 1]
    with pytest.raises(TypeError):
        assert Tensor([1, 2]) > [1, 2]


def test_doubles_keep_their_digits() -> None:
    assert Tensor([1e-9], dtypes.float64).asnumpy().tolist() == [1e-9]


def test_parts_and_other_forms_are_written_through() -> None:
    x = Tensor(np.zeros((3, 4), np.float32))
    x[0][1] = 1
    x[:, 2][0] = 2
    x[[0, 2]][1, 3] = 3
    x.reshape(-1)[4] = 4
    x.T[1, 1] = 5
    x.swapaxes(0, 1)[2][1] = 6
    assert x.asnumpy().tolist() == [[0, 1, 2, 0], [4, 5, 6, 0], [0, 0, 0, 3]]
    (x + 0)[0] = 9
    copy.copy(x)[0] = 9
    copy.deepcopy(x[0])[0] = 9
    assert 9 not in x.asnumpy()


def test_an_array_may_lend_its_memory() -> None:
    array = np.zeros(2, np.float32)
    x = Tensor.from_numpy(array)
    array[1] = 3
    assert x.asnumpy().tolist() == [0, 3]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("expression", ["2 * x", "~(x == x)", "x.sum(0)", "x.T"])
def test_a_script_may_import_tensors_alone(expression: str) -> None:
    code = f"""
import sys
from harness.framework.tensor import Tensor
assert "harness.framework.ops" not in sys.modules
x = Tensor([[1.0, 2.0], [3.0, 4.0]])
print(({expression}).tolist(), ({expression}).tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = eval(expression, {"x": Tensor([[1.0, 2.0], [3.0, 4.0]])}).tolist()
    assert done.stdout.strip() == f"{expected} {expected}", done.stderr


def test_every_operator_of_python_is_replaced_by_its_own() -> None:
    assert [name for name, member in vars(Tensor).items() if getattr(member, "__module__", "") == TENSOR.__name__
            and getattr(member, "__qualname__", "").startswith("_deferred")] == []  # fmt: skip


def test_the_place_of_the_largest_is_that_in_the_flat_tensor() -> None:
    x = Tensor([[0.0, 1.0], [2.0, 3.0]])
    assert (x.argmax().tolist(), x.argmax(-1).tolist(), x.strides) == (3, [1, 1], (8, 4))


def test_texts() -> None:
    assert repr(Tensor([1, 2])) == "Tensor(shape=[2], dtype=Int64, value= [1, 2])"
    assert repr(Tensor([[1.5]])) == "Tensor(shape=[1, 1], dtype=Float32, value=\n[[ 1.50000000e+00]])"
    assert repr(Tensor.from_numpy(np.ones((1, 2)))) == "Tensor(shape=[1, 2], dtype=Float64, value=\n[[1., 1.]])"
    assert repr(Tensor(np.float32(3))) == "Tensor(shape=[], dtype=Float32, value= 3)"
    assert str(Tensor(np.float32(3))) == "3.0"
    assert str(Tensor([1.0, 2.0], dtypes.bfloat16)) == "[1. 2.]"
    parameter = Parameter(Tensor([1.0, 2.0]), name="w")
    assert repr(parameter) == "Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)"


def test_identity_is_the_hash_and_equality_is_elementwise() -> None:
    a, b = Tensor([1.0]), Tensor([1.0])
    assert len({a, b}) == 2
    assert (a == b).tolist() == [True]


def test_unknown_attributes_are_named() -> None:
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'no_such_thing'"):
        Tensor(1).no_such_thing  # noqa: B018


def test_copies_share_nothing() -> None:
    x = Tensor([1.0, 2.0])
    twin = copy.deepcopy(x)
    twin.asnumpy()[0] = 9
    assert x.tolist() == [1.0, 2.0]
    p = Parameter(x, name="w")
    p.asnumpy()[0] = 9
    assert x.tolist() == [1.0, 2.0]
    q = copy.deepcopy(p)
    assert (q.name, q.requires_grad, type(q)) == ("w", True, Parameter)


def test_set_data() -> None:
    x = Tensor([1.0, 2.0])
    given_data = Tensor([3, 4])
    x.set_data(given_data)
    assert (x.tolist(), x.dtype) == ([3.0, 4.0], dtypes.float32)
    given_data.asnumpy()[0] = 7
    assert x.tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match=r"shape \(3,\) given, \(2,\) needed"):
        x.set_data(Tensor([1, 2, 3]))
    x.set_data(Tensor([1, 2, 3]), slice_shape=True)
    assert x.shape == (3,)
    assert x.assign_value(Tensor([1.0])).tolist() == [1.0]
    with pytest.raises(TypeError, match="made by an initializer"):
        x.init_data()
    made = Tensor(shape=(2, 3), dtype=dtypes.float32, init=initializer("ones", (2, 3)).init)
    assert (made.init_data() is made, made.init_data(shape=2).tolist()) == (True, [1.0, 1.0])


def test_parameters() -> None:
    p = Parameter(Tensor([1.0, 2.0]), name="w", requires_grad=False)
    assert p.data is p
    assert type(p.value()) is Tensor
    assert [p.clone(init).tolist() for init in ("same", "zeros", "ones", 3)] == [[1, 2], [0, 0], [1, 1], [3, 3]]
    assert p.clone().name == "w"
    assert p.clone().requires_grad is False
    p.set_dtype(dtypes.float16)
    assert (p.dtype, p.asnumpy().dtype) == (dtypes.float16, np.float16)
    assert Parameter(Tensor(1)).name == "Parameter"
    assert Parameter(initializer("ones", [2], dtypes.float32), name="i").tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="name must be a str, got int"):
        Parameter(Tensor(1), name=3)  # type: ignore[arg-type]


def test_tuples_of_parameters() -> None:
    members = ParameterTuple(Parameter(Tensor(float(i)), name=f"p{i}") for i in range(2))
    twins = members.clone("moment", "zeros")
    assert [t.name for t in twins] == ["moment.p0", "moment.p1"]
    assert [t.tolist() for t in twins] == [0.0, 0.0]
    assert isinstance(twins, ParameterTuple)
    with pytest.raises(TypeError, match="takes Parameters, got Tensor"):
        ParameterTuple([Tensor(1)])


@given(st.recursive(st.integers(-5, 5) | st.floats(-5, 5, width=32) | st.booleans(), st.lists, max_leaves=12))
def test_nested_lists_are_read_or_refused_whole(value: Any) -> None:
    try:
        expected = np.array(value)
    except ValueError:
        with pytest.raises((TypeError, ValueError)):
            as_array(value)
        return
    if expected.dtype == object:
        return
    assert as_array(value).shape == expected.shape
    plain = expected.astype(np.float32) if expected.dtype == np.float64 else expected
    np.testing.assert_array_equal(as_array(value), plain)


def test_methods_come_from_the_operators() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum(0).tolist() == ops.sum(x, 0).tolist()
    assert x.T.tolist() == [[1, 3], [2, 4]]
    assert (x @ x).tolist() == ops.matmul(x, x).tolist()
    assert (-x).tolist() == ops.neg(x).tolist()
    assert (2 - x).tolist() == [[1, 0], [-1, -2]]
    assert (x > 2).dtype is dtypes.bool_


def test_the_module_is_the_function_tensor() -> None:
    made = harness.tensor([1, 2], dtypes.float16)
    assert isinstance(made, Tensor)
    assert (made.dtype, made.asnumpy().tolist()) == (dtypes.float16, [1.0, 2.0])
    assert harness.tensor(3).dtype is dtypes.int64
