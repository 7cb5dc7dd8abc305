"""Tensors, parameters, and the hook through which every computation goes."""

from harness.framework.tensor.dispatch import (
    OLD,
    Dispatcher,
    call,
    current,
    differentiated_outside,
    eager_rules,
    graph_function,
    graph_function_key,
    graph_key,
    is_eager,
    is_graph_function,
    is_older,
    is_tracing,
    read,
    reference,
    set_default,
    using,
    watching,
)  # fmt: skip
from harness.framework.tensor.mutable import is_mutable, mutable
from harness.framework.tensor.parameter import Parameter, ParameterTuple
from harness.framework.tensor.tensor import Tensor, as_array, tensor_method, tensor_property
from harness.framework.tensor.watching import watch

__all__ = [
    "OLD",
    "Dispatcher",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "as_array",
    "call",
    "current",
    "differentiated_outside",
    "eager_rules",
    "graph_function",
    "graph_function_key",
    "graph_key",
    "is_eager",
    "is_graph_function",
    "is_mutable",
    "is_older",
    "is_tracing",
    "mutable",
    "read",
    "reference",
    "set_default",
    "tensor_method",
    "tensor_property",
    "using",
    "watch",
    "watching",
]  # fmt: skip
