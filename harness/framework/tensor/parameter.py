"""``Parameter``: a named tensor that a network owns and an optimizer may update."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import TraceError
from harness.framework import frames, kinds
from harness.framework.outside import keep_outside
from harness.framework.tensor.dispatch import is_eager, is_tracing, read
from harness.framework.tensor.tensor import Tensor

_OURS = __name__.partition(".")[0] + "."
#: settings of a parameter, with what they must be (measured)
_SETTINGS: dict[str, type | tuple[type, ...]] = {
    "requires_grad": bool, "layerwise_parallel": bool, "parallel_optimizer": bool, "cache_enable": bool,
    "comm_fusion": int, "key": int, "cache_shape": (tuple, list),
}  # fmt: skip


class Parameter(Tensor):
    """A named tensor, as ``mindspore.Parameter``.

    Args:
        default_input: data (tensor, number, array, or an initializer's tensor).
        name: name; None lets the owning cell give the attribute's name.
        requires_grad: whether ``trainable_params`` lists it.
        layerwise_parallel, parallel_optimizer, storage_format: kept, without effect on one process.
        device: None, ``"CPU"`` or ``"Remote"``: where an Ascend keeps it; without effect here.
    """

    _shown_kind = "Parameter"
    comm_fusion: int = 1
    #: by what removes each; the first one that is registered makes the parameter's own
    _grad_hooks: Mapping[Any, Callable[[Any], Any]] = MappingProxyType({})

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"Parameter name must be a str, got {type(name).__name__}")
        if device not in (None, "CPU", "Remote"):
            raise ValueError(f"Parameter: device must be None, 'CPU' or 'Remote', got {device!r}")
        if isinstance(default_input, bool):
            raise ValueError("Parameter: its data must not be a bool; give a Tensor")
        if isinstance(default_input, (tuple, dict)):
            raise TypeError(f"Parameter: its data must not be a {type(default_input).__name__}; give a Tensor")
        # One int becomes Int32, whatever its size; a tensor, and a list, of ints Int64 (measured).
        super().__init__(default_input, dtypes.int32 if isinstance(default_input, int) else None)
        self._data = self._data.copy()
        self.name = name if name is not None else "Parameter"
        self.named = name is not None
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer
        self.storage_format = storage_format

    def __setattr__(self, name: str, value: Any) -> None:
        accepted = _SETTINGS.get(name)
        is_flag = name == "comm_fusion" and isinstance(value, bool)  # the one number that may be no bool (measured)
        if accepted is not None and (is_flag or not isinstance(value, accepted)):
            words = " or ".join(t.__name__ for t in (accepted if isinstance(accepted, tuple) else (accepted,)))
            raise TypeError(f"Parameter: {name} must be of type {words}, got {type(value).__name__}")
        super().__setattr__(name, value)

    @property
    def name(self) -> str:
        """Its name; None stands for ``"Parameter"``."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        if value is not None and not isinstance(value, str):
            raise ValueError(f"Parameter name must be a str, got {type(value).__name__}")
        self._name = "Parameter" if value is None else value

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Takes over the values and the shape of ``data``, a Tensor or a number; keeps the dtype.

        A tensor of this dtype shares its memory with the parameter from then on. ``slice_shape`` is for slices of
        several processes. Returns self; raises ``TypeError`` for what is neither, and for a float for integers.
        """
        if not isinstance(data, (Tensor, int, float)):
            raise TypeError(f"Parameter.set_data takes a Tensor, an int or a float, got {type(data).__name__}")
        if isinstance(data, float) and self.dtype.kind in "iu":
            raise TypeError(f"Parameter.set_data: {data} cannot be kept as {self.dtype}; use set_dtype first")
        if not isinstance(data, Tensor):
            data = Tensor(data, self.dtype)
        super().set_data(data, slice_shape=True)
        return self

    def init_data(self, layout: Any = None, set_sliced: bool = False) -> Parameter:  # type: ignore[override]
        """Returns self: the initializer has run."""
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A copy; ``init``: ``"same"``, ``"zeros"``, ``"ones"`` or a number."""
        data = Tensor(self.asnumpy().copy())
        if init == "zeros" or init == 0:
            data.asnumpy()[...] = 0
        elif init == "ones":
            data.asnumpy()[...] = 1
        elif init != "same":
            data.asnumpy()[...] = init
        twin = Parameter(data, self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer)
        twin.named = self.named
        return twin

    def copy(self) -> Tensor:
        """At once another parameter of the same name (measured); in a graph a tensor."""
        if not is_eager():
            return super().copy()  # type: ignore[misc, no-any-return]
        twin = self.clone()
        twin.named = True
        return twin

    @property
    def data(self) -> Parameter:
        """The parameter itself."""
        return self

    def value(self) -> Tensor:
        """A tensor with the same data; within a graph, what is read here."""
        return read(self) if is_tracing() else Tensor(self.asnumpy())

    def set_dtype(self, dtype: DType) -> DType:
        """Casts the parameter in place; gives ``dtype``."""
        self._data = self._data.astype(dtype.numpy)
        self._dtype = dtype
        return dtype

    def __repr__(self) -> str:
        told = not str(frames.module_of(frames.caller())).startswith(_OURS)
        if told and is_tracing() and not is_eager():  # there it is that of its data when the graph runs (measured)
            raise TraceError(f"the text of the parameter {self.name!r} is no part of a graph; use ops.print_")
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, requires_grad={self.requires_grad})"
        )

    __str__ = __repr__


class ParameterTuple(tuple[Parameter, ...]):
    """A tuple of parameters, as ``mindspore.ParameterTuple``."""

    __slots__ = ()

    def __new__(cls, iterable: Any) -> ParameterTuple:
        members = tuple(iterable)
        for member in members:
            if not isinstance(member, Parameter):
                raise TypeError(f"ParameterTuple takes Parameters, got {type(member).__name__}")
        names = {m.name: m for m in members if m.named}
        for member in members:
            if member.named and names[member.name] is not member:
                raise ValueError(f"ParameterTuple: two parameters are named {member.name!r}; give each its own name")
        return super().__new__(cls, members)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Copies named ``{prefix}.{name}``."""
        twins = []
        for member in self:
            twin = member.clone(init)
            twin.name = f"{prefix}.{member.name}"
            twins.append(twin)
        return ParameterTuple(twins)


kinds.guard(Parameter, "ms.Parameter")
kinds.guard_methods(Parameter, "Parameter()")
keep_outside(Parameter, ("__init__",), ValueError)
keep_outside(Tensor, ("assign_value",))
