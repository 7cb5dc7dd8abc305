"""Functions of functions: a choice by the kinds of the arguments, and a call for each member of tuples.

They choose and repeat while a graph is traced; only what they call leaves nodes (measured).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError
from harness.framework.tensor import Parameter, Tensor, call

__all__ = [
    "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "constexpr", "core", "dtype",
    "identity", "is_", "is_not",
    "make_range", "mixed_precision_cast", "partial", "tuple_len", "tuple_to_array",
]  # fmt: skip

#: what each word of ``MultitypeFuncGraph.register`` accepts
_KINDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "Parameter": lambda v: isinstance(v, Parameter),
    "Number": lambda v: isinstance(v, (bool, int, float)),
    "Bool": lambda v: isinstance(v, bool),
    "Int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Int32": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Int64": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Float": lambda v: isinstance(v, float),
    "Float32": lambda v: isinstance(v, float),
    "Float64": lambda v: isinstance(v, float),
    "String": lambda v: isinstance(v, str),
    "Tuple": lambda v: isinstance(v, tuple),
    "List": lambda v: isinstance(v, list),
    "Dictionary": lambda v: isinstance(v, dict),
    "Function": callable,
    "Func": callable,
    "None": lambda v: v is None,
    "NoneType": lambda v: v is None,
    "TypeNone": lambda v: v is None,
    "Type": lambda v: isinstance(v, DType),
    "TypeType": lambda v: isinstance(v, DType),
    "Slice": lambda v: isinstance(v, slice),
    "Ellipsis": lambda v: v is Ellipsis,
    # kinds that do not exist here; functions registered for them are never chosen
    "RowTensor": lambda v: False,
    "RowTensorInner": lambda v: False,
    "COOTensor": lambda v: False,
    "CSRTensor": lambda v: False,
    "MapTensor": lambda v: False,
    "Env": lambda v: False,
}


class MultitypeFuncGraph:
    """A function chosen by the kinds of its arguments, as ``mindspore.ops.MultitypeFuncGraph``.

    Args:
        name: its name.
        read_value: kept; a parameter is read where it is used.
    """

    def __init__(self, name: str, read_value: bool = False) -> None:
        if not isinstance(name, str):
            raise SettingTypeError(f"MultitypeFuncGraph: name must be a str, got {type(name).__name__}")
        self.name = name
        self.entries: list[tuple[tuple[Any, ...], Callable[..., Any]]] = []

    def register(self, *type_names: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator for the function that takes arguments of these kinds (``"Number"``, ``"Tensor"``, a dtype)."""
        for kind in type_names:
            if isinstance(kind, str) and kind not in _KINDS:
                raise SettingTypeError(
                    f"MultitypeFuncGraph.register: {kind!r} is not a kind; known are {sorted(_KINDS)}"
                )
            if not isinstance(kind, (str, DType)):
                raise SettingTypeError(f"MultitypeFuncGraph.register takes strings and dtypes, got {kind!r}")

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            self.entries.append((type_names, function))
            return function

        return decorate

    def __call__(self, *args: Any) -> Any:
        if any(isinstance(arg, np.ndarray) for arg in args):
            raise SettingTypeError("MultitypeFuncGraph takes no numpy arrays; give tensors")
        if len(self.entries) == 1:
            return self.entries[0][1](*args)
        for kinds, function in self.entries:
            if len(kinds) == len(args) and all(_is_of(a, k) for a, k in zip(args, kinds, strict=True)):
                return function(*args)
        given = ", ".join(type(arg).__name__ for arg in args)
        known = "; ".join(", ".join(str(k) for k in kinds) for kinds, _ in self.entries)
        raise SettingError(f"MultitypeFuncGraph {self.name!r} has no function for ({given}); it has them for: {known}")

    def __repr__(self) -> str:
        return self.name


def _is_of(value: Any, kind: Any) -> bool:
    if isinstance(kind, DType):
        return isinstance(value, (Tensor, int, float)) and getattr(value, "dtype", None) is kind
    return _KINDS[kind](value)


