"""``Tensor`` and ``Parameter``: data with a dtype; every computation goes through the dispatcher.

``harness.framework.ops`` attaches the methods (``sum``, ``reshape``, ...) with ``tensor_method``; only what needs no
operator stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import ShapeError, UnsupportedError
from harness.framework import kinds, observed
from harness.framework.tensor.devices import check_device
from harness.framework.tensor.dispatch import DIRECT_WITH_FLAG, graph_function, is_eager, load_operators, or_operator
from harness.framework.tensor.keywords import with_their_keywords
from harness.framework.tensor.mirrored import MIRRORED, as_written
from harness.framework.tensor.protocols import Protocols
from harness.framework.tensor.symbol import ANY_SHAPE, Symbol, open_dims
from harness.framework.tensor.text import array_tensor_text, tensor_text

F = TypeVar("F", bound=Callable[..., Any])
Array = np.ndarray[Any, np.dtype[Any]]


class Tensor(Protocols):
    """An array of one dtype, as ``mindspore.Tensor``.

    Args:
        input_data: number, (nested) list or tuple, array, or another tensor. Python floats become Float32, ints
            Int64, as MindSpore does; arrays keep their dtype.
        dtype: element type; None keeps the data's.
        shape: for a tensor without data (``Tensor(shape=[None, 2], dtype=...)``): dimensions, None where dynamic.
        init: an initializer with ``fill(shape, dtype) -> ndarray``, used with ``shape``.
    """

    #: graph function, operator and arguments that would make this tensor while a graph runs; None if unknown
    made_by: tuple[str, str, tuple[Any, ...]] | None = None
    #: made from an array without a copy (``from_numpy``, rows of a dataset): shown differently
    _from_array = False
    #: the tensor this is a part or another form of, where both have memory of their own, and where: what is assigned to
    #: elements of this one is assigned there, too. Where: an index, or a function from the other's array to a view of
    #: it like this one
    taken_from: tuple[Tensor, Any] | None = None
    _shown_kind = "Tensor"  #: how messages call it
    #: the parameter this is a cast of, where a cell computes in another dtype (``to_float``)
    cast_of: Tensor | None = None

    def __init__(
        self,
        input_data: Any = None,
        dtype: DType | None = None,
        shape: Any = None,
        init: Any = None,
        const_arg: bool = False,
        device: str | None = None,
    ) -> None:
        check_device(device)
        self._note_maker()
        self.const_arg, self.init = const_arg, init
        self._dynamic_shape: tuple[int, ...] | None = None
        if dtype is not None and not isinstance(dtype, DType):
            raise TypeError(f"Tensor: dtype must be one of MindSpore's, got {dtype!r}")
        if input_data is None:
            self._init_without_data(dtype, shape, init)
            return
        if init is not None or shape is not None:
            raise ValueError("Tensor takes input_data, or shape, dtype and init, not both")
        if isinstance(input_data, Tensor):
            data = input_data.asnumpy()
            self._dtype = dtype or input_data.dtype
            self._from_array = input_data._from_array and self._dtype is input_data.dtype
        else:
            data = as_array(input_data, dtype)
            self._dtype = dtype or dtypes.from_numpy(data.dtype)
        if data.dtype != self._dtype.numpy:
            with np.errstate(over="ignore", invalid="ignore"):  # too large: infinite, as in MindSpore
                data = data.astype(self._dtype.numpy)
        self._data: Array = np.ascontiguousarray(data).reshape(data.shape) if data is not input_data else data.copy()

    @staticmethod
    def from_numpy(array: Array) -> Tensor:
        """A tensor in an array's own memory, which is shown as numpy shows the array."""
        if not isinstance(array, np.ndarray):
            raise TypeError(f"from_numpy takes a numpy array, got {type(array).__name__}")
        made = Tensor.over(array if array.flags.c_contiguous else array.copy())
        made._from_array = True
        return made

    @staticmethod
    def over(array: Array) -> Tensor:
        """A tensor whose memory is that of an array (of a dtype of MindSpore's)."""
        made = object.__new__(Tensor)
        made.const_arg, made.init, made._dynamic_shape = False, None, None
        made._dtype, made._data = dtypes.from_numpy(array.dtype), array
        return made

    def _init_without_data(self, dtype: DType | None, shape: Any, init: Any) -> None:
        if dtype is None:
            raise TypeError("Tensor needs input_data, or a dtype and a shape")
        if shape is None:
            # Declares an argument of any number of axes (measured).
            self._dtype, self._dynamic_shape, self._data = dtype, ANY_SHAPE, np.empty(0, dtype.numpy)
            return
        dims = (shape,) if isinstance(shape, (int, Symbol)) else tuple(shape)
        self._dtype, self._dynamic_shape = dtype, open_dims(dims)
        if self._dynamic_shape is not None:
            self._data = np.empty(0, dtype.numpy)
        elif init is not None:
            if not hasattr(init, "fill"):
                raise TypeError(f"Tensor: init must be an initializer, got {type(init).__name__}")
            self._data = np.ascontiguousarray(init.fill(dims, dtype))
        else:
            self._data = np.zeros(dims, dtype.numpy)

    # -- properties ------------------------------------------------------------------------------------------------
    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions; -1 if dynamic."""
        return self._dynamic_shape if self._dynamic_shape is not None else self._data.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def numel(self) -> int:
        """Number of elements."""
        return self.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each dimension."""
        return self._data.strides

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def is_dynamic(self) -> bool:
        """Whether a dimension is unknown."""
        return -1 in self.shape

    # -- its data --------------------------------------------------------------------------------------------------
    def asnumpy(self) -> Array:
        """The data as an array (a view; bfloat16 comes as ``ml_dtypes.bfloat16``)."""
        return self._data

    def numpy(self) -> Array:
        """Same as ``asnumpy``."""
        return self.asnumpy()

    def item(self) -> Any:
        """The only element as a Python number; ``ShapeError`` where there are several (as in MindSpore)."""
        return self._number(f"The tensor should have only one element, but got {self.size}, more than one element is "
                            "ambiguous.").item()  # fmt: skip

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return self.asnumpy().tolist()

    def set_data(self, data: Tensor, slice_shape: bool = False) -> Tensor:
        """Takes over the values (and, with ``slice_shape``, the shape) of ``data``; casts to this dtype.

        If both have one dtype, they share memory from then on: an assignment to one shows in the other (measured).
        Returns self.
        """
        new = data.asnumpy()
        if new.shape != self.shape and not slice_shape:
            raise ValueError(f"set_data: shape {new.shape} given, {self.shape} needed")
        shared = data.dtype is self.dtype and new.shape == data._data.shape
        self._data = data._data if shared else np.array(new, dtype=self.dtype.numpy, order="C")
        return self

    def assign_value(self, value: Tensor) -> Tensor:
        """Takes over ``value``'s data and dtype; returns self."""
        if not isinstance(value, Tensor):
            raise RuntimeError(f"assign_value takes a Tensor, got {type(value).__name__}")
        self._data, self._dtype = value.asnumpy(), value.dtype
        return self

    def init_data(self, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
        """Returns self, whose initializer has run, or a tensor of another ``shape`` by it."""
        if self.init is None:
            raise TypeError("init_data takes a tensor that was made by an initializer")
        if slice_index or opt_shard_group:
            raise UnsupportedError("init_data: slice_index and opt_shard_group are for several processes")
        return self if shape is None else Tensor(None, self.dtype, shape, self.init)

    def flush_from_cache(self) -> None:
        """Does nothing, because nothing is cached."""

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("Not support len of a 0-D tensor")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        data = self.asnumpy()
        return data if dtype is None else data.astype(dtype)

    def __bool__(self) -> bool:
        data = self.asnumpy()
        if data.size != 1:
            raise ValueError(f"The tensor should have only one element, but got {data.size}, more than one element is "
                             "ambiguous; use .all() or .any()")  # fmt: skip
        return bool(data.reshape(()))

    def _number(self, text: str = "Only one element tensors can be converted to Python scalars") -> Array:
        """The only element, as an array without dimensions; ``text``: what is said of several."""
        if self.size != 1:
            raise ShapeError(text)
        return self.asnumpy().reshape(())

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __index__(self) -> int:
        if self.dtype.kind not in "iub":
            raise ValueError("Only integer tensors of a single element can be converted to an index.")
        return int(self)

    def __repr__(self) -> str:
        if self._from_array:
            return array_tensor_text(self._printable(), self.dtype)
        return tensor_text(self.asnumpy(), self.dtype, pynative=True)

    def __str__(self) -> str:
        return str(self._printable())

    def _printable(self) -> Array:
        data = self.asnumpy()
        return data.astype(np.float32) if self.dtype is dtypes.bfloat16 else data

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        new = object.__new__(type(self))
        memo[id(self)] = new
        for slot, value in self.__dict__.items():
            if slot != "taken_from":
                new.__dict__[slot] = value.copy() if slot == "_data" else value
        return new

    def __copy__(self) -> Tensor:
        return self.__deepcopy__({})

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        for at in range(len(self)):
            yield self[at]

    def __getitem__(self, index: Any) -> Tensor:
        kind = "Tensor" if isinstance(index, Tensor) else type(index).__name__
        # One graph function, whose nesting depends on the kind of the index (measured).
        found: Tensor = graph_function(("Tensor.__getitem__", kind), _method("__getitem__"))(self, index)
        if found is not self and is_eager() and found.taken_from is None and not found._shares(self):
            found.taken_from = (self, index)
        return found

    def _shares(self, other: Tensor) -> bool:
        """Whether the two have elements in one memory."""
        return np.may_share_memory(self._data, other._data)

    def __setitem__(self, index: Any, value: Any) -> None:
        _method("__setitem__")(self, index, value)

    def __getattr__(self, name: str) -> Any:
        # Methods attached by harness.framework.ops after this class was made are found by the normal look-up; getting
        # here means that the name is unknown, or that harness.framework.ops is not there yet.
        if name not in _METHODS and not name.startswith("_"):
            load_operators()
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # what refuses to be read says why
        raise AttributeError(f"'{self._shown_kind}' object has no attribute {name!r}")


#: dtypes that numpy does not have itself
_EXTENDED = frozenset(d.numpy for d in dtypes.ALL if d.numpy.kind == "V")


def as_array(value: Any, dtype: DType | None = None) -> Array:
    """Makes an array from a user's data: Python floats as float32 (float64 where that is the ``dtype`` they are for),
    ints as int64, bools as bool.

    Raises ``TypeError`` for ragged or non-numeric data.
    """
    if isinstance(value, np.ndarray):
        data = value
    elif isinstance(value, np.generic):
        data = np.asarray(value)
    else:
        plain = _plain(value)
        try:
            data = np.array(plain)
        except ValueError as error:
            raise TypeError(f"cannot make a tensor of this {type(value).__name__}: {error}") from None
        if data.dtype == np.float64 and dtype is not dtypes.float64:
            data = data.astype(np.float32)
    foreign = data.dtype.kind == "V" and data.dtype.names is None and data.dtype not in _EXTENDED
    if data.dtype == object or data.dtype.kind in "SUMm" or foreign or data.dtype.names is not None:
        raise TypeError(f"cannot make a tensor of {type(value).__name__} data with numpy dtype {data.dtype}")
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


_METHODS: dict[str, Callable[..., Any]] = {}


def _method(name: str) -> Callable[..., Any]:
    load_operators()
    return _METHODS[name]


#: methods whose operator stands where they are called, if by position alone
DIRECT_METHODS = frozenset(row.name for row in observed.DIRECT_METHODS)

#: methods that are the same function as another one
REFLECTED = {"__radd__": "__add__"}


def tensor_method(*names: str) -> Callable[[F], F]:
    """Attaches a function as one or more methods of ``Tensor`` (first argument = the tensor)."""

    def attach(function: F) -> F:
        for name in names:
            if name == "__getitem__":
                _METHODS[name] = function
                continue
            direct = name in DIRECT_METHODS
            guarded = with_their_keywords(name, function)
            made = graph_function(f"Tensor.{REFLECTED.get(name, name)}", guarded, not direct, direct)
            _METHODS[name] = made = or_operator(made, guarded) if name in DIRECT_WITH_FLAG else made
            if name != "__setitem__":
                setattr(Tensor, name, as_written(name, made, _METHODS) if name in MIRRORED else made)
        return function

    return attach


def tensor_property(*names: str) -> Callable[[F], F]:
    """Attaches a function as a read-only property of ``Tensor`` (``x.T``); each is a function of its own."""

    def attach(function: F) -> F:
        for name in names:
            setattr(Tensor, name, property(graph_function(f"Tensor.{name}", function)))
        return function

    return attach


def _deferred(name: str) -> Callable[..., Any]:
    def method(self: Tensor, *others: Any) -> Any:
        load_operators()
        return getattr(type(self), name)(self, *others)

    return method


#: Python's operators are ``harness.framework.ops``' too; it puts its own in place of these
for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow",
    "rpow", "matmul", "neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor",
):  # fmt: skip
    setattr(Tensor, f"__{_name}__", _deferred(f"__{_name}__"))

kinds.TYPES["Tensor"].append(Tensor)
kinds.guard_methods(Tensor, "Tensor")
