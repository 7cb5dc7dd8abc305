"""A cell that is called in a graph and differentiated there with the same arguments, once each: it runs once.

Measured on MindSpore 2.10.0 (``tests/data/graphs/nets/repeated.py``), where a custom training step calls ``network(x)``
and then ``GradOperation(get_by_list=True)(network, weights)(x)``: statistics of a ``BatchNorm`` move once. Two calls,
or other arguments, run separately. Where such a function is differentiated itself, runs that are equal stay apart until
that is done (``nets/runs.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.framework.compile.traced import Traced
from harness.graph import Node


class _Call(NamedTuple):
    cell: Any
    args: Sequence[Any]
    out: Any
    nodes: Sequence[Node]


class Repeated:
    """The direct calls of cells in one graph."""

    def __init__(self) -> None:
        self._calls: dict[int, list[_Call]] = {}

    def add(self, cell: Any, args: Sequence[Any], out: Any, nodes: Sequence[Node]) -> None:
        """A call of ``cell``, which made ``nodes``."""
        self._calls.setdefault(id(cell), []).append(_Call(cell, args, out, nodes))

    def take_back(self, cell: Any) -> None:
        """The last call of ``cell`` was that of a gradient."""
        if id(cell) in self._calls:
            self._calls[id(cell)].pop()

    def only(self, cell: Any, args: Sequence[Any]) -> _Call | None:
        """The one call of ``cell`` so far, if it has these arguments."""
        calls = self._calls.get(id(cell), [])
        if len(calls) != 1:
            return None
        return calls[0] if _keys(calls[0].args) == _keys(args) else None


def _keys(args: Sequence[Any]) -> list[int]:
    return [id(arg.operand) if isinstance(arg, Traced) else id(arg) for arg in args]
