"""Tensors, parameters, and the hook through which every computation goes.

MindSpore has a function of this name, ``mindspore.tensor(data, dtype)``: a call of the module makes a Tensor.
"""

import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any as _Any

from harness.framework.tensor.arguments import bring_all, brought
from harness.framework.tensor.dispatch import (
    OLD,
    Dispatcher,
    call,
    current,
    differentiated_outside,
    eager_rules,
    gives_as_graph,
    graph_function,
    graph_key,
    held,
    is_eager,
    is_graph_function,
    is_older,
    is_tracing,
    read,
    reference,
    set_default,
    single,
    using,
    watching,
)  # fmt: skip
from harness.framework.tensor.mutable import is_mutable, mutable
from harness.framework.tensor.parameter import Parameter, ParameterTuple
from harness.framework.tensor.symbol import Symbol
from harness.framework.tensor.tensor import Tensor, as_array, tensor_method, tensor_property
from harness.framework.tensor.watching import watch

__all__ = [
    "OLD",
    "Dispatcher",
    "Parameter",
    "ParameterTuple",
    "Symbol",
    "Tensor",
    "as_array",
    "bring_all",
    "brought",
    "call",
    "current",
    "differentiated_outside",
    "eager_rules",
    "gives_as_graph",
    "graph_function",
    "graph_key",
    "held",
    "is_eager",
    "is_graph_function",
    "is_mutable",
    "is_older",
    "is_tracing",
    "mutable",
    "read",
    "reference",
    "set_default",
    "single",
    "tensor_method",
    "tensor_property",
    "using",
    "watch",
    "watching",
]  # fmt: skip


class _Callable(_ModuleType):
    def __call__(
        self,
        input_data: _Any = None,
        dtype: _Any = None,
        shape: _Any = None,
        init: _Any = None,
        const_arg: bool = False,
        device: _Any = None,
    ) -> Tensor:
        """``Tensor`` of the same arguments."""
        return Tensor(input_data, dtype, shape, init, const_arg, device)


_sys.modules[__name__].__class__ = _Callable
