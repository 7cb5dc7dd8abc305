"""Summary operators: they hand a value to the ``SummaryRecord`` and are no kernels."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.primitive import Primitive
from harness.framework.ops.summaries import keep
from harness.framework.tensor import Tensor, current

__all__ = ["HistogramSummary", "ImageSummary", "ScalarSummary", "TensorSummary"]


class _Summary(Primitive):
    """Takes a tag and a tensor; gives nothing that could be used.

    Raises:
        SettingError: the tag is empty.
        SettingTypeError: the tag is no text, or the value no tensor.
    """

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, name: Any, value: Any) -> None:
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise SettingTypeError(
                f"{self.name} takes a tag and a tensor, got {type(name).__name__} and {type(value).__name__}"
            )
        if not name:
            raise SettingError(f"{self.name}: the tag must not be empty")
        kind = self.name.removesuffix("Summary")
        summarize = getattr(current(), "summarize", None)
        (keep if summarize is None else summarize)(kind, name, value)


class ScalarSummary(_Summary):
    """A number."""


class TensorSummary(_Summary):
    """All elements of a tensor."""


class ImageSummary(_Summary):
    """Pictures (n, 1 or 3, height, width)."""


class HistogramSummary(_Summary):
    """How the elements of a tensor are spread."""
