"""Sums of two, one of them reduced over ranks: MindSpore adds first, and reduces then.

``AddN(Mul(AllReduce(x), y), z)`` becomes ``Mul(AllReduce(AddN(z, x)), y)`` in the graph of a cell, never in that of a
``jit`` function. So a data-parallel training adds the weight decay before the gradients' mean is taken, and a rank's
own ``z`` is averaged. A tuple that holds the product holds the sum that is not multiplied from then on. All of it is
measured (``tests/interop/ranks/decay.py``, ``sums.py``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.graph import Node, Operand, printed_order


def add_before_reduction(output: Operand) -> bool:
    """Rewrites the sums behind ``output``, those next to the result first; says whether there are any."""
    is_changed = False
    users: dict[int, list[Node]] = {}
    for user in printed_order(output):
        for operand in user.inputs:
            users.setdefault(id(operand), []).append(user)
    queue, seen = deque[Operand]([output]), {id(output)}
    while queue:
        node = queue.popleft()
        if not isinstance(node, Node):
            continue
        if (found := _reduced(node)) is not None:
            _rewrite(node, *found, users)
            is_changed = True
        for operand in node.inputs:
            if id(operand) not in seen:
                seen.add(id(operand))
                queue.append(operand)
    return is_changed


def _reduced(node: Node) -> tuple[Node, Node, Operand, Operand] | None:
    """The product, its reduction, its factor and the other summand of a sum that is rewritten."""
    if node.op != "AddN" or len(node.inputs) != 2:
        return None
    for product, other in (node.inputs, node.inputs[::-1]):
        if not (isinstance(product, Node) and product.op == "Mul"):
            continue
        for reduction, factor in (product.inputs, product.inputs[::-1]):
            if isinstance(reduction, Node) and reduction.op == "AllReduce" and reduction.spec == other.spec:
                return product, reduction, factor, other
    return None


def _rewrite(
    node: Node, product: Node, reduction: Node, factor: Operand, other: Operand, users: dict[int, list[Node]]
) -> None:
    inner = reduction.inputs[0]
    summed = _like(node, node, [other, inner])
    reduced = _like(reduction, node, [summed])
    for user in users.get(id(product), ()):
        if user is not node:
            for at in _members(user):
                if user.inputs[at] is product:
                    user.inputs[at] = reduced
                    users.setdefault(id(reduced), []).append(user)
    for operand in (other, inner):
        users.setdefault(id(operand), []).append(summed)
    node.op, node.attrs, node.extra = product.op, dict(product.attrs), replace(product.extra, inside=node.extra.inside)
    node.inputs = [reduced, factor]


def _like(model: Node, place: Node, inputs: Sequence[Operand]) -> Node:
    """A node as ``model`` with other inputs, where ``place`` stands."""
    made = Node(model.op, list(inputs), dict(model.attrs), place.scope, model.spec, source=place.source)
    made.related, made.related_kind = place.related, place.related_kind
    made.extra = replace(model.extra, closure=place.extra.closure, region=place.extra.region)
    return made


def _members(node: Node) -> Iterator[int]:
    """The inputs of a node that are members of a tuple there."""
    if node.op == "MakeTuple":
        yield from range(len(node.inputs))
        return
    at = 0
    for count in node.extra.layout:
        if isinstance(count, int):
            yield from range(at, at + count)
        at += 1 if count is None else count if isinstance(count, int) else 0
