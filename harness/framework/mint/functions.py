"""Functions of ``mint`` that MindSpore's CPU has kernels for: thin forms of those of ``ops``.

Source: MindSpore 2.10.0 CPU, measured: every name was called there; those that no CPU kernel serves are refused on use.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import KernelError, SettingTypeError
from harness.framework import ops as _ops
from harness.framework.ops.eager import is_number
from harness.framework.ops.functions.arithmetic import scaled
from harness.framework.tensor import Tensor, call, graph_function, graph_key, is_eager

ops: Any = _ops
__all__ = [
    "add", "all", "allclose", "amax", "amin", "any", "bitwise_and", "bmm", "broadcast_to", "cat", "cdist", "chunk",
    "clamp", "clip", "concat", "cummax", "diff", "div", "empty", "empty_like", "eq", "fix", "flatten", "float_power",
    "floor_divide", "fmod", "gather", "ge", "greater_equal", "imag", "index_add", "isfinite", "isnan", "item", "lerp",
    "max", "mean", "meshgrid", "min", "mul", "nansum", "narrow", "nonzero", "not_equal", "ones", "permute", "pow",
    "prod", "real", "remainder", "reshape", "roll", "scatter", "select", "softmax", "split", "sqrt", "squeeze", "sub",
    "sum", "swapaxes", "t", "transpose", "unbind", "unique_consecutive", "unsqueeze", "where", "xlogy", "zeros",
]  # fmt: skip

broadcast_to, not_equal, isfinite = ops.broadcast_to, ops.not_equal, ops.isfinite
bitwise_and, fmod, unique_consecutive = ops.bitwise_and, ops.fmod, ops.unique_consecutive
clamp = clip = ops.clamp
reshape = ops.reshape


def bmm(input: Any, mat2: Any) -> Any:
    """``ops.bmm``."""
    return ops.bmm(input, mat2)


def isnan(tensor: Any) -> Any:
    """``ops.isnan``."""
    return ops.isnan(tensor)


def sqrt(input: Any) -> Any:
    """``ops.sqrt``."""
    return ops.sqrt(input)


def permute(input: Any, dims: Any) -> Any:
    """``ops.permute``."""
    return ops.permute(input, dims)


def _overloaded(name: str, function: Any) -> Any:
    """``function`` as one that MindSpore chooses by the kinds of its arguments (``functional_overload``): its operators
    stand in ``Default`` wherever it is called (measured)."""
    plain = function.__wrapped__ if graph_key(function) is not None else function
    return graph_function(f"mint.{name}", plain)


ge, greater_equal = (_overloaded(n, getattr(ops, n)) for n in ("ge", "greater_equal"))
mul, floor_divide, lerp = (_overloaded(n, getattr(ops, n)) for n in ("mul", "floor_divide", "lerp"))
_where = _overloaded("where", ops.where)
_div, _eq, _squeeze, _xlogy = (_overloaded(n, getattr(ops, n)) for n in ("div", "eq", "squeeze", "xlogy"))


def _is_scaled(input: Any, other: Any) -> bool:
    """Whether a tensor is taken with a number in a graph: there that is an operator of its own."""
    return isinstance(input, Tensor) and is_number(other) and not is_eager()


def _refuse_in_graphs(name: str, instead: str) -> None:
    if not is_eager():
        raise KernelError(f"mint.{name} has no CPU kernel in a graph; use {instead}")


def eq(input: Any, other: Any) -> Any:
    """input == other, element by element."""
    return call("EqScalar", input, other) if _is_scaled(input, other) else _eq(input, other)


def imag(input: Any) -> Any:
    """The imaginary part; at once alone, as MindSpore's CPU has no kernel for it in a graph."""
    _refuse_in_graphs("imag", "ops.imag")
    return ops.imag(input)


def real(input: Any) -> Any:
    """The real part; at once alone, as MindSpore's CPU has no kernel for it in a graph."""
    _refuse_in_graphs("real", "ops.real")
    return ops.real(input)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along ``dims``; at once alone, as MindSpore's CPU has no kernel for it in a graph."""
    _refuse_in_graphs("roll", "ops.roll")
    return ops.roll(input, shifts, dims)


