"""STFT: the spectrum of each stretch of a signal."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec


@operator
class STFT(Operator):
    """signal (..., length), window (win_length,): (..., frequencies, stretches, 2), real and imaginary parts, or
    complex without the last axis. Attributes n_fft, hop_length, win_length, normalized, onesided, return_complex."""

    name = "STFT"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "fc", 0)
        check_kind(call, "f", 1)
        if call.dtype(0).kind == "c" and call.attrs["onesided"]:
            raise call.fail("onesided must be False for a complex signal")
        signal, window = call.shape(0), call.shape(1)
        size, hop, width = (call.attrs[name] for name in ("n_fft", "hop_length", "win_length"))
        if len(signal) not in (1, 2) or not 0 < size <= signal[-1]:
            raise call.fail(f"a signal of one or two axes, of at least n_fft {size} elements, is needed")
        if hop < 1 or not 0 < width <= size or window != (width,):
            raise call.fail(f"hop_length {hop} must be above 0, and a window of win_length {width} at most n_fft")
        shape = (*signal[:-1], size // 2 + 1 if call.attrs["onesided"] else size, 1 + (signal[-1] - size) // hop)
        if call.attrs["return_complex"]:
            wide = {call.dtype(0), call.dtype(1)} & {dtypes.float64, dtypes.complex128}
            return TensorSpec(dtypes.complex128 if wide else dtypes.complex64, shape)
        real = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(call.dtype(0), call.dtype(0))
        return TensorSpec(real, (*shape, 2))

    def kernel(self, call: Call, signal: Array, window: Array) -> Array:
        size, hop = call.attrs["n_fft"], call.attrs["hop_length"]
        shape = call.outputs()[0].shape
        count, stretches = shape[signal.ndim - 1 : signal.ndim + 1]
        left = (size - len(window)) // 2
        weights = np.pad(numerics.wide(window), (left, size - len(window) - left))
        places = np.arange(stretches)[:, None] * hop + np.arange(size)
        turn = (np.arange(count)[:, None, None] * np.arange(size)) % size * np.longdouble(2 * np.pi / size)
        scale = 1 / np.sqrt(size) if call.attrs["normalized"] else 1.0

        def turned(given: Array) -> list[Array]:
            parts = numerics.wide(given)[..., places] * weights
            factors = np.cos(turn), -np.sin(turn)
            return [numerics.total(parts[..., None, :, :] * factor, -1) * scale + 0.0 for factor in factors]

        real, imaginary = turned(signal.real)
        if np.iscomplexobj(signal):
            of_imaginary = turned(signal.imag)
            real, imaginary = real - of_imaginary[1], imaginary + of_imaginary[0]
        if call.attrs["return_complex"]:
            return np.asarray(real.astype(np.float64) + 1j * imaginary.astype(np.float64))
        return np.stack([real, imaginary], -1)
