"""Values of a ``.ir`` text as Python values: constants of an argument list, attributes of a primitive.

Floats have the six digits the text has. The forms are those ``graph.ir_values`` prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType

_SHORT = {
    "Bool": "Bool", "I8": "Int8", "I16": "Int16", "I32": "Int32", "I64": "Int64", "U8": "UInt8", "U16": "UInt16",
    "U32": "UInt32", "U64": "UInt64", "F16": "Float16", "F32": "Float32", "F64": "Float64", "BF16": "BFloat16",
    "C64": "Complex64", "C128": "Complex128",
}  # fmt: skip
_SCALAR = re.compile(r"([A-Z]\w*)\(([^()]*)\)$", re.DOTALL)
_TENSOR = re.compile(r"Tensor\(shape=\[([\d, ]*)\], dtype=(\w+), value=(.*)\)$", re.DOTALL)
_KEY = re.compile(r"([^\s:{},]+): ")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Unreadable:
    """A value that the text omits or writes in an unknown form; equal only to the same text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unreadable) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


def value(text: str) -> Any:
    """One value: number, bool, str, None, ``DType``, tuple, array, or ``Unreadable``."""
    text = text.strip()
    if text == "None":
        return None
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text[:1] in "([" and text[-1:] == _CLOSING.get(text[:1]):
        return tuple(value(part) for part in split(text[1:-1]))
    tensor = _TENSOR.match(text)
    if tensor is not None:
        return _tensor(tensor[1], tensor[2], tensor[3], text)
    scalar = _SCALAR.match(text)
    if scalar is not None and scalar[1] in _SHORT:
        return _number(scalar[2], dtypes.by_name(_SHORT[scalar[1]]), text)
    if text in _SHORT:
        return dtypes.by_name(_SHORT[text])
    return _bare(text)


def attributes(brackets: str) -> dict[str, Any]:
    """The attributes of a primitive, from what follows a node's argument list; none if it has none."""
    _, found, rest = brackets.partition("primitive_attrs: {")
    if not found:
        return {}
    inside = next(_pieces(rest, "}"), "")
    attrs = {}
    for part in split(inside):
        key = _KEY.match(part)
        if key is not None:
            attrs[key[1]] = value(part[key.end() :])
    return attrs


def split(text: str) -> list[str]:
    """Splits a list at commas outside brackets and strings."""
    return [part.strip() for part in _pieces(text, "") if part.strip()] if not text.startswith("{") else [text]


def _pieces(text: str, end: str) -> Iterator[str]:
    """With ``end``: the text before it, outside of brackets. Without: each part between commas."""
    depth, start, at = 0, 0, 0
    while at < len(text):
        char = text[at]
        if char == '"':
            close = re.compile(r'"(?=[,)\]}]|$)').search(text, at + 1)
            at = close.end() if close else len(text)
            continue
        if depth == 0 and end and char == end:
            yield text[:at]
            return
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0 and not end:
            yield text[start:at]
            start = at + 1
        at += 1
    yield text[start:]


def _number(text: str, dtype: DType, whole: str) -> Any:
    try:
        if dtype.kind == "b":
            return text not in ("0", "False", "false")
        return float(text) if dtype.is_floating else int(text)
    except ValueError:
        return Unreadable(whole)


def _bare(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text if re.fullmatch(r"[A-Za-z_][\w.]*", text) else Unreadable(text)


def _tensor(shape: str, dtype: str, body: str, whole: str) -> Any:
    """A tensor constant; ``Unreadable`` if the text omits values."""
    if "..." in body:
        return Unreadable(whole)
    try:
        kind = dtypes.by_name(dtype)
        words = body.replace("[", " ").replace("]", " ").split()
        if kind.kind == "b":
            numbers: list[Any] = [word in ("True", "1", "true") for word in words]
        else:
            numbers = [float(word) if kind.is_floating else int(word) for word in words]
        sizes = tuple(map(int, shape.replace(",", " ").split()))
        return np.array(numbers, np.float64 if kind.is_floating else None).astype(kind.numpy).reshape(sizes)
    except (ValueError, TypeError, OverflowError):
        return Unreadable(whole)
