"""What a tensor consists of: a plain one of itself, a sparse, quantised, nested or wrapped one of plain tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from harness import dtypes
from harness.dtypes import DType

#: a dtype of PyTorch's -> ours; the others (packed, quantised) have none
DTYPES: dict[Any, DType] = {
    getattr(torch, name): dtypes.by_name(name)
    for name in (
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
        "bfloat16", "complex64", "complex128", *(each.lower for each in dtypes.FLOATS8),
    )
    if hasattr(torch, name)
} | {torch.bool: dtypes.bool_}  # fmt: skip

_PLAIN = torch.Tensor.__torch_dispatch__
_USUAL = frozenset({torch.Tensor, torch.nn.Parameter})
_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_COMPRESSED = {
    torch.sparse_csr: ("crow_indices", "col_indices"), torch.sparse_bsr: ("crow_indices", "col_indices"),
    torch.sparse_csc: ("ccol_indices", "row_indices"), torch.sparse_bsc: ("ccol_indices", "row_indices"),
}  # fmt: skip
#: Wrappers inside wrappers.
_DEEPEST = 16

_C = torch._C._functorch

Part = tuple[str, Any]
META = "it lies on device meta"
FAKE = "it is a fake tensor, which has no values"
LAZY = "it has no values yet"
#: Nothing is lost where there is nothing.
VALUELESS = frozenset({META, LAZY, FAKE})


class Unread(Exception):
    """A tensor has no values that can be read; the text says why."""


def is_plain(tensor: Any) -> bool:
    """Whether a tensor consists of itself."""
    return (
        type(tensor) in _USUAL
        and tensor.is_cpu
        and tensor.layout is torch.strided
        and tensor.dtype in DTYPES
        and not tensor.is_nested
        and not tensor._is_zerotensor()
    )


def parts(tensor: Any) -> list[Part]:
    """The plain tensors that a tensor consists of, each with its name inside it; a plain one has the name ``""``.

    Sparse tensors have ``indices``, ``values`` and ``size``, quantised ones ``int_repr``, ``scale`` and
    ``zero_point``, nested ones ``values`` and ``sizes``; a tensor class that wraps others has what its
    ``__tensor_flatten__`` names.

    Raises:
        Unread: it has no values.
    """
    return [("", tensor)] if is_plain(tensor) else list(_walk(tensor, "", 0))


def unwrapped(tensor: Any) -> Any:
    """What ``torch.func`` transforms compute with in place of a tensor: its values for all calls at once."""
    while _C.is_functorch_wrapped_tensor(tensor):
        tensor = _C.get_unwrapped(tensor)
    return tensor


def _walk(tensor: Any, name: str, depth: int) -> Iterator[Part]:
    if is_lazy(tensor):
        raise Unread(LAZY)
    if is_wrapped(tensor):
        yield from _wrapped(tensor, name, depth)
        return
    if tensor.device.type not in ("cpu", "cuda"):
        raise Unread(META if tensor.is_meta else f"it lies on device {tensor.device.type}")
    if tensor._is_zerotensor():  # forward differentiation's zeros, which have no memory
        yield name, torch.zeros(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    elif tensor.is_nested:
        yield _within(name, "values"), tensor.detach().values()
        yield _within(name, "sizes"), tensor._nested_tensor_size()
    elif tensor.layout is not torch.strided:
        yield from _of_layout(tensor, name)
    elif tensor.is_quantized:
        yield from _quantised(tensor, name)
    elif tensor.dtype not in DTYPES:
        yield name, _words(tensor)
    else:
        yield name, tensor


def is_wrapped(tensor: Any) -> bool:
    """Whether a tensor's class runs operators itself."""
    return type(tensor) not in _USUAL and type(tensor).__torch_dispatch__ is not _PLAIN


def _wrapped(tensor: Any, name: str, depth: int) -> Iterator[Part]:
    kind = type(tensor).__name__
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if hasattr(tensor, "trigger_wait"):  # a collective's result that is not there yet
        tensor.trigger_wait()
    if hasattr(tensor, "fake_mode"):
        raise Unread(FAKE)
    if flatten is None or depth >= _DEEPEST:
        raise Unread(f"a {kind} is not a plain tensor")
    for inner in flatten()[0]:
        each = getattr(tensor, inner)
        if isinstance(each, torch.Tensor):
            yield from _walk(each, _within(name, inner), depth + 1)


def _of_layout(tensor: Any, name: str) -> Iterator[Part]:
    plain = tensor.detach()
    if plain.layout is torch.sparse_coo:
        yield _within(name, "indices"), plain._indices()
        yield _within(name, "values"), plain._values()
    elif plain.layout in _COMPRESSED:
        for each in _COMPRESSED[plain.layout]:
            yield _within(name, each), getattr(plain, each)()
        yield _within(name, "values"), plain.values()
    elif plain.layout is torch._mkldnn:  # type: ignore[attr-defined, unused-ignore]
        yield name, plain.to_dense()
        return
    else:
        raise Unread(f"its layout is {tensor.layout}")
    yield _within(name, "size"), torch.tensor(tuple(tensor.shape))


def _quantised(tensor: Any, name: str) -> Iterator[Part]:
    plain = tensor.detach()
    yield _within(name, "int_repr"), plain.int_repr()
    if plain.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        yield _within(name, "scale"), torch.tensor(plain.q_scale(), dtype=torch.float64)
        yield _within(name, "zero_point"), torch.tensor(plain.q_zero_point())
    else:
        yield _within(name, "scale"), plain.q_per_channel_scales()
        yield _within(name, "zero_point"), plain.q_per_channel_zero_points()


def _words(tensor: Any) -> Any:
    """A tensor of a dtype that no store can keep, as whole numbers of its size, or as its parts' numbers."""
    plain = tensor.detach()
    if plain.is_complex():
        return torch.view_as_real(plain.resolve_conj().resolve_neg())
    try:
        return plain.contiguous().view(_WORDS[plain.element_size()])
    except (KeyError, RuntimeError):
        raise Unread(f"its dtype is {tensor.dtype}") from None


def _within(name: str, inner: str) -> str:
    return f"{name}.{inner}" if name else inner
