"""Composite operators, the registry, special functions, and the signatures of what users call."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, ops
from harness.errors import UnknownNameError, UnsupportedError
from harness.framework.ops import special
from harness.framework.ops.base import OPERATORS, Call
from harness.framework.ops.expansion import Composite, constant_value
from harness.graph import TensorSpec, spec_of
from tests.framework.ops.facts import recorded

SIGNATURES = recorded("signatures")


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_are_mindspores(name: str) -> None:
    ours = inspect.signature(getattr(ops, name)).parameters.values()
    assert [[p.name, p.kind.name.upper(), _default(p)] for p in ours] == [
        [n, kind.rsplit(".", 1)[-1].upper().replace("-", "_").replace(" OR ", "_OR_"), default]
        for n, kind, default in SIGNATURES[name]
    ]


def _default(parameter: inspect.Parameter) -> str | None:
    return None if parameter.default is parameter.empty else str(parameter.default)


def test_a_composite_is_inferred_without_data() -> None:
    composite = OPERATORS.get("Muls")
    assert isinstance(composite, Composite)
    assert composite.expansion_scope == "Expand/_Muls"
    spec = TensorSpec(dtypes.int32, (-1, 3))
    call = Call("Muls", (spec, spec_of(2.5)), (None, 2.5), {})
    assert composite.infer(call) == TensorSpec(dtypes.float32, (-1, 3))


@pytest.mark.parametrize(("dtype", "number", "result"), [
    ("float16", 2.5, "Float16"), ("bfloat16", 2, "BFloat16"), ("int8", 2, "Int8"), ("int8", 0.5, "Float32"),
    ("bool", 2, "Int64"), ("bool", 0.5, "Float32"), ("float64", 0.1, "Float64"), ("int32", True, "Int32"),
])  # fmt: skip
def test_a_number_takes_the_tensors_dtype_unless_it_is_stronger(dtype: str, number: Any, result: str) -> None:
    x = Tensor(np.array([1, 0]), dtypes.by_name(dtype))
    assert str((x * number).dtype) == str((number * x).dtype) == str((x + number).dtype) == result


def test_constants_are_known_while_a_graph_is_made() -> None:
    np.testing.assert_array_equal(constant_value(Tensor([1.0, 2.0])), [1, 2])
    assert constant_value(3) is None


def test_an_unknown_operator_names_its_kin() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean.*ReduceSum"):
        OPERATORS.get("ReduceSums")


@pytest.mark.parametrize("call", [
    "round(x, decimals=1)",
    "std(x, 0, 2)", "relu(x, inplace=True)",
])  # fmt: skip
def test_what_is_not_supported_says_so(call: str) -> None:
    with pytest.raises(UnsupportedError, match=r"ops\."):
        eval(f"ops.{call}", {"ops": ops, "x": Tensor([1.0])})


def test_error_functions() -> None:
    x = np.linspace(-9, 9, 1001)
    np.testing.assert_allclose(special.erf(x).astype(float), [math.erf(v) for v in x], rtol=3e-16)
    np.testing.assert_allclose(special.erfc(x).astype(float), [math.erfc(v) for v in x], rtol=1e-15)
    ends = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])
    np.testing.assert_array_equal(special.erf(ends), [1, -1, np.nan, 0, 0])
    np.testing.assert_array_equal(np.signbit(special.erf(ends))[3:], [False, True])
    np.testing.assert_array_equal(special.erfc(ends), [0, 2, np.nan, 1, 1])


def test_an_array_leaves_arithmetic_to_the_tensor() -> None:
    assert isinstance(np.float32(2) * Tensor([1.0]), np.ndarray)