def xlogy(input: Any, other: Any) -> Any:
    """input * log(other), a number taken as Float32; in graphs of two tensors: no CPU kernel takes others there."""
    if is_number(input):
        raise SettingTypeError(f"mint.xlogy: input must be a Tensor, got {input!r}")
    if is_number(other):
        _refuse_in_graphs("xlogy of a number", "two tensors")
        input, other = ops.cast(input, dtypes.float32), Tensor(other, dtypes.float32)
    return _xlogy(input, other)


def remainder(input: Any, other: Any) -> Any:
    """input % other."""
    if is_number(input):
        return call("RemainderScalarTensor", input, other)
    return call("RemainderTensorScalar" if is_number(other) else "RemainderTensorTensor", input, other)


def pow(input: Any, exponent: Any) -> Any:
    """input ** exponent."""
    return call("PowTensorScalar", input, exponent) if _is_scaled(input, exponent) else ops.pow(input, exponent)


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input + alpha * other."""
    return scaled("Add", input, other, alpha)


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha * other."""
    return scaled("Sub", input, other, alpha)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other; ``rounding_mode``: None, ``"floor"`` or ``"trunc"``."""
    if rounding_mode is None:
        return call("Divs", input, other) if _is_scaled(input, other) else _div(input, other)
    return ops.div(input, other, rounding_mode=rounding_mode)


def float_power(input: Any, exponent: Any) -> Any:
    """input ** exponent in Float64."""
    parts = [v if is_number(v) else ops.cast(v, dtypes.float64) for v in (input, exponent)]
    return pow(*parts)


def fix(input: Any) -> Any:
    """Each element rounded toward 0."""
    return ops.trunc(input)


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements hold (along ``dim``)."""
    return ops.all(input, dim, keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether one element holds (along ``dim``)."""
    return ops.any(input, dim, keepdim)


def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close, as a Python bool."""
    return bool(ops.isclose(input, other, rtol, atol, equal_nan).all().asnumpy())


def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The largest along ``dim``, of all where it is empty."""
    return ops.amax(input, dim, keepdim)


def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The smallest along ``dim``, of all where it is empty."""
    return ops.amin(input, dim, keepdim)


def _extreme(whole: Any, pairs: Any, both: Any, input: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    if not given and not named:
        return whole(input)
    other = given[0] if given else named.get("other")
    if isinstance(other, Tensor):
        return both(input, other)
    dim = given[0] if given else named["dim"]
    keep = given[1] if len(given) > 1 else named.get("keepdim", False)
    places, values = call(pairs, input, dim, keep)
    return values, places


def max(input: Any, *given: Any, **named: Any) -> Any:
    """The largest of all; with ``dim`` (and ``keepdim``) that along it, and its place; with a tensor the larger."""
    return _extreme(ops.amax, "ArgMaxWithValue", ops.maximum, input, given, named)


def min(input: Any, *given: Any, **named: Any) -> Any:
    """The smallest of all; with ``dim`` (and ``keepdim``) that along it, and its place; with a tensor the smaller."""
    return _extreme(ops.amin, "ArgMinWithValue", ops.minimum, input, given, named)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean along ``dim``."""
    return call("MeanExt", input, dim, keepdim, dtype)


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum along ``dim``."""
    return ops.sum(input, dim, keepdim, dtype=dtype)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum along ``dim`` of what is not NaN."""
    return ops.sum(ops.nan_to_num(input, nan=0.0, posinf=np.inf, neginf=-np.inf), dim, keepdim, dtype=dtype)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product along ``dim``."""
    return ops.prod(input, dim, keepdim, dtype)


def cummax(input: Any, dim: int) -> Any:
    """(the largest so far along ``dim``, its place)."""
    return ops.cummax(input, dim)


def softmax(input: Any, dim: Any, *, dtype: Any = None) -> Any:
    """Powers of e over their sum along ``dim``."""
    return ops.softmax(input, dim, dtype=dtype)


def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined along ``dim``."""
    return ops.cat(tensors, dim)


concat = cat


def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """``chunks`` parts along ``dim``."""
    return ops.chunk(input, chunks, dim)


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Parts of this size, or these sizes, along ``dim``."""
    return ops.split(tensor, split_size_or_sections, dim)


def unbind(input: Any, dim: int = 0) -> Any:
    """The slices along ``dim``."""
    return ops.unbind(input, dim)


def select(input: Any, dim: int, index: int) -> Any:
    """The slice ``index`` along ``dim``."""
    return input.select(dim, index)


def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """``length`` elements along ``dim``, from ``start`` on."""
    return ops.narrow(input, dim, start, length)


def gather(input: Any, dim: int, index: Any) -> Any:
    """The elements at ``index`` along ``dim``."""
    return ops.gather_elements(input, dim, index)


def scatter(input: Any, dim: int, index: Any, src: Any) -> Any:
    """``input`` with ``src`` at ``index`` along ``dim``."""
    if is_number(src):
        src = ops.full(tuple(index.shape), src, dtype=input.dtype)
    return ops.tensor_scatter_elements(input, index, src, dim)


def squeeze(input: Any, dim: Any) -> Any:
    """Without the axes ``dim`` (one, or several) whose length is 1.

    Raises:
        SettingTypeError: ``dim`` is None.
    """
    if dim is None:
        raise SettingTypeError("mint.squeeze: dim must be an int or a tuple of ints, got None")
    rank = len(input.shape)
    axes = dim if isinstance(dim, (tuple, list)) else (dim,)
    kept = tuple(a for a in axes if input.shape[a % builtins.max(rank, 1)] == 1) if rank else ()
    return _squeeze(input, kept) if kept else input


def unsqueeze(input: Any, dim: int) -> Any:
    """With an axis of length 1 at ``dim``."""
    return ops.unsqueeze(input, dim)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from ``start_dim`` to ``end_dim`` as one."""
    return call("FlattenExt", input, start_dim, end_dim)


def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two axes exchanged."""
    return ops.swapaxes(input, axis0, axis1)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two axes exchanged."""
    return ops.swapaxes(input, dim0, dim1)


def t(input: Any) -> Any:
    """The transposed matrix."""
    return input if len(input.shape) < 2 else ops.swapaxes(input, 0, 1)


def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """Grids of coordinates, the first along the first axis unless ``indexing`` is ``"xy"``."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return ops.meshgrid(*given, indexing=indexing or "ij")


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along ``dim``, ``n`` times."""
    joined = [part for part in (prepend, input, append) if part is not None]
    return ops.diff(ops.cat(joined, dim) if len(joined) > 1 else input, n, dim)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """The p-norms of the differences of rows."""
    return ops.cdist(x1, x2, p)


def where(condition: Any, *both: Any) -> Any:
    """``input`` where ``condition`` holds, else ``other``; of ``condition`` alone the places where it is not 0, a
    tensor for each axis, in graphs alone."""
    return _where(condition, *both) if both else nonzero(condition, as_tuple=True)


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The places where ``input`` is not 0, a row each; ``as_tuple``: a tensor for each axis, in graphs alone.

    Raises:
        KernelError: ``as_tuple`` outside of graphs.
    """
    if as_tuple and is_eager():
        raise KernelError("mint.nonzero(as_tuple=True) has no CPU kernel outside of graphs; use ops.nonzero")
    return ops.nonzero(input, as_tuple=as_tuple)


def item(input: Any) -> Any:
    """The only element as a Python number."""
    return input.item()


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """``input`` with the slices of ``source`` times ``alpha`` added at ``index`` along ``dim``; at once alone."""
    _refuse_in_graphs("index_add", "ops.index_add")
    return input.index_add(dim, index, source if alpha == 1 else source * alpha)


def ones(size: Any, *, dtype: Any = None) -> Any:
    """Ones."""
    return ops.ones(size, dtype or dtypes.float32)


def zeros(size: Any, *, dtype: Any = None) -> Any:
    """Zeros."""
    return ops.zeros(size, dtype or dtypes.float32)


def empty(*size: Any, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of any values: zeros."""
    whole = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    return ops.zeros(tuple(whole), dtype or dtypes.float32)


def empty_like(input: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of any values like ``input``: zeros."""
    return ops.zeros_like(input, dtype=dtype)
