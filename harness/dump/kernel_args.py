"""``save_kernel_args``: the constructor arguments of an operator, as JSON.

Source: public source of MindSpore 2.10. Every value is a text: for an operator described in yaml its constructor's
arguments, printed like tensors; for an older one the primitive's attributes, printed like values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.dump.names import mangle
from harness.dump.selection import type_part
from harness.recording import Constant, Operator, Value
from harness.stats.printed import scalar_text

_NAME = re.compile(r"[/.\x00-\x1f\x7f]")
INDENT = 4


def file_name(node: Operator) -> str:
    """``MatMul.Default_fc1-Dense_MatMul-op0.json``; in the scope ``.`` and ``/`` become ``_``."""
    return f"{mangle(type_part(node.name))}.{_NAME.sub('_', node.name)}.json"


def text(node: Operator, inputs: Iterable[Value]) -> str:
    """The file's content; ``null`` for an operator without constructor arguments (as the original writes it).

    Args:
        node: the operator.
        inputs: the inputs of its kernel; an argument that is not a constant is looked up there.
    """
    values = _init_args(node, {slot.index: slot for slot in inputs})
    return json.dumps(values or None, indent=INDENT, sort_keys=True, ensure_ascii=False)


def _init_args(node: Operator, inputs: Mapping[int, Value]) -> dict[str, str]:
    if node.arguments is None:
        return {name: value_text(value) for name, value in node.attributes.items()}
    found = {}
    for name, at in node.arguments.items():
        operand = node.inputs[at]
        if at in inputs and inputs[at].gap is None:
            found[name] = tensor_text(inputs[at].array, inputs[at].dtype)
        elif isinstance(operand, Constant) and isinstance(operand.value, (bool, int, float, tuple)):
            value = np.asarray(operand.value)
            if value.size and value.dtype.kind in "bif":
                found[name] = tensor_text(value, dtypes.from_numpy(value.dtype))
    return found


def tensor_text(array: np.ndarray[Any, Any], dtype: DType) -> str:
    """A tensor printed without commas: ``True``, ``1``, ``[1 2]``."""
    if array.ndim == 0:
        return scalar_text(array[()], dtype)
    texts = [scalar_text(value, dtype) for value in array.reshape(-1)]
    width = max(map(len, texts), default=0)
    return f"[{' '.join(text.rjust(width) for text in texts)}]"


def value_text(value: Any) -> str:
    """An attribute's printed value: ``true``, ``1``, ``0.5``, ``(1, 2)``, ``same``."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(value_text, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):g}"
    return str(value)
