"""The registry of PyTorch's kernels, by MindSpore's operator names.

A kernel computes with PyTorch what the operator's numpy kernel computes. It takes tensors, numbers and tuples as the
numpy kernel does. Its result may have any dtype and is cast to the one the graph shows. Operators that update in place
write into the tensors they are given. The harness's own kernel computes an operator without one; a capture names those
that ran.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.registry import Registry, instance_of

Function = TypeVar("Function", bound=Callable[..., Any])


class NoKernel(Exception):
    """PyTorch has no kernel that means the same for these arguments: the harness's own computes this call.

    Args:
        what: the missing thing, in a word or two (``UInt64``).
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(frozen=True, slots=True)
class Kernel:
    """How PyTorch computes an operator.

    Attributes:
        function: ``function(call, *arguments)`` gives a tensor or a tuple of tensors.
        wide: float16 and bfloat16 are computed in Float32 and rounded once, because the kernel has several steps or
            PyTorch has no kernel in them.
        moves: it only moves bits: unsigned integers come as signed ones of the same bits.
        wraps: it treats the bits of signed integers like those of unsigned ones, so UInt64 comes as Int64.
    """

    function: Callable[..., Any]
    wide: bool = False
    moves: bool = False
    wraps: bool = False


def _populate() -> None:
    package = importlib.import_module("harness.framework.engines.torch.kernels")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


#: packages outside add kernels of their own operators through the entry-point group ``harness.framework.engines.torch``
KERNELS: Registry[Kernel] = Registry(
    "PyTorch kernel", "harness.framework.engines.torch", _populate, instance_of(Kernel)
)


def kernel(*names: str, wide: bool = False, moves: bool = False, wraps: bool = False) -> Callable[[Function], Function]:
    """Registers a function as the kernel of the operators called ``names``; see ``Kernel``."""

    def register(function: Function) -> Function:
        for name in names:
            KERNELS.register(name, Kernel(function, wide, moves, wraps))
        return function

    return register
