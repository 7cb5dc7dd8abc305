"""Which tensors may lie in the same bytes.

Source: MindSpore 2.10.0, every bit of the relation of its own graphs reproduced. Two tensors may share memory if the
flow of data puts all readers of one before the write of the other, in whatever order independent kernels run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.memory.model import PlanTensor, State

Matrix = np.ndarray[Any, np.dtype[np.bool_]]


def ancestors(state: State) -> Matrix:
    """``[a, b]``: node ``a`` has run before node ``b`` starts, in every order the data allows; shape (nodes, nodes).

    Nodes of one stream run in order; where each node has a stream of its own (CPU) only the data's edges count.
    """
    count = len(state.nodes)
    before = np.zeros((count, count), bool)
    made_by = [tensor.node for tensor in state.tensors]
    last: dict[int, int] = {}
    for node in state.nodes:
        sources = {made_by[source.index] for source in node.inputs if source.sort == "T"}
        if node.stream in last:
            sources.add(last[node.stream])
        last[node.stream] = node.index
        for source in sources:
            before[:, node.index] |= before[:, source]
            before[source, node.index] = True
    return before


def relation(state: State) -> Matrix:
    """``[t, u]``: tensors ``t`` and ``u`` may lie in the same bytes; symmetric, shape (tensors, tensors).

    Tensors that take no memory, and those that live as long as the graph, share with none. A tensor that only starts
    with the graph, or only ends with it, shares with none either, as no order is certain.
    """
    before = ancestors(state)
    made_by = np.array([tensor.node for tensor in state.tensors], np.intp)
    free = np.array([_may_share(tensor) for tensor in state.tensors], bool)
    done = np.zeros((len(state.tensors), len(state.nodes)), bool)
    for tensor, readers in enumerate(state.consumers()):
        done[tensor] = before[readers].all(axis=0)
    shares = done[:, made_by] if len(made_by) else np.zeros((0, 0), bool)
    shares = shares | shares.T
    shares &= free[:, None] & free[None, :]
    result: Matrix = shares & (made_by[:, None] != made_by[None, :])
    return result


def _may_share(tensor: PlanTensor) -> bool:
    return tensor.aligned > 0 and tensor.lifelong == "None"


def settle_unions(state: State, shares: Matrix) -> tuple[Matrix, list[int]]:
    """The relation and the sizes the solver sees.

    The first member of a union stands for all: it shares only with what every member may share with, and takes the
    size of the largest. The others take nothing. A union with a member outside the planned memory lies there wholly.

    Returns:
        The relation, and the aligned size of each tensor.
    """
    shares = shares.copy()
    sizes = [tensor.aligned for tensor in state.tensors]
    for first, *others in state.unions:
        common = shares[[first, *others]].all(axis=0)
        shares[first, :] &= common
        shares[:, first] &= common
        largest = max(sizes[member] for member in (first, *others))
        outside = any(sizes[member] == 0 for member in (first, *others))
        sizes[first] = 0 if outside else largest
        for member in others:
            sizes[member] = 0
    return shares, sizes