class HyperMap:
    """A function called for each member of tuples and lists, however deep they are nested.

    Args:
        ops: the function; None takes it as the first argument of the call.
        reverse: kept; the order of independent calls changes no value.
    """

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        if ops is not None and not callable(ops):
            raise SettingTypeError(f"{type(self).__name__}: ops must be a function, got {type(ops).__name__}")
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *args: Any) -> Any:
        function, rest = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        if not callable(function) or not rest:
            raise SettingTypeError(f"{type(self).__name__} takes a function and at least one tuple or tensor")
        return self._over(function, rest)

    def _over(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if not isinstance(args[0], (tuple, list)):
            return function(*args)
        return type(self)._like(args[0], [self._over(function, each) for each in self._members(args)])

    def _members(self, args: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        lengths = {len(arg) if isinstance(arg, (tuple, list)) else None for arg in args}
        if len(lengths) != 1:
            raise SettingError(f"{type(self).__name__}: all arguments must be tuples of one length, got {lengths}")
        return list(zip(*args, strict=True))

    @staticmethod
    def _like(given: Any, members: list[Any]) -> Any:
        return members if isinstance(given, list) else tuple(members)


class Map(HyperMap):
    """A function called for each member of tuples and lists, the outermost only."""

    def _over(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if not isinstance(args[0], (tuple, list)):
            return function(*args)
        return self._like(args[0], [function(*each) for each in self._members(args)])


def partial(func: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """``func`` with its first arguments given."""
    if not callable(func):
        raise SettingTypeError(f"partial takes a function, got {type(func).__name__}")
    return functools.partial(func, *args)


def identity(x: Any) -> Any:
    """``x``; it leaves no node."""
    return x


def dtype(x: Tensor) -> DType:
    """The dtype of a tensor, known while the graph is traced."""
    return x.dtype


def make_range(*args: int) -> tuple[int, ...]:
    """The ints of ``range(*args)``, as a tuple."""
    return tuple(range(*args))


def tuple_len(input_x: Any) -> int:
    """How many members a tuple has."""
    return len(input_x)


def tuple_to_array(input_x: Any) -> Tensor:
    """A tuple of numbers as a constant: Int32 of ints, Float32 of floats (measured)."""
    members = tuple(input_x)
    kinds = {type(member) for member in members}
    if len(kinds) != 1 or not kinds <= {int, float}:
        raise SettingTypeError(f"tuple_to_array takes a tuple of ints or one of floats, got {input_x!r}")
    return Tensor(np.array(members, np.int32 if int in kinds else np.float32))


def is_(x: Any, y: Any) -> bool:
    """``x is y``, decided while the graph is traced."""
    return x is y


def is_not(x: Any, y: Any) -> bool:
    """``x is not y``, decided while the graph is traced."""
    return x is not y


def mixed_precision_cast(dst_dtype: DType, x: Any) -> Any:
    """A floating tensor (or each in a tuple) in ``dst_dtype``; anything else as it is."""
    if isinstance(x, (tuple, list)):
        return type(x)(mixed_precision_cast(dst_dtype, member) for member in x)
    if isinstance(x, Tensor) and x.dtype.kind == "f" and x.dtype is not dst_dtype:
        return call("Cast", x, dst_dtype)
    return x


def constexpr(
    fn: Callable[..., Any] | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Any:
    """A function of constants, computed while a graph is traced, as ``mindspore.ops.constexpr``.

    Called with a tensor of the graph, it fails if it needs the tensor's data. ``get_instance``, ``name``,
    ``reuse_result`` and ``check`` are kept without effect: each call is computed.
    """
    if fn is None:
        return functools.partial(constexpr, get_instance=get_instance, name=name)
    if not callable(fn):
        raise SettingTypeError(f"constexpr takes a function, got {type(fn).__name__}")
    return fn


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Sets flags of a cell (``has_effect``, ``fp16``) or function, as a function or as a decorator. A function or a
    class keeps them for MindSpore's compiler; they change no graph here."""
    if fn is None:
        return functools.partial(add_flags, **flags)
    if hasattr(fn, "add_flags") and not isinstance(fn, type):
        fn.add_flags(**flags)
    else:
        fn._func_graph_flags = (getattr(fn, "_func_graph_flags", None) or {}) | flags
    return fn


def core(fn: Any = None, **flags: Any) -> Any:
    """A decorator that marks a function or cell for compilation; here every one is compiled anyway."""
    return functools.partial(core, **flags) if fn is None else add_flags(fn, **{"core": True, **flags})
