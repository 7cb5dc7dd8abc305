"""The places of columns that a function makes from others."""

from __future__ import annotations

from collections.abc import Sequence


def places(names: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """Names after ``inputs`` became ``outputs``: outputs take the places of inputs; more of them stand before the kept
    columns."""
    if len(inputs) == len(outputs):
        renamed = dict(zip(inputs, outputs, strict=True))
        return [renamed.get(name, name) for name in names]
    return [*outputs, *(name for name in names if name not in inputs)]
