"""Singular values, pseudo-inverses, systems of linear equations, and spectra of signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError, ShapeError
from harness.framework.tensor import Tensor, call, tensor_method

__all__ = ["geqrf", "lstsq", "lu_solve", "lu_unpack", "matrix_solve", "orgqr", "pinv", "stft", "svd"]


@tensor_method("svd")
def svd(input: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular values, descending, and the matrices u and v of ``input`` (..., m, n), ``u * s @ v.T``; the values
    alone without ``compute_uv``."""
    for value, name in ((full_matrices, "full_matrices"), (compute_uv, "compute_uv")):
        if not isinstance(value, bool):
            raise SettingTypeError(f"svd: {name} must be a bool, got {value!r}")
    found = call("Svd", input, full_matrices, compute_uv)
    return found if compute_uv else found[0]


@tensor_method("geqrf")
def geqrf(input: Any) -> Any:
    """R and Householder's reflectors of ``input`` (..., m, n) in one matrix, and the reflectors' factors."""
    return call("Geqrf", input)


@tensor_method("orgqr")
def orgqr(input: Any, input2: Any) -> Any:
    """The first n columns of the product of the reflectors below the diagonal of ``input`` (..., m, n), whose factors
    are ``input2``."""
    return call("Orgqr", input, input2, output_names=["y"], input_names=["x", "tau"])


def _bound(value: Any) -> Any:
    """A tolerance as a tensor."""
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value, np.float32))


def _check_matrices(x: Any) -> None:
    if not isinstance(x, Tensor) or not x.shape:
        raise DtypeError(f"pinv: a tensor of at least 2 dimensions is needed, got {x!r}")
    if len(x.shape) < 2:
        raise ShapeError(f"pinv: a tensor of at least 2 dimensions is needed, got {x.shape}")
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise DtypeError(f"pinv: x must be Float32 or Float64, got {x.dtype}")


def pinv(x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The pseudo-inverses (..., n, m) of ``x`` (..., m, n): singular values of at most ``atol``, or ``rtol`` times the
    largest, count as 0; ``hermitian``: x is symmetric."""
    _check_matrices(x)
    if not isinstance(hermitian, bool):
        raise SettingTypeError(f"pinv: hermitian must be a bool, got {hermitian!r}")
    if rtol is None:
        least = Tensor(np.asarray(max(x.shape) * np.finfo(x.dtype.numpy).eps, x.dtype.numpy))
        rtol = least if atol is None else 0.0
    floor = call("ExpandDims", _bound(0.0 if atol is None else atol), -1)
    share = call("ExpandDims", _bound(rtol), -1)
    if hermitian:
        attrs: dict[str, Any] = {
            "output_names": ["output_w", "output_v"], "compute_eigenvectors": True, "input_names": ["A"], "lower": True,
        }  # fmt: skip
        values, u = call("Eigh", x, **attrs)
        size, right = call("Abs", values), u
        largest = call("ReduceMax", size, (-1,), True)
    else:
        values, u, right = call("Svd", x, False, True)
        size = values
        begin, end = (0,) * len(values.shape), (*values.shape[:-1], 1)
        largest = call("Slice", values, begin, end)
    counts = call("Greater", size, call("Maximum", floor, call("Mul", share, largest)))
    inverse = call("Reciprocal", values)
    if not hermitian:
        inverse = call("BroadcastTo", inverse, counts.shape)
    zeros = Tensor(np.zeros(counts.shape, x.dtype.numpy), x.dtype)
    scaled = call("Mul", right, call("ExpandDims", call("Select", counts, inverse, zeros), -2))
    axes = tuple(range(len(x.shape)))
    turned = call("Transpose", call("Conj", u), (*axes[:-2], axes[-1], axes[-2]))
    return call("MatMulExt", scaled, turned)


@tensor_method("lstsq")
def lstsq(input: Any, A: Any) -> Any:
    """The (n, k) whose product with ``input`` (m, n) is nearest to ``A`` (m, k) or (m,)."""
    return call("Lstsq", input, A, fast=True, l2_regularizer=0.0)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """The (..., n, k) whose product with ``matrix`` (..., n, n), or with the transposed one, is ``rhs``."""
    if not isinstance(adjoint, bool):
        raise SettingTypeError(f"matrix_solve: adjoint must be a bool, got {adjoint!r}")
    return call("MatrixSolve", matrix, rhs, adjoint=adjoint)


def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """The solution (n, k) for the matrix that was decomposed into ``LU_data`` and ``LU_pivots``."""
    return call("LuSolve", b, LU_data, LU_pivots)


def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The permutation and the two triangles of a decomposition; None for what is not asked for."""
    for value, name in ((unpack_data, "unpack_data"), (unpack_pivots, "unpack_pivots")):
        if not isinstance(value, bool):
            raise SettingTypeError(f"lu_unpack: {name} must be a bool, got {value!r}")
    order, lower, upper = call("LuUnpack", LU_data, LU_pivots, unpack_pivots=True, unpack_data=True)
    return order if unpack_pivots else None, *((lower, upper) if unpack_data else (None, None))


def _padded(x: Any, by: int, mode: str) -> Any:
    """A signal with ``by`` more elements at both ends."""
    if len(x.shape) not in (1, 2):
        raise ShapeError(f"stft: a signal of one or two dimensions is needed, got {x.shape}")
    pairs = ((0, 0),) * (len(x.shape) - 1) + ((by, by),)
    if mode == "CONSTANT":
        return call("Pad", x, output_names=["y"], paddings=pairs, input_names=["x"])
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise SettingError(f"stft: pad_mode must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', got {mode!r}")
    names: dict[str, Any] = {"output_names": ["y"], "mode": mode, "input_names": ["x", "paddings"]}
    return call("MirrorPad", x, Tensor(np.array(pairs, np.int64)), **names)


def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Any:
    """The spectrum of each stretch of ``n_fft`` elements of a signal: (..., frequencies, stretches, 2), the real and
    the imaginary parts, or complex. ``center``: the signal is padded by half a stretch at both ends."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    weights = Tensor(np.ones(width, np.float32)) if window is None else window
    if not isinstance(center, bool):
        raise SettingTypeError(f"stft: center must be a bool, got {center!r}")
    signal = _padded(x, n_fft // 2, pad_mode) if center else x
    attrs: dict[str, Any] = {
        "hop_length": hop, "input_names": ["x", "window"], "onesided": True if onesided is None else onesided,
        "n_fft": n_fft, "output_names": ["y"], "win_length": width, "normalized": normalized,
        "return_complex": bool(return_complex),
    }  # fmt: skip
    return call("STFT", signal, weights, **attrs)
