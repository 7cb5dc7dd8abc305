"""The tensor a traced function sees: a place in the graph, without data."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import DecidedLateError, OutsideError, SettingTypeError, TraceError
from harness.framework import frames
from harness.framework.compile.callers import CallersList
from harness.framework.compile.rewriting import ask_again, goes_on
from harness.framework.compile.source import calls, is_users, where
from harness.framework.tensor import Tensor, gives_as_graph, held, is_eager, is_tracing
from harness.framework.tensor.dispatch import current
from harness.graph import Operand, Parameter, ScalarSpec, Spec, TensorSpec, TupleSpec


class OpenShape(tuple[int, ...]):
    """A shape with dimensions that are known only at run time, each -1. How many there are is known, and those that are
    not -1; asking for one of the others raises ``DecidedLateError``, and the function is traced with its arguments."""

    __slots__ = ()

    def _late(self) -> DecidedLateError:
        return DecidedLateError(
            f"a dimension of the shape {list(tuple.__iter__(self))} is asked for at {where()}, but it is known only "
            "when the graph runs"
        )

    def __getitem__(self, at: Any) -> Any:
        found = tuple.__getitem__(self, at)
        if -1 in (found if isinstance(found, tuple) else (found,)):
            raise self._late()
        return found

    def __iter__(self) -> Iterator[int]:
        raise self._late()

    def __add__(self, other: Any) -> Any:
        raise self._late()

    __radd__ = __add__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (tuple, list)) or len(other) != len(self):
            return False
        pairs = zip(tuple.__iter__(self), (tuple.__iter__(other) if isinstance(other, tuple) else other), strict=True)
        if any(-1 not in pair and pair[0] != pair[1] for pair in pairs):
            return False
        raise self._late()

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


class Traced(Tensor):
    """A value of the graph being traced; shape and dtype are known, data is not.

    Attributes:
        operand: the node, parameter or constant it stands for.
        spec: its spec (a scalar's where an operator gave a number).
    """

    def __init__(self, operand: Operand, spec: Spec) -> None:
        self.operand = operand
        self.spec = spec
        self.init = None
        self.const_arg = False
        known = getattr(current(), "known", None)
        if known is not None:
            known.seen.append(weakref.ref(self))

    def settle(self, data: Any) -> None:
        """Becomes a tensor with these data: the trace is over, and a user kept it."""
        dtype = self.dtype
        self.__dict__.clear()
        self.__class__ = Tensor  # type: ignore[assignment]
        self.__dict__.update(vars(Tensor(np.asarray(data), dtype)))

    @property
    def __array_priority__(self) -> int:
        """Above that of numpy's numbers in a graph: ``np.float32(2) * tensor`` is a tensor there, and at once an array;
        in PyNative mode it is an array under a gradient, too (measured)."""
        if is_eager():
            raise AttributeError("__array_priority__")
        return -1

    @property
    def dtype(self) -> DType:
        """Element type."""
        if isinstance(self.spec, (TensorSpec, ScalarSpec)):
            return self.spec.dtype
        raise TraceError(f"a value of kind {self.spec} has no dtype, at {where()}")

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions; -1 where known only at run time (see ``OpenShape``)."""
        if not isinstance(self.spec, TensorSpec):
            return ()
        if -1 not in self.spec.shape:
            return self.spec.shape
        return tuple(self.asnumpy().shape) if is_eager() else OpenShape(self.spec.shape)

    def _shares(self, other: Tensor) -> bool:
        return False

    def asnumpy(self) -> Any:
        """The data where it is known (PyNative mode, see ``harness.framework.compile.known``); else
        ``DecidedLateError``: the function is traced at each call, with its values."""
        known = current().known
        if known is None or not is_eager():
            raise DecidedLateError(
                f"construct asks for the data of a tensor at {where()}, but while a graph is traced there is none yet. "
                "Compute with operators, or move the code out of construct"
            )
        try:
            return np.asarray(known.of(self.operand))
        except TraceError as error:
            raise TraceError(
                f"the data of a tensor is asked for at {where()}, but under a gradient that is known later: {error}"
            ) from None

    def __iter__(self) -> Iterator[Tensor]:
        if not is_eager() and is_tracing() and calls(frames.caller(), "map"):
            raise OutsideError(
                f"map can only be applied to a list or tuple, but got a tensor of {self.dtype}, at {where()}"
            )
        return super().__iter__()

    def __index__(self) -> int:
        if isinstance(self.spec, TensorSpec) and not is_eager() and calls(frames.caller(), "range"):
            raise SettingTypeError(f"range takes ints in a graph, but got a tensor of {self.dtype}, at {where()}")
        return super().__index__()

    def __bool__(self) -> bool:
        if not is_eager():
            ask_again(frames.caller())
            raise DecidedLateError(
                f"the truth of a tensor decides Python control flow at {where()}, but its value is known only when the "
                "graph runs. Use ops.select, ops.cond or ops.while_loop"
            )
        if gives_as_graph():
            current().decide(self.operand, goes_on(frames.caller()))  # type: ignore[attr-defined]
        return super().__bool__()

    def __repr__(self) -> str:
        self._told(frames.caller())
        return super().__repr__() if is_eager() else f"Traced({self.dtype}, {list(self.shape)})"

    def __str__(self) -> str:
        self._told(frames.caller())
        return super().__str__() if is_eager() else repr(self)

    def __format__(self, wanted: str) -> str:
        self._told(frames.caller())
        return super().__format__(wanted) if is_eager() else format(repr(self), wanted)

    def _told(self, caller: frames.Frame) -> None:
        """Raises ``DecidedLateError`` where a user's function of a graph makes a text of the tensor: it is that of its
        data."""
        if not is_eager() and is_tracing() and is_users(frames.file_of(caller)):
            raise DecidedLateError(f"a text is made of a tensor at {where()}, whose data are known when the graph runs")

    def __deepcopy__(self, memo: dict[int, Any]) -> Traced:
        return self

    def set_data(self, data: Tensor, slice_shape: bool = False) -> Tensor:
        """Refused while tracing."""
        raise TraceError(f"set_data cannot be part of a graph, at {where()}; use ops.assign")


# what a user's code sees of its class: a tensor's (measured: ``type(x).__name__`` in a graph)
Traced.__name__, Traced.__qualname__, Traced.__module__ = Tensor.__name__, Tensor.__qualname__, Tensor.__module__


def tensor_spec(operand: Operand) -> Spec:
    """The spec of an operand, of a reference that of the tensor it refers to."""
    spec = operand.spec
    return spec.tensor if isinstance(spec, TensorSpec) else spec


def is_weight(operand: Operand) -> bool:
    """Whether an operand is a parameter of the network."""
    return isinstance(operand, Parameter) and operand.is_weight


def tensors_of(spec: Spec) -> tuple[Spec, ...]:
    """The tensors of a result, whatever tuples they stand in."""
    if isinstance(spec, TupleSpec):
        return tuple(t for s in spec.items for t in tensors_of(s))
    return (spec.tensor,) if isinstance(spec, TensorSpec) else (spec,)


def has_tensor(value: Any) -> bool:
    """Whether a (nested) tuple holds a tensor."""
    if isinstance(value, (tuple, list)):
        return any(has_tensor(v) for v in value)
    return isinstance(value, Tensor)


def operands_of(value: Any) -> Iterator[Operand]:
    """The operands of the traced tensors in a (nested) list, tuple or dict."""
    return (each.operand for each in members_of(value))


def members_of(value: Any) -> Iterator[Traced]:
    """The traced tensors in a (nested) list, tuple or dict."""
    if isinstance(value, Traced):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from members_of(member)


def in_graph(value: Any) -> Any:
    """A number, text or tuple as a graph holds it: a float is one of 32 bits (measured), a list a tuple."""
    if type(value) in (tuple, list, CallersList) and not has_tensor(value):
        return tuple(map(in_graph, value))
    return held(value)
