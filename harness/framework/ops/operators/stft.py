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
        check_kind(call, "f", 0, 1)
        signal, window = call.shape(0), call.shape(1)
        size, hop, width = (call.attrs[name] for name in ("n_fft", "hop_length", "win_length"))
        if len(signal) not in (1, 2) or not 0 < size <= signal[-1]:
            raise call.fail(f"a signal of one or two axes, of at least n_fft {size} elements, is needed")
        if hop < 1 or not 0 < width <= size or window != (width,):
            raise call.fail(f"hop_length {hop} must be above 0, and a window of win_length {width} at most n_fft")
        shape = (*signal[:-1], size // 2 + 1 if call.attrs["onesided"] else size, 1 + (signal[-1] - size) // hop)
        if call.attrs["return_complex"]:
            wide = call.dtype(0) is dtypes.float64 or call.dtype(1) is dtypes.float64
            return TensorSpec(dtypes.complex128 if wide else dtypes.complex64, shape)
        return TensorSpec(call.dtype(0), (*shape, 2))

    def kernel(self, call: Call, signal: Array, window: Array) -> Array:
        size, hop = call.attrs["n_fft"], call.attrs["hop_length"]
        shape = call.outputs()[0].shape
        count, stretches = shape[signal.ndim - 1 : signal.ndim + 1]
        left = (size - len(window)) // 2
        weights = np.pad(numerics.wide(window), (left, size - len(window) - left))
        places = np.arange(stretches)[:, None] * hop + np.arange(size)
        parts = numerics.wide(signal)[..., places] * weights
        turn = (np.arange(count)[:, None, None] * np.arange(size)) % size * np.longdouble(2 * np.pi / size)
        both = [numerics.total(parts[..., None, :, :] * factor, -1) for factor in (np.cos(turn), -np.sin(turn))]
        scale = 1 / np.sqrt(size) if call.attrs["normalized"] else 1.0
        real, imaginary = (part * scale for part in both)
        if call.attrs["return_complex"]:
            return np.asarray(real.astype(np.float64) + 1j * imaginary.astype(np.float64))
        return np.stack([real, imaginary], -1)
