"""Where the parts of a distributed tensor lie, in the words of a table of placements (``compare.shards``)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import product
from typing import Any

import torch

#: the name of the text that a step keeps
PLACEMENTS = "placements"


def placement_of(tensor: Any) -> str:
    """``Shard(0)@0,2|1,3 Partial(sum)@0,1|2,3``: how the parts are joined, step by step; empty for one that every rank
    holds whole, and for any other tensor.

    Where two axes of a mesh cut one axis of a tensor, the later cut is joined first; one that is laid below the other
    (FSDP over tensor parallelism) before it.
    """
    mesh, placements = getattr(tensor, "device_mesh", None), getattr(tensor, "placements", None)
    if mesh is None or placements is None:
        return ""
    steps = []
    for axis in sorted(range(len(placements)), key=lambda at: (not _is_strided(placements[at]), -at)):
        said = _said(placements[axis])
        if said and mesh.mesh.shape[axis] > 1:
            steps.append(f"{said}@{_groups(mesh.mesh, axis)}")
    return " ".join(steps)


def is_distributed(tensor: Any) -> bool:
    """Whether a tensor says where its parts lie."""
    distributed = sys.modules.get("torch.distributed.tensor")
    return distributed is not None and isinstance(tensor, distributed.DTensor)


def lines(known: Mapping[str, str]) -> str:
    """Placements by slot as a text: a line of a table each; one that every rank holds whole is ``Replicate``."""
    return "\n".join(f"{slot} = {how or 'Replicate'}" for slot, how in known.items())


def _is_strided(placement: Any) -> bool:
    return type(placement).__name__ == "_StridedShard"


def _said(placement: Any) -> str:
    if placement.is_partial():
        return f"Partial({'mean' if placement.reduce_op == 'avg' else placement.reduce_op})"
    return f"Shard({placement.dim})" if hasattr(placement, "dim") else ""


def _groups(mesh: torch.Tensor, axis: int) -> str:
    """The ranks along one axis of a mesh: ``0,2|1,3``."""
    ranks = mesh.movedim(axis, -1)
    found = [ranks[at].tolist() for at in product(*(range(size) for size in ranks.shape[:-1]))]
    return "|".join(",".join(map(str, group)) for group in found)
