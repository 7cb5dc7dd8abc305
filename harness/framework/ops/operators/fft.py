"""Discrete Fourier transforms over one axis, two or several: of real and of complex tensors.

Source: what NumPy defines; names, arguments and dtypes of MindSpore 2.10.0, measured. ``norm`` is 0 ``backward``,
1 ``forward``, 2 ``ortho``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, UnsupportedError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.expansion import constant_value
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

_NORMS = ("backward", "forward", "ortho")
_DOUBLE = (dtypes.float64, dtypes.complex128)


def _whole(value: Any) -> tuple[int, ...] | None:
    """A constant tensor of numbers."""
    return None if value is None else tuple(np.atleast_1d(value).astype(int).tolist())


class _Transform(Operator):
    """x, lengths or None, axes or None (the last ones), norm or None. Constants are tensors."""

    tensors = (0,)
    #: of real numbers
    real: ClassVar[bool] = False
    #: whether the last axis holds half of a spectrum: of the input, of the result
    halves: ClassVar[tuple[bool, bool]] = (False, False)
    compute: ClassVar[Callable[..., Array]]
    #: the transform that goes back
    inverse: ClassVar[str] = ""

    @staticmethod
    def settings(call: Call) -> tuple[list[int], list[int] | None, str]:
        """Axes (from 0 on), lengths, norm."""
        _, lengths, axes, norm = call.values
        rank = len(call.shape(0))
        given, sizes = _whole(axes), _whole(lengths)
        if given is None:
            given = tuple(range(rank - len(sizes), rank)) if sizes is not None else tuple(range(rank))
        if any(not -rank <= axis < rank for axis in given) or len({axis % rank for axis in given}) != len(given):
            raise call.fail(f"there are no axes {list(given)}")
        if sizes is not None and (len(sizes) != len(given) or min(sizes) < 1):
            raise call.fail(f"lengths {list(sizes)} must be above 0, one for each axis")
        kind = _NORMS[0 if norm is None else int(np.asarray(norm))]
        return [axis % rank for axis in given], None if sizes is None else list(sizes), kind

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        if x.dtype.kind == "b" or (self.halves[1] and x.dtype.kind == "c"):
            raise DtypeError(f"{self.name} does not take {x.dtype} tensors")
        axes, sizes, _ = self.settings(call)
        shape = list(x.shape)
        last = axes[-1]
        if self.halves[0] and sizes is None:
            shape[last] = 2 * (shape[last] - 1)
        for axis, size in zip(axes, sizes or [], strict=False):
            shape[axis] = size
        if self.halves[1]:
            shape[last] = shape[last] // 2 + 1
        if min(shape) < 1:
            raise call.fail("an axis would be empty")
        return TensorSpec(self.result(x.dtype), tuple(shape))

    def result(self, dtype: DType) -> DType:
        """The dtype of the result."""
        double = dtype in _DOUBLE
        if self.halves[0]:
            return dtypes.float64 if double else dtypes.float32
        return dtypes.complex128 if double else dtypes.complex64

    def kernel(self, call: Call, x: Array, _lengths: Any, _axes: Any, _norm: Any) -> Array:
        axes, sizes, norm = self.settings(call)
        wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        return type(self).compute(wide, sizes, axes, norm)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, lengths, axes, norm = b.inputs
        if self._is_its_own(x, lengths, axes):
            lengths = None
        if self.name in _HALVES and lengths is None:
            takes, back = _HALVES[self.name]
            turned = norm if self.name == "IHFFT" else _turned(norm)
            return (_of_whole if takes else _of_half)(back, x, b.dout, axes, turned), None, None, None
        if any(self.halves) or lengths is not None:
            raise UnsupportedError(
                f"the gradient of {self.name} is not supported{'' if any(self.halves) else ' with n'}"
            )
        found = emit(self.inverse, b.dout, None, axes, _turned(norm))
        return _real_part(found, x), None, None, None

    def _is_its_own(self, x: Any, length: Any, axis: Any) -> bool:
        """Whether a length given to a transform over one axis is the one it has by itself."""
        if length is None or self.name[-1] in "2N":
            return False
        count = x.shape[_number(axis)]
        own: int = 2 * (count - 1) if self.halves[0] else count
        return _number(length) == own


def _turned(norm: Any) -> Any:
    """The norm with which the inverse is the transform's transpose."""
    return Tensor(np.asarray((1, 0, 2)[0 if norm is None else _number(norm)], np.int64))


def _real_part(found: Any, x: Any) -> Any:
    return found if x.dtype.kind == "c" else emit("Cast", found, x.dtype)


#: transforms over one axis with half a spectrum or signal: whether they take it, and what leads back. That of IHFFT
#: is the transpose of its conjugate (measured: ``tests/data/programs/gradients_of_half_transforms.txt``)
_HALVES = {"RFFT": (False, "IFFT"), "IHFFT": (False, "IFFT"), "IRFFT": (True, "RFFT"), "HFFT": (True, "IHFFT")}


