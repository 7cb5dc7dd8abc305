"""Expands composite operators, after the graph was differentiated and simplified."""

from __future__ import annotations

from harness.framework.compile.differentiate import as_value, grouped
from harness.framework.compile.trace import Tracer
from harness.framework.ops.base import OPERATORS
from harness.framework.ops.expansion import Composite
from harness.framework.tensor import using
from harness.graph import Node, NodeExtra, Operand, Parameter, TensorSpec, U, printed_order


def expand(output: Operand) -> Operand:
    """Replaces every composite node of the graph behind ``output`` by its parts; returns the new output.

    Several results stay a tuple whose members are taken out again, used or not (measured). If an operator changes its
    first argument in place, its result is assigned to that argument.
    """
    became: dict[int, Operand] = {}
    order = printed_order(output)
    follows = {id(node.inputs[1]): node for node in order if node.op == "UpdateState"}
    for node in order:
        node.inputs = [became.get(id(i), i) for i in node.inputs]
        if node.kernel and isinstance(OPERATORS.get(node.op), Composite):
            is_update = node.extra.effect is not None
            became[id(node)] = _assigned(node, follows[id(node)]) if is_update else _parts(node, node.inputs)
    return became.get(id(output), output)


def _parts(node: Node, inputs: list[Operand]) -> Operand:
    operator = OPERATORS.get(node.op)
    assert isinstance(operator, Composite)
    tracer = Tracer(operator.expansion_scope)
    tracer.region = node.extra.region
    tracer.source = ("code", node.source or node.related)
    args = grouped(node, [as_value(i) for i in inputs])
    with using(tracer):
        operand = _whole(tracer.operand(operator.expand(*args)))
    tracer.leave()
    operator.finish(tracer.created, *args[1:2])
    if any(isinstance(OPERATORS.get(n.op), Composite) for n in tracer.created):
        operand = expand(operand)
    if node.extra.root is not None and isinstance(operand, Node):
        for part in (operand, *(operand.inputs if operand.op == "MakeTuple" else ())):
            if isinstance(part, Node):
                part.extra.root = node.extra.root
    return operand


def _whole(operand: Operand) -> Operand:
    """``operand``; the operator itself for a tuple of all that it gives, which nothing made again (measured)."""
    if not (isinstance(operand, Node) and operand.op == "MakeTuple" and operand.inputs):
        return operand
    sources = [_source(part, at) for at, part in enumerate(operand.inputs)]
    first = sources[0]
    whole = first is not None and all(each is first for each in sources) and first.spec == operand.spec
    return first if first is not None and whole else operand


def _source(member: Operand, number: int) -> Operand | None:
    """The tuple whose value at a place this is; None for any other value."""
    if isinstance(member, Node) and member.op == "TupleGetItem" and getattr(member.inputs[1], "value", 0) == number:
        return member.inputs[0]
    return None


def _assigned(node: Node, follows: Node) -> Node:
    """The assignment of an operator's result to its first argument. Arguments that are memory are read after the state
    the operator followed; ``follows`` is the state after it."""
    target, state = node.inputs[0], node.inputs[-1]
    inputs: list[Operand] = []
    for at, operand in enumerate(node.inputs[:-1]):
        inputs.append(_virtual("Load", [operand, state], node) if at == 0 or _is_memory(operand) else operand)
    result = _parts(node, inputs)
    before = _virtual("UpdateState", [follows.inputs[0], result], node)
    follows.inputs[0] = before
    assign = Node("Assign", [target, result, before], {"side_effect_mem": True}, "Default", target.spec)
    assign.related_kind, assign.related = "code", node.source or node.related
    assign.extra = NodeExtra(layout=(None, None), region=node.extra.region, effect="memory")
    assign.extra.root = node.extra.root
    return assign


def _is_memory(operand: Operand) -> bool:
    if isinstance(operand, Node):
        return operand.extra.root is not None and operand.op != "Load"
    return isinstance(operand, Parameter) and (operand.is_weight or operand.is_inplace)


def _virtual(op: str, inputs: list[Operand], node: Node) -> Node:
    """A read or a state in front of an assignment."""
    spec = U.spec if op == "UpdateState" else inputs[0].spec
    made = Node(op, inputs, {}, "Default", spec.tensor if isinstance(spec, TensorSpec) else spec, kernel=False)
    made.extra = NodeExtra(layout=(None,) * len(inputs), functional=False, region=node.extra.region)
    made.extra.closure = node.extra.closure
    return made
