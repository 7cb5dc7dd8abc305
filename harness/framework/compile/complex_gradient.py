"""Gradients through complex numbers.

Source: MindSpore 2.10.0 CPU, measured. The gradient of an analytic function is multiplied by the conjugate of its
slope; of other operators that compute with complex numbers the real one refuses the gradient of some (``Mul``, ``Pow``,
``MeanExt``, ``ProdExt``, ``Tan``), and here all are refused.
"""

from __future__ import annotations

from typing import Any

from harness.errors import DtypeError
from harness.framework.tensor import Tensor, call

#: operators whose gradient takes no value of a complex argument, or knows complex numbers
_AS_THEY_ARE = frozenset(
    {
        "Add", "AddN", "AddScalar", "Angle", "Cast", "Complex", "ComplexAbs", "Concat", "Conj", "ConcatOffset", "Equal",
        "ExpandDims", "Flatten", "Gather", "GatherD", "GatherNd", "HFFT", "Identity", "Imag", "MaskedSelect", "Muls",
        "Neg", "NotEqual", "OnesLike", "Real", "ReduceSum", "Reshape", "Reverse", "Select", "Shape", "Slice", "Split",
        "Squeeze", "Stack", "StopGradient", "StridedSlice", "Sub", "SubExt", "SumExt", "TensorMove", "Tile",
        "Transpose", "Unstack", "ZerosLike",
    }
)  # fmt: skip
_ANALYTIC = frozenset(
    {
        "BatchMatMul", "Cos", "Cosh", "Exp", "Log", "MatMul", "MatMulExt", "Reciprocal", "Rsqrt",
        "Sigmoid", "Sin", "Sinh", "Sqrt", "Tanh",
    }
)  # fmt: skip


def prepared(op: str, inputs: list[Any], out: Any) -> tuple[tuple[Any, ...], Any]:
    """Arguments and result of ``op`` as its gradient takes them; ``DtypeError`` where there is none."""
    if not any(_is_complex(value) for value in _flat(inputs)) or op in _AS_THEY_ARE:
        return tuple(inputs), out
    if op not in _ANALYTIC:
        raise DtypeError(f"For '{op}', gradient not support for complex type currently.")
    return tuple(_conjugate(value) for value in inputs), _conjugate(out)


def _conjugate(value: Any) -> Any:
    return call("Conj", value) if _is_complex(value) else value


def _is_complex(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.kind == "c"


def _flat(values: list[Any]) -> list[Any]:
    return [member for value in values for member in (value if isinstance(value, (tuple, list)) else (value,))]