def _of_half(back: str, x: Any, dout: Any, axis: Any, norm: Any) -> Any:
    """The gradient of RFFT and IHFFT: the half goes back as a whole whose other half is 0."""
    length = Tensor(np.asarray(x.shape[_number(axis)], np.int64))
    return _real_part(emit(back, dout, length, axis, norm), x)


def _of_whole(back: str, x: Any, dout: Any, axis: Any, norm: Any) -> Any:
    """The gradient of IRFFT and HFFT: all but the first and the last number of half a spectrum count twice."""
    count = x.shape[_number(axis)]
    weights = np.full(count, 2.0)
    weights[[0, -1]] = 1
    shape = [1] * len(x.shape)
    shape[_number(axis)] = count
    found = _real_part(emit(back, dout, None, axis, norm), x)
    return emit("Mul", found, Tensor(weights.reshape(shape).astype(x.dtype.numpy), x.dtype))


def _number(value: Any) -> int:
    """A constant's number."""
    known = constant_value(value) if isinstance(value, Tensor) else value
    return int(known)  # type: ignore[arg-type]


def _hermitian(x: Array, sizes: Any, axes: list[int], norm: Any) -> Array:
    """A real spectrum of half a signal along the last axis; whole transforms along the others."""
    for at, axis in enumerate(axes[:-1]):
        x = np.fft.fft(x, None if sizes is None else sizes[at], axis, norm)
    return np.fft.hfft(x, None if sizes is None else sizes[-1], axes[-1], norm)


def _half_signal(x: Array, sizes: Any, axes: list[int], norm: Any) -> Array:
    """Half a signal of a real spectrum along the last axis; inverse transforms along the others."""
    out = np.fft.ihfft(x, None if sizes is None else sizes[-1], axes[-1], norm)
    for at, axis in enumerate(axes[:-1]):
        out = np.fft.ifft(out, None if sizes is None else sizes[at], axis, norm)
    return out


_BASES: dict[str, tuple[Any, tuple[bool, bool], str]] = {
    "FFT": (np.fft.fftn, (False, False), "IFFT"),
    "IFFT": (np.fft.ifftn, (False, False), "FFT"),
    "RFFT": (np.fft.rfftn, (False, True), ""),
    "IRFFT": (np.fft.irfftn, (True, False), ""),
    "HFFT": (_hermitian, (True, False), ""),
    "IHFFT": (_half_signal, (False, True), ""),
}
for _base, (_compute, _halves, _inverse) in _BASES.items():
    for _end in ("", "2", "N"):
        _members = {
            "__doc__": f"``numpy.fft.{(_base + _end).lower()}``; see ``_Transform``.", "__module__": __name__,
            "name": _base + _end, "compute": staticmethod(_compute), "halves": _halves,
            "inverse": _inverse + _end if _inverse else "",
        }  # fmt: skip
        operator(type(_base + _end, (_Transform,), _members))


class _Shift(Operator):
    """x, and axes or None (all): half of each axis moved to its other end."""

    tensors = (0,)
    compute: ClassVar[Callable[..., Array]]
    inverse: ClassVar[str]

    def infer(self, call: Call) -> Spec:
        rank, axes = len(call.shape(0)), _whole(call.values[1])
        if axes is not None and any(not -rank <= axis < rank for axis in axes):
            raise call.fail(f"there are no axes {list(axes)}")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, _axes: Any) -> Array:
        return type(self).compute(x, _whole(call.values[1]))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit(self.inverse, b.dout, b.inputs[1]), None


@operator
class FFTShift(_Shift):
    """The first half last."""

    name = "FFTShift"
    compute = staticmethod(np.fft.fftshift)
    inverse = "IFFTShift"


@operator
class IFFTShift(_Shift):
    """What ``FFTShift`` undoes."""

    name = "IFFTShift"
    compute = staticmethod(np.fft.ifftshift)
    inverse = "FFTShift"


class _Frequencies(Operator):
    """The number of elements, their distance (a constant tensor), and the number of a dtype or None."""

    compute: ClassVar[Callable[..., Array]]

    def infer(self, call: Call) -> Spec:
        count, _, kind = call.values
        if count < 1:
            raise call.fail("the number of elements must be above 0")
        size = count if self.name == "FFTFreq" else count // 2 + 1
        return TensorSpec(dtypes.float32 if kind is None else KINDS[int(np.asarray(kind))], (size,))

    def kernel(self, call: Call, count: int, distance: Any, _kind: Any) -> Array:
        return type(self).compute(count, float(np.asarray(distance)))


#: dtypes by the numbers graphs show
KINDS = {42: dtypes.float16, 43: dtypes.float32, 44: dtypes.float64}


@operator
class FFTFreq(_Frequencies):
    """The frequencies of a spectrum."""

    name = "FFTFreq"
    compute = staticmethod(np.fft.fftfreq)


@operator
class RFFTFreq(_Frequencies):
    """Those of half a spectrum."""

    name = "RFFTFreq"
    compute = staticmethod(np.fft.rfftfreq)
