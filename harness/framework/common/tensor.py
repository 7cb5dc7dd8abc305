"""``mindspore.common.tensor``, and the small functions of MindSpore's top level about tensors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import harness.framework.ops  # noqa: F401 - the methods and operators of tensors
from harness.errors import SettingTypeError
from harness.framework import kinds
from harness.framework.tensor import Symbol, Tensor
from harness.framework.tensor import mutable as of_members

__all__ = ["Symbol", "Tensor", "from_numpy", "is_tensor", "mutable"]


def from_numpy(array: np.ndarray[Any, np.dtype[Any]]) -> Tensor:
    """A tensor of an array's values and dtype."""
    if not isinstance(array, np.ndarray):
        raise SettingTypeError(f"from_numpy takes a numpy array, got {type(array).__name__}")
    return Tensor.from_numpy(array)


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


@partial(kinds.checked, "ms.mutable")
def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """``input_data`` whose members, at any depth, are inputs of a graph and not constants, as ``mindspore.mutable``.

    Args:
        input_data: a tuple, list or dict; anything else is given back as it is. A constant tensor (``const_arg``)
            itself is none from now on, for its other users, too; one that is a member stays (measured:
            ``tests/data/programs/constants_made_mutable.txt``).
        dynamic_len: accepted; each length is compiled by itself.
    """
    if isinstance(dynamic_len, list):
        raise SettingTypeError(f"mutable: dynamic_len must be a bool, got {dynamic_len!r}")
    if isinstance(input_data, Tensor) and input_data.const_arg:
        input_data.const_arg = False
    return of_members(input_data)
