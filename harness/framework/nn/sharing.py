"""The parameters of rank 0 for all ranks (``set_auto_parallel_context(parameter_broadcast=True)``)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from harness.framework.communication import world
from harness.framework.tensor import Parameter, Tensor


def take_from_rank_0(parameters: Iterable[Parameter]) -> None:
    """Gives every rank the values of rank 0; ``CollectiveError`` if the ranks have other parameters, or one failed."""
    here, given = world.current(), list(parameters)
    if here.client is None:
        return
    arrays = [np.ascontiguousarray(each.asnumpy()) for each in given]
    what = "parameters: " + ", ".join(f"{each.name} {each.dtype}{list(each.shape)}" for each in given)
    blocks = [] if here.rank else [b"".join(each.tobytes() for each in arrays)]
    whole, at = here.client.exchange("world", range(here.size), what, blocks)[0], 0
    for each, array in zip(given, arrays, strict=True):
        part = np.frombuffer(whole[at : at + array.nbytes], array.dtype).reshape(array.shape)
        at += array.nbytes
        if here.rank:
            each.set_data(Tensor(part.copy(), each.dtype))
