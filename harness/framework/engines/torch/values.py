"""Values on their way between numpy and PyTorch: dtypes, memory that is shared where it can be, and one rounding.

PyTorch has unsigned integers of 16 to 64 bits as types, but hardly a kernel for them: what only moves bits takes them
as signed ones, everything else as Int64 (``widened``), and wraps at the end.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

from harness import dtypes
from harness.dtypes import DType
from harness.framework.engines.torch.base import NoKernel

Tensor = Any
Array = np.ndarray[Any, np.dtype[Any]]

TORCH: dict[DType, Any] = {
    dtypes.bool_: torch.bool, dtypes.int8: torch.int8, dtypes.int16: torch.int16, dtypes.int32: torch.int32,
    dtypes.int64: torch.int64, dtypes.uint8: torch.uint8, dtypes.uint16: torch.uint16, dtypes.uint32: torch.uint32,
    dtypes.uint64: torch.uint64, dtypes.float16: torch.float16, dtypes.float32: torch.float32,
    dtypes.float64: torch.float64, dtypes.bfloat16: torch.bfloat16, dtypes.complex64: torch.complex64,
    dtypes.complex128: torch.complex128,
}  # fmt: skip
OURS = {theirs: ours for ours, theirs in TORCH.items()}
HALVES = (torch.float16, torch.bfloat16)
#: unsigned types, and the signed ones of the same bits
SIGNED: dict[Any, Any] = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
#: what an integer dtype is computed in
COMPUTED = {**TORCH, **dict.fromkeys((dtypes.uint16, dtypes.uint32, dtypes.uint64), torch.int64)}
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def taken(array: Array) -> Tensor:
    """``array`` as a tensor of the CPU, in the same memory where that can be written."""
    ready = array if array.flags.writeable and array.flags.c_contiguous else np.array(array, order="C")
    if ready.dtype == _BFLOAT16:
        return torch.from_numpy(ready.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(ready)


def as_array(tensor: Tensor) -> Array:
    """``tensor`` as a C-contiguous array: in the same memory where it is one of the CPU."""
    host = tensor.detach().contiguous().cpu()
    if host.dtype == torch.bfloat16:
        return np.asarray(host.view(torch.int16).numpy().view(_BFLOAT16))
    if host.dtype in SIGNED:
        return np.asarray(host.view(SIGNED[host.dtype]).numpy().view(OURS[host.dtype].numpy))
    return np.asarray(host.resolve_conj().resolve_neg().numpy())


def as_signed(tensor: Tensor) -> Tensor:
    """The bits of an unsigned tensor as signed numbers; others as they are."""
    return tensor.view(SIGNED[tensor.dtype]) if tensor.dtype in SIGNED else tensor


def widened(tensor: Tensor, halves: bool) -> Tensor:
    """A tensor in a dtype that PyTorch computes in: unsigned ones as Int64, with ``halves`` short floats as Float32.

    Raises ``NoKernel`` for UInt64.
    """
    if tensor.dtype == torch.uint64:
        raise NoKernel("UInt64")
    if tensor.dtype in SIGNED:
        mask = (1 << (8 * tensor.element_size())) - 1
        return tensor.view(SIGNED[tensor.dtype]).to(torch.int64) & mask
    return tensor.to(torch.float32) if halves and tensor.dtype in HALVES else tensor


def finished(value: Tensor, dtype: DType) -> Tensor:
    """``value`` in ``dtype``, C-contiguous. Floats become integers as the harness's kernels do it: toward zero and by
    way of Int64; integers wrap.

    Raises ``NoKernel`` for floats to UInt64.
    """
    wanted = TORCH[dtype]
    if value.dtype == wanted:
        return value.contiguous()
    if dtype.kind in "iu" and value.is_floating_point():
        if dtype is dtypes.uint64:
            raise NoKernel("UInt64")
        value = value.to(torch.int64)
    if wanted in SIGNED and not value.dtype.is_floating_point:
        signed = SIGNED[wanted]
        return (value if value.dtype == signed else value.to(signed)).contiguous().view(wanted)
    return value.to(wanted).contiguous()


def numbers(known: Any, value: Any) -> list[int]:
    """The whole numbers of an argument (a number, a tuple, a tensor): of a constant, ``known``, without asking the
    device for them."""
    given = value if known is None else known
    return [int(n) for n in (given.reshape(-1).tolist() if hasattr(given, "reshape") else np.ravel(given).tolist())]
