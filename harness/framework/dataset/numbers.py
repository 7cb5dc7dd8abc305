"""Numbers at the start of texts, as C++'s ``stoi`` and ``stof`` read them.

Source: MindSpore 2.10.0, measured (``tests/interop/text_facts.py``, ``lines_facts.py``).
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

_WHOLE = re.compile(r"\s*([+-]?\d+)")
_FRACTION = re.compile(
    r"\s*([+-]?(?:0x(?:[\da-f]+\.?[\da-f]*|\.[\da-f]+)(?:p[+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan))",
    re.IGNORECASE,
)


def number(text: str, dtype: np.dtype[Any]) -> int | float | None:
    """The number that ``text`` begins with, whatever follows it; None if there is none that ``dtype`` can hold.

    Floats below the smallest normal one of 32 bits (64 for float64) are none; no unsigned type takes a "-".
    """
    if dtype.kind == "f":
        return _fraction(text, dtype)
    found = _WHOLE.match(text)
    if found is None or (dtype.kind == "u" and "-" in text):
        return None
    limits, value = np.iinfo(dtype), int(found[1]) if len(found[1]) < 30 else math.inf
    return value if limits.min <= value <= limits.max else None


def _fraction(text: str, dtype: np.dtype[Any]) -> float | None:
    found = _FRACTION.match(text)
    if found is None:
        return None
    said = found[1].lower()
    if "n" in said:
        return float(said)
    hexadecimal = "x" in said
    try:
        value = float.fromhex(said) if hexadecimal else float(said)
    except OverflowError:
        return None
    read = np.finfo(np.float64 if dtype.itemsize == 8 else np.float32)
    digits = re.split("p" if hexadecimal else "e", said)[0].replace("0x", "")
    with np.errstate(over="ignore"):
        held = float(read.dtype.type(value))
    if not math.isfinite(held) or abs(held) > float(np.finfo(dtype).max):
        return None
    return None if abs(held) < read.tiny and digits.strip("+-0.") else value
