"""Chained reshapes: MindSpore makes one of them, and none of one that changes nothing.

It does so before it differentiates, too: the gradient of a chain is one ``Reshape``, in the scope of the last one.

Source: MindSpore 2.10.0 graphs, measured.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from harness.graph import Node, Operand, TensorSpec, printed_order


def merged(node: Node, fixed: Container[int] = ()) -> Operand:
    """What a ``Reshape`` becomes: one of what another one, not among those of the ids ``fixed``, takes (the node is
    changed), or its input."""
    inner = node.inputs[0]
    if isinstance(inner, Node) and inner.op == "Reshape" and inner.spec != node.spec and id(inner) not in fixed:
        node.inputs[0] = inner = inner.inputs[0]
    same = isinstance(inner.spec, TensorSpec) and isinstance(node.spec, TensorSpec)
    # One dimension may be known only at run time: if the others are equal, it is equal too (measured).
    if same and inner.spec.shape == node.spec.shape and node.spec.shape.count(-1) < 2:  # type: ignore[union-attr]
        return inner
    return node


def _waits(inner: Operand, reader: Node) -> bool:
    """Whether ``inner`` comes out of a function that reads weights or updates something: what it gives waits for that,
    so the two do not stand beside each other until the gradient is made (measured; a tuple's members do not wait)."""
    if not isinstance(inner, Node) or inner.extra.closure is None or reader.extra.closure is None:
        return False
    around = reader.extra.closure.path()
    return any(
        closure.effects and not closure.several for closure in inner.extra.closure.path() if closure not in around
    )


class Merged:
    """The graph behind some operands with its chains of reshapes merged, until ``restore``: what was traced stays as
    it is for those who look at it later."""

    def __init__(self, roots: Iterable[Operand], fixed: Container[int]) -> None:
        self._became: dict[int, Operand] = {}
        self._before: dict[int, tuple[Node, list[Operand]]] = {}
        for root in roots:
            for node in printed_order(root):
                if id(node) not in fixed:
                    self._merge(node, fixed)

    def _merge(self, node: Node, fixed: Container[int]) -> None:
        before, node.inputs = node.inputs, [self.of(each) for each in node.inputs]
        if node.op == "Reshape" and node.extra.root is None and not _waits(node.inputs[0], node):
            found = merged(node, fixed)
            if found is not node:
                self._became[id(node)] = found
        if any(one is not other for one, other in zip(before, node.inputs, strict=True)):
            self._before.setdefault(id(node), (node, before))

    def of(self, operand: Operand) -> Operand:
        """What stands for an operand."""
        return self._became.get(id(operand), operand)

    def restore(self) -> None:
        """Gives the nodes the inputs they had."""
        for node, inputs in self._before.values():
            node.inputs = inputs
