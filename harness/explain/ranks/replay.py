"""What a collective gives for its ranks' inputs, and whether an output is that, within the rounding of its sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.explain.ranks.timeline import Execution, plain, same_bits
from harness.records import Array

Inputs = Mapping[int, Sequence[Array]]
_EXTREMES = {"MAX": np.maximum, "MIN": np.minimum}


def reduced(parts: Sequence[Array], reduction: str) -> tuple[Array, Array]:
    """The exact-enough reduction in float64 and what rounding may change, of arrays of one shape.

    Args:
        parts: one array a rank.
        reduction: ``SUM``, ``AVG``, ``MAX``, ``MIN``, ``PRODUCT``.
    """
    wide = [plain(each) for each in parts]
    if reduction in _EXTREMES:
        found = wide[0]
        for each in wide[1:]:
            found = _EXTREMES[reduction](found, each)
        return found, np.zeros(found.shape)
    eps = np.finfo(parts[0].dtype).eps if parts[0].dtype.kind in "fc" else 0.0
    if reduction in ("PRODUCT", "PROD"):
        found = np.multiply.reduce(wide)
        return found, np.abs(found) * len(wide) * eps
    found = np.add.reduce(wide)
    bound = np.add.reduce([np.abs(each) for each in wide]) * len(wide) * eps
    if reduction in ("AVG", "MEAN"):
        return found / len(wide), bound / len(wide) + np.abs(found) / len(wide) * eps
    return found, bound


def fits(found: Array, parts: Sequence[Array], reduction: str) -> bool:
    """Whether ``found`` is the reduction of ``parts``, up to the order of its sum."""
    if any(each.shape != found.shape for each in parts):
        return False
    with np.errstate(all="ignore"):
        expected, bound = reduced(parts, reduction)
        tiny = np.finfo(found.dtype).tiny if found.dtype.kind == "f" else 0.0
        near = np.abs(plain(found) - expected) <= bound + tiny
        return bool(np.all(near | (plain(found) == expected) | (np.isnan(plain(found)) & np.isnan(expected))))


def gives(call: Execution, inputs: Inputs, group: Sequence[int], reduction: str = "SUM") -> bool | None:
    """Whether the outputs of ``call`` are what its kind gives for the inputs; None where that cannot be told.

    Args:
        call: a rank's call.
        inputs: each rank's input values.
        group: the ranks that take part, in order.
        reduction: of a reducing kind.
    """
    outputs = call.values()
    if not outputs or any(rank not in inputs or not inputs[rank] for rank in group if call.kind != "broadcast"):
        return None
    me = list(group).index(call.rank) if call.rank in group else -1
    if call.kind == "reduce" and call.settings.get("dest_rank", str(me)) != str(me):
        return None  # only one rank gets the sum
    if call.kind in ("all_reduce", "reduce"):
        if any(len(inputs[rank]) != len(outputs) for rank in group):
            return None
        return all(fits(out, [inputs[rank][at] for rank in group], reduction) for at, out in enumerate(outputs))
    if call.kind == "broadcast":
        root = int(call.settings.get("root_rank", "-1"))
        if not 0 <= root < len(group) or not inputs.get(group[root]):
            return None
        return all(same_bits(a, b) for a, b in zip(outputs, inputs[group[root]], strict=False))
    if call.kind == "all_gather":
        whole = np.concatenate([np.ravel(each) for rank in group for each in inputs[rank]])
        return same_bits(np.concatenate([np.ravel(each) for each in outputs]), whole)
    if call.kind == "reduce_scatter" and me >= 0:
        flat = {rank: np.concatenate([np.ravel(each) for each in inputs[rank]]) for rank in group}
        out = np.concatenate([np.ravel(each) for each in outputs])
        if any(len(each) != len(out) * len(group) for each in flat.values()):
            return None
        return fits(out, [flat[rank][me * len(out) : (me + 1) * len(out)] for rank in group], reduction)
    return None
