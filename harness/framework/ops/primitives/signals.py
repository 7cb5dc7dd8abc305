"""Primitives of signals: windows, and transforms of what they cut out."""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.framework.ops.functions import windows
from harness.framework.ops.primitive import Primitive

__all__ = ["STFT", "BartlettWindow", "BlackmanWindow"]


class STFT(Primitive):
    """The spectra of stretches of a signal."""

    def __init__(
        self, n_fft: int, hop_length: int, win_length: int, normalized: bool, onesided: bool, return_complex: bool
    ) -> None:
        super().__init__(attrs={
            "hop_length": hop_length, "input_names": ["x", "window"], "onesided": onesided, "n_fft": n_fft,
            "output_names": ["y"], "win_length": win_length, "normalized": normalized,
            "return_complex": return_complex,
        })  # fmt: skip


class BartlettWindow(Primitive):
    """A triangle of so many elements."""

    def __init__(self, periodic: bool = True, dtype: Any = dtypes.float32) -> None:
        super().__init__(attrs=windows.window_attrs(self.name, periodic, dtype))


class BlackmanWindow(BartlettWindow):
    """Blackman's window of so many elements."""
