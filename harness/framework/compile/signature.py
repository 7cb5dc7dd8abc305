"""The signature of a trace: equal signatures run the same kernels on the same weights."""

from __future__ import annotations

from typing import Any

from harness.framework.compile.program import Trace
from harness.framework.compile.regions import Region
from harness.graph import Const, Node, Operand


def signature(trace: Trace) -> tuple[Any, ...] | None:
    """A value that equal traces share; None for a trace with control flow, which is never shared."""
    region = trace.block.items[0]
    if len(trace.block.items) != 1 or not isinstance(region, Region):
        return None
    places: dict[int, int] = {id(parameter): -1 - at for at, parameter in enumerate(trace.inputs)}
    rows: list[Any] = []
    roots = [o for o in (trace.block.result, region.effect) if o is not None]
    pending: list[Operand] = list(reversed(roots))
    while pending:
        operand = pending[-1]
        if id(operand) in places:
            pending.pop()
            continue
        missing = [i for i in operand.inputs if id(i) not in places] if isinstance(operand, Node) else []
        if missing:
            pending += reversed(missing)
            continue
        pending.pop()
        places[id(operand)] = len(rows)
        rows.append(_row(operand, places))
    return (*rows, *(places[id(root)] for root in roots), trace.structure, len(trace.inputs))


def _row(operand: Operand, places: dict[int, int]) -> Any:
    if isinstance(operand, Node):
        inputs = tuple(places[id(i)] for i in operand.inputs)
        extra = operand.extra
        # A program's nodes keep their streams, so no other one has the same id.
        stream = None if extra.stream is None else id(extra.stream)
        return operand.op, inputs, extra.layout, repr(operand.spec), repr(operand.attrs), extra.effect, stream
    if isinstance(operand, Const):
        value = operand.value
        content = (value.dtype.str, value.shape, value.tobytes()) if hasattr(value, "tobytes") else repr(value)
        return "constant", content, repr(operand.spec), operand.late, id(operand.memory)
    return "weight", id(operand.handle), repr(operand.spec)
