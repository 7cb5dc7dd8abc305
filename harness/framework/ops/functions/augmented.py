"""Augmented assignment: ``x += y``, ``x *= y`` and the others.

In a graph it changes ``x`` itself, under each of its names; outside a graph it is ``x = x + y`` (both measured).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.framework.ops.eager import is_number
from harness.framework.tensor import Tensor, call, gives_as_graph, graph_function, tensor_method

__all__: list[str] = []

#: method -> function for an immediate call, operator for a tensor, operator for a number, further arguments
_FORMS: dict[str, tuple[str, str, str, tuple[Any, ...]]] = {
    "__iadd__": ("__add__", "InplaceAddExt", "InplaceAddsExt", (1,)),
    "__isub__": ("__sub__", "InplaceSubExt", "InplaceSubScalar", (1,)),
    "__imul__": ("__mul__", "InplaceMul", "InplaceMuls", ()),
    "__itruediv__": ("__truediv__", "InplaceDiv", "InplaceDivs", ()),
    "__ifloordiv__": ("__floordiv__", "InplaceFloorDivide", "InplaceFloorDivides", ()),
    "__imod__": ("__mod__", "InplaceRemainderTensorTensor", "InplaceRemainderTensorScalar", ()),
}


def changed(form: str, x: Any, y: Any, *alpha: Any) -> Any:
    """``x`` changed by ``y``, a tensor or a number, as ``form`` (``__iadd__``) does; ``alpha``: a factor of ``y``."""
    plain, by_tensor, by_number, more = _FORMS[form]
    if not gives_as_graph():
        return getattr(x, plain)(y * alpha[0] if alpha and alpha[0] != 1 else y)
    if x.made_by is not None:
        key, op, arguments = x.made_by
        x = graph_function(key, call)(op, *arguments)
    return call(by_number if is_number(y) else by_tensor, x, y, *(alpha or more))


def _form(name: str) -> Callable[[Any, Any], Any]:
    def augmented(x: Any, y: Any) -> Any:
        return changed(name, x, y) if isinstance(y, Tensor) or is_number(y) else NotImplemented

    return augmented


for _name in _FORMS:
    tensor_method(_name)(_form(_name))
