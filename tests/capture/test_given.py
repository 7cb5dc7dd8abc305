"""Values given by name: how they are split into parts, and which are refused."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.capture.given import leaves, record_of
from harness.errors import HarnessError, SettingError, SettingTypeError


@dataclasses.dataclass
class Output:
    logits: Any
    loss: Any = None


Pair = collections.namedtuple("Pair", "left right")


class Foreign:
    """An array of another library, known by ``__array__`` alone."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.arange(3, dtype="i2")


class Capsule:
    """One known by DLPack alone."""

    def __dlpack__(self, **asked: Any) -> Any:
        return np.arange(4.0).__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.arange(4.0).__dlpack_device__()


class Broken:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("lies on another device\nand so on")


def names(value: Any) -> list[str]:
    return [leaf.name for leaf in leaves("v", value)]


def test_names_of_parts() -> None:
    value = {
        "b": [1, (2.0, True)],
        "c": [1, 2],
        "d": (0.5, 1.5),
        "a": Output(np.ones(2)),
        "p": Pair(1, {"x": 2}),
        3: 1j,
        "t": "text",
        "n": None,
    }
    assert names(value) == [
        "v.a.logits",
        "v.b[0]",
        "v.b[1][0]",
        "v.b[1][1]",
        "v.c",
        "v.d",
        "v.p.left",
        "v.p.right.x",
        "v.t",
        "v[3]",
    ]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([1, 2], "Int64"), ([0.5], "Float64"), ((True, False), "Bool"), ([1j, 2], None), ([1, 2.0], None),
     ([2**63, 1], "UInt64"), ([True, 1], None), ([], "nothing")],
)  # fmt: skip
def test_a_list_of_numbers_of_one_type_is_one_slot(value: Any, dtype: str | None) -> None:
    found = list(leaves("v", value))
    if dtype == "nothing":
        assert not found
    elif dtype is None:
        assert [leaf.name for leaf in found] == [f"v[{at}]" for at in range(len(value))]
    else:
        (leaf,) = found
        record = record_of(leaf, "v", None)
        assert (leaf.name, record.dtype, record.load().tolist()) == ("v", dtype, list(value))
    apart = [leaf.name for leaf in leaves("v", value, lambda name: name == "v[0]")]
    assert apart == [f"v[{at}]" for at in range(len(value))]


def test_numbers_that_no_dtype_holds_together_are_parts() -> None:
    assert [leaf.name for leaf in leaves("v", [2**63, -1])] == ["v[0]", "v[1]"]


@pytest.mark.parametrize("value", [[1, -(2**63) - 1], [2**64], [2**65, -1]])
def test_numbers_that_are_too_large_are_named(value: list[int]) -> None:
    with pytest.raises(SettingTypeError, match=r"'v\[\d\]' is a number of 6\d bits"):
        list(leaves("v", value))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        pytest.param({3, 1, 2}, {"v": [1, 2, 3]}, id="numbers"),
        pytest.param(frozenset({2.5, -np.inf, np.nan}), {"v": [-np.inf, 2.5, np.nan]}, id="NaN"),
        pytest.param({"b", "a"}, {"v.a": "a", "v.b": "b"}, id="texts"),
        pytest.param({"a", 1}, {"v.a": "a", "v[1]": 1}, id="mixed"),
        pytest.param({(2, "x"), (1, "y")}, {"v[(1, 'y')][0]": 1, "v[(1, 'y')][1]": "y", "v[(2, 'x')][0]": 2,
                                            "v[(2, 'x')][1]": "x"}, id="tuples"),
        pytest.param(set(), {}, id="empty"),
    ],
)  # fmt: skip
def test_the_members_of_a_set_have_no_order(value: Any, found: dict[str, Any]) -> None:
    told = {leaf.name: leaf.content if isinstance(leaf.content, str) else leaf.content.tolist()
            for leaf in leaves("v", value)}  # fmt: skip
    assert list(told) == sorted(told)
    assert str(told) == str(found)  # NaN is not equal to itself


@pytest.mark.parametrize("member", [None, object(), frozenset({"a"}), ("a", None)])
def test_a_member_without_a_name_is_refused(member: Any) -> None:
    with pytest.raises(SettingTypeError, match=r"is a set with a member of type \w+, which has no name"):
        list(leaves("v", {member, "a"}))


def test_the_order_of_a_mapping_says_nothing() -> None:
    assert names({"a": 1, "b": 2}) == names({"b": 2, "a": 1})


@pytest.mark.parametrize("dtype", dtypes.STORED, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_every_dtype_and_shape_is_kept(dtype: dtypes.DType, shape: tuple[int, ...]) -> None:
    array = np.arange(6)[: int(np.prod(shape))].reshape(shape).astype(dtype.numpy)
    (leaf,) = leaves("v", array)
    record = record_of(leaf, "v", "t.py:1")
    assert (record.dtype, record.shape, record.key.operator, record.source) == (dtype.name, shape, "check/v", "t.py:1")
    assert record.load().tobytes() == array.tobytes()


def test_it_is_taken_as_it_is_now() -> None:
    array = np.arange(3.0)
    (leaf,) = leaves("v", array)
    record = record_of(leaf, "v", None)
    array[0] = 9
    assert record.load().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("value", "dtype", "content"),
    [
        (True, "Bool", True), (3, "Int64", 3), (2.5, "Float64", 2.5), (1j, "Complex128", 1j),
        (np.arange(3, dtype=">i4"), "Int32", [0, 1, 2]), (np.arange(4).reshape(2, 2).T, "Int64", [[0, 2], [1, 3]]),
        (Foreign(), "Int16", [0, 1, 2]), (Capsule(), "Float64", [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_what_is_an_array(value: Any, dtype: str, content: Any) -> None:
    (leaf,) = leaves("v", value)
    record = record_of(leaf, "v", None)
    assert (record.dtype, record.load().tolist()) == (dtype, content)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), r"'v' is of type object; accepted are numpy arrays"),
        ({"a": [1, {b"2"}]}, r"'v.a\[1\]' is a set with a member of type bytes"),
        (np.array(["a"]), r"'v' is an array of dtype <U1; dtypes that can be kept are bfloat16, bool"),
        (np.array([object()]), "an array of dtype object"),
        (np.longdouble(1), "an array of dtype "),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "'v' is a masked array; hand over .*'mask': x.mask"),
        (Broken(), "values of 'v' .a .*Broken. cannot be read: RuntimeError: lies on another device$"),
        (Output, "'v' is of type type; accepted"),
    ],
)
def test_what_is_refused(value: Any, message: str) -> None:
    with pytest.raises(SettingTypeError, match=message) as caught:
        list(leaves("v", value))
    assert "\n" not in str(caught.value)


def test_what_holds_itself() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(SettingError, match="nested deeper than 32"):
        list(leaves("v", value))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner),
)


@given(VALUES)
def test_anything_is_taken_apart_or_refused(value: Any) -> None:
    told, found = "", []
    try:
        found = list(leaves("v", value))
    except HarnessError as error:
        told = str(error)
    assert "\n" not in told
    for leaf in found:
        assert leaf.name.startswith("v")
        assert isinstance(leaf.content, str) or record_of(leaf, "v", None).digest


def test_ml_dtypes_are_told_apart() -> None:
    same = [record_of(leaf, "v", None) for name in ("float8_e4m3fn", "float8_e5m2")
            for leaf in leaves("v", np.zeros(2, getattr(ml_dtypes, name)))]  # fmt: skip
    assert same[0].digest != same[1].digest
