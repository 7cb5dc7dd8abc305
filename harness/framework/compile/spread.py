"""Functions first called in ``Default`` whose calls are put in one after the other: all but the last put in are copies,
which stand in the scope of their call; the last is the function itself, in ``Default``.

Source: graphs of MindSpore 2.10.0, measured (``tests/data/graphs/nets/spread.py``). Only equal calls, of equal shapes
and arguments, share a function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.compile.closure import Closure
from harness.framework.compile.functions import METHODS
from harness.framework.compile.inline import inlining_order
from harness.framework.tensor import OLD
from harness.graph import Node, Operand, printed_order

#: those measured; others stand where each is called, or all in ``Default``
SPREAD = frozenset(
    {
        "Tensor.any", "ops.amax", "ops.amin", "ops.argmin", "ops.chunk", "ops.max", "ops.mean",
        "ops.min", "ops.one_hot", "ops.pad", "ops.relu", "ops.squeeze",
    }
)  # fmt: skip


#: those whose older form is another function (measured)
_APART = frozenset({"ops.argmin"})


class Calls:
    """The calls of those functions that were first called in ``Default``, and were not placed yet."""

    def __init__(self) -> None:
        self._known: dict[Any, list[tuple[Sequence[Node], str]]] = {}

    def add(self, key: Any, nodes: Sequence[Node], scope: str) -> None:
        """A call from ``scope`` of the function ``key``, which made ``nodes``."""
        plain = key.removesuffix(OLD) if isinstance(key, str) else ""
        shared = METHODS.get(plain, plain)
        if shared in SPREAD and nodes and (plain == key or shared not in _APART):
            inputs = repr([(i.spec, getattr(i, "value", None)) for i in nodes[0].inputs])
            same = self._known.setdefault((repr([(node.op, node.attrs) for node in nodes]), inputs), [])
            same.append((nodes, scope if plain == key else "Default"))

    def place(self, order: Sequence[Closure]) -> None:
        """Gives each call its scope, where ``order`` is that in which function graphs are put in."""
        rank = {closure: at for at, closure in enumerate(order)}
        for calls in self._known.values():
            if len(calls) < 2 or any(node.extra.closure not in rank for nodes, _ in calls for node in nodes):
                continue
            calls.sort(key=lambda call: rank[call[0][0].extra.closure])
            for nodes, scope in calls:
                for node in nodes:
                    node.scope, node.extra.homeless = scope, scope != "Default"
            for node in calls[-1][0]:
                node.scope = "Default"
        self._known.clear()

    def place_behind(self, result: Operand, created: Sequence[Node]) -> None:
        """The same for a graph that nothing is differentiated in."""
        if any(len(calls) > 1 for calls in self._known.values()):
            self.place(inlining_order(printed_order(result), [result], created)[0])
