"""Notes where values leave PyTorch's operators for numpy inside a step: nobody sees what becomes of them there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import torch

#: methods of tensors that hand their values out
_WAYS = ("numpy", "__array__", "tolist", "__dlpack__")
LEFT = "values left for numpy here; what is made of them is compared where it comes back or is returned"


@contextmanager
def noted(note: Callable[[], None]) -> Iterator[None]:
    """Calls ``note`` whenever a tensor's values leave inside the block."""
    with ExitStack() as stack:
        for name in _WAYS:
            if name not in vars(torch.Tensor):
                stack.callback(delattr, torch.Tensor, name)
            else:
                stack.callback(setattr, torch.Tensor, name, vars(torch.Tensor)[name])
            setattr(torch.Tensor, name, _noting(getattr(torch.Tensor, name), note))
        yield


def _noting(original: Callable[..., Any], note: Callable[[], None]) -> Callable[..., Any]:
    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        note()
        return original(*args, **kwargs)

    return run
