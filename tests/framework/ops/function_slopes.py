"""Functions whose gradients are confirmed by differences: special functions, matrices, segments and scattering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import Tensor, dtypes, ops
from harness.framework.tensor import call

IDS = Tensor(np.array([1, 0, 1, -1]), dtypes.int32)
SORTED = Tensor(np.array([0, 0, 2, 2]), dtypes.int32)
SPOTS = Tensor(np.array([[0, 2], [1, 0], [0, 2]]), dtypes.int32)
SECOND = Tensor(np.asarray(2), dtypes.int32)


def square(x: Any) -> Any:
    """A matrix far from a singular one."""
    return x + 4 * ops.eye(3, 3, x.dtype)


def above(x: Any) -> Any:
    """Numbers from 1.5 on."""
    return abs(x) + 1.5


Case = tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]
CASES: dict[str, Case] = {
    "BesselI0": (ops.bessel_i0, ((3, 4),)),
    "BesselI1": (ops.bessel_i1, ((3, 4),)),
    "BesselI0e": (ops.bessel_i0e, ((3, 4),)),
    "BesselI1e": (ops.bessel_i1e, ((3, 4),)),
    "BesselJ0": (ops.bessel_j0, ((3, 4),)),
    "BesselJ1": (ops.bessel_j1, ((3, 4),)),
    "BesselY0": (lambda x: ops.bessel_y0(above(x)), ((3, 4),)),
    "BesselY1": (lambda x: ops.bessel_y1(above(x)), ((3, 4),)),
    "BesselK0": (lambda x: ops.bessel_k0(above(x)), ((3, 4),)),
    "BesselK0e": (lambda x: ops.bessel_k0e(above(x)), ((3, 4),)),
    "BesselK1": (lambda x: ops.bessel_k1(above(x)), ((3, 4),)),
    "BesselK1e": (lambda x: ops.bessel_k1e(above(x)), ((3, 4),)),
    "ResizeBicubic": (lambda x: ops.interpolate(x, (4, 5), mode="bicubic"), ((1, 2, 3, 4),)),
    "UpsampleNearest1D": (lambda x: call("UpsampleNearest1D", x, (5,), None), ((1, 2, 3),)),
    "UpsampleNearest2D": (lambda x: call("UpsampleNearest2D", x, (3, 4), None), ((1, 1, 2, 3),)),
    "FractionalMaxPool3D": (
        lambda x: ops.fractional_max_pool3d(
            x, 2, (2, 1, 2), _random_samples=Tensor(np.full((1, 1, 3), 0.4, np.float32))
        ),
        ((1, 1, 4, 3, 5),),
    ),
    "UpsampleNearest3D": (lambda x: ops.interpolate(x, (3, 4, 5)), ((1, 1, 2, 3, 4),)),
    "UpsampleTrilinear3D": (lambda x: ops.interpolate(x, (3, 4, 5), mode="trilinear"), ((1, 1, 2, 3, 4),)),
    "CholeskyInverse": (lambda x: ops.cholesky_inverse(ops.triu(square(x)), True), ((3, 3),)),
    "CholeskySolve": (lambda x, y: ops.cholesky_solve(x, ops.tril(square(y))), ((3, 2), (3, 3))),
    "CholeskySolve, upper": (lambda x, y: ops.cholesky_solve(x, ops.triu(square(y)), True), ((3, 2), (3, 3))),
    "Cross": (ops.cross, ((2, 3), (2, 3))),
    "CumulativeLogsumexp": (lambda x: ops.logcumsumexp(x, 1), ((3, 4),)),
    "Digamma": (lambda x: ops.digamma(above(x)), ((3, 4),)),
    "DivNoNan": (lambda x, y: ops.DivNoNan()(x, above(y)), ((3, 4), (4,))),
    "Erfinv": (lambda x: ops.erfinv(0.4 * ops.tanh(x)), ((3, 4),)),
    "Col2Im": (lambda x: ops.fold(x, Tensor(np.array([3, 4]), dtypes.int32), 2), ((1, 8, 6),)),
    "Im2Col": (lambda x: ops.unfold(x, 2, 1, 1, 2), ((1, 2, 3, 4),)),
    "Pdist": (lambda x: ops.pdist(x, 3.0), ((3, 2),)),
    "AffineGrid": (lambda x: ops.affine_grid(x, (2, 1, 2, 3)), ((2, 2, 3),)),
    "GridSampler2D": (lambda x, y: ops.grid_sample(x, 0.9 * ops.tanh(y)), ((1, 2, 3, 4), (1, 2, 3, 2))),
    "GridSampler2D, reflected": (
        lambda x, y: ops.grid_sample(x, 3 * y, "bilinear", "reflection", True),
        ((1, 2, 3, 4), (1, 2, 3, 2)),
    ),
    "GridSampler3D": (
        lambda x, y: ops.grid_sample(x, 2 * y, "bilinear", "border"),
        ((1, 2, 2, 3, 4), (1, 2, 1, 3, 3)),
    ),
    "MatrixSolve": (lambda x, y: ops.matrix_solve(square(x), y), ((3, 3), (3, 2))),
    "MatrixSolve, adjoint": (lambda x, y: ops.matrix_solve(square(x), y, True), ((2, 3, 3), (2, 3, 2))),
    "MaxPool3DWithArgmax": (lambda x: ops.max_pool3d(x, 2, 1), ((1, 2, 3, 3, 3),)),
    "Svd": (lambda x: ops.svd(x)[0] * 3, ((3, 2),)),
    "Svd, values alone": (lambda x: ops.svd(x, compute_uv=False), ((2, 3, 2),)),
    "Svd, vectors": (lambda x: ops.svd(x)[1] * ops.svd(x)[2][0], ((3, 2),)),
    "Svd, wide": (lambda x: ops.svd(x)[2] * 3, ((2, 4),)),
    "BatchToSpaceND": (lambda x: ops.batch_to_space_nd(x, [2, 2], [[0, 1], [1, 0]]), ((4, 1, 2, 2),)),
    "SpaceToBatchND": (lambda x: ops.space_to_batch_nd(x, [2, 3], [[1, 0], [0, 1]]), ((1, 2, 3, 5),)),
    "FFT": (lambda x: ops.real(ops.fft(x)) * 3, ((3, 4),)),
    "IFFT": (lambda x: ops.real(ops.ifft(x, dim=0)) * 3, ((3, 4),)),
    "FFT2": (lambda x: ops.imag(ops.fft2(x, norm="ortho")) * 3, ((3, 4),)),
    "IFFT2": (lambda x: ops.imag(ops.ifft2(x)) * 9, ((3, 4),)),
    "FFTN": (lambda x: ops.imag(ops.fftn(x, dim=(0, 2))) * 3, ((3, 2, 4),)),
    "IFFTN": (lambda x: ops.real(ops.ifftn(x, norm="forward")) * 3, ((3, 2, 4),)),
    "FFTShift": (lambda x: ops.fftshift(x) * x, ((3, 4),)),
    "IFFTShift": (lambda x: ops.ifftshift(x, 1) * x, ((3, 4),)),
    "IRFFT": (lambda x: ops.irfft(x, dim=0) * 3, ((4, 2),)),
    "RFFT": (lambda x: ops.imag(ops.rfft(x, norm="ortho")) * 3, ((2, 5),)),
    "Fmax": (ops.fmax, ((3, 4), (4,))),
    "Ger": (ops.ger, ((3,), (4,))),
    "Igamma": (lambda x, y: ops.igamma(above(x), above(y)), ((3, 4), (4,))),
    "Igammac": (lambda x, y: ops.igammac(above(x), above(y)), ((3, 4), (4,))),
    "Inv": (lambda x: ops.inv(above(x)), ((3, 4),)),
    "Lgamma": (lambda x: ops.lgamma(above(x)), ((3, 4),)),
    "Logit": (lambda x: ops.logit(0.5 + 0.4 * ops.tanh(x)), ((3, 4),)),
    "Logit within": (lambda x: ops.logit(0.5 + 0.4 * ops.tanh(x), 0.05), ((3, 4),)),
    "LogMatrixDeterminant": (lambda x: ops.slogdet(square(x))[1] * 3, ((3, 3),)),
    "MatrixBandPart": (lambda x: ops.matrix_band_part(x, 1, 0) * 3, ((3, 4),)),
    "MatrixDeterminant": (lambda x: ops.det(x) * 3, ((2, 3, 3),)),
    "MatrixDiagPartV3": (lambda x: _part(x, 1) * 3, ((3, 4),)),
    "MatrixDiagV3": (lambda x: ops.matrix_diag(x, 1) * 3, ((2, 3),)),
    "MatrixInverse": (lambda x: ops.inverse(square(x)), ((3, 3),)),
    "MatrixInverse, stacked": (lambda x: ops.inverse(square(x)), ((2, 3, 3),)),
    "MatrixPower": (lambda x: ops.matrix_power(x, 3), ((2, 3, 3),)),
    "MatrixPower, inverse": (lambda x: ops.matrix_power(square(x), -2), ((2, 3, 3),)),
    "MatrixSetDiagV3": (lambda x, y: ops.matrix_set_diag(x, y) * 3, ((3, 3), (3,))),
    "MulNoNan": (lambda x, y: ops.MulNoNan()(x, y), ((3, 4), (4,))),
    "Mvlgamma": (lambda x: ops.mvlgamma(above(x), 2), ((3, 4),)),
    "NextAfter": (lambda x, y: ops.nextafter(x, y) * 3, ((3, 4), (3, 4))),
    "Polygamma": (lambda x: ops.polygamma(SECOND, above(x)), ((3, 4),)),
    "Renorm": (lambda x: ops.renorm(x, 2, 0, 0.5), ((3, 4),)),
    "Renorm by 1": (lambda x: ops.renorm(x, 1, 1, 0.5), ((3, 4),)),
    "Renorm by 3": (lambda x: ops.renorm(x, 3, 0, 0.5), ((3, 4),)),
    "SegmentMax": (lambda x: ops.SegmentMax()(x, SORTED), ((4, 3),)),
    "SegmentMin": (lambda x: ops.SegmentMin()(x, SORTED), ((4, 3),)),
    "SegmentSum": (lambda x: ops.SegmentSum()(x, SORTED) * 3, ((4, 3),)),
    "Sinc": (ops.sinc, ((3, 4),)),
    "SquareSumAll": (lambda x, y: ops.SquareSumAll()(x, y)[0] * ops.SquareSumAll()(x, y)[1], ((3, 4), (3, 4))),
    "TensorScatterDiv": (lambda x, y: ops.tensor_scatter_div(x, SPOTS[:2], above(y)), ((3, 4), (2,))),
    "TensorScatterMax": (lambda x, y: ops.tensor_scatter_max(x, SPOTS, y) * 3, ((3, 4), (3,))),
    "TensorScatterMin": (lambda x, y: ops.tensor_scatter_min(x, SPOTS, y) * 3, ((3, 4), (3,))),
    "TensorScatterMul": (lambda x, y: ops.tensor_scatter_mul(x, SPOTS[:2], y), ((3, 4), (2,))),
    "UnsortedSegmentMax": (lambda x: ops.unsorted_segment_max(x, IDS, 2), ((4, 3),)),
    "UnsortedSegmentMin": (lambda x: ops.unsorted_segment_min(x, IDS, 2), ((4, 3),)),
    "UnsortedSegmentProd": (lambda x: ops.unsorted_segment_prod(x, IDS, 2), ((4, 3),)),
    "Xdivy": (lambda x, y: ops.xdivy(x, above(y)), ((3, 4), (4,))),
    "Xlogy": (lambda x, y: ops.xlogy(x, above(y)), ((3, 4), (4,))),
    "Zeta": (lambda y: ops.zeta(Tensor(np.array([2.5, 3.0, 4.0, 2.0])), above(y)), ((3, 4),)),
}


def _part(x: Any, k: int) -> Any:
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["x", "k", "padding_value"], "align": "RIGHT_LEFT"}
    padding = Tensor(np.zeros((), x.dtype.numpy))
    return call("MatrixDiagPartV3", x, Tensor(np.asarray(k, np.int32)), padding, **names, max_length=200000000)
