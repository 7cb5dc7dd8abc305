"""Nodes of a graph as MindSpore's compiler has them: operators of every kind, the bookkeeping ones included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.recording.operands import IO, Constant, Parameter, SourceLine, U, constant, spec_of
from harness.recording.spec import Spec, TupleSpec

__all__ = [
    "IO", "Const", "Node", "NodeExtra", "Operand", "Parameter", "SourceLine", "U", "constant", "spec_of",
]  # fmt: skip

Const = Constant


@dataclass(eq=False, slots=True)
class NodeExtra:
    """Facts about a node from tracing and compiling; each field is None (or empty) if unknown.

    Fields that the graph itself does not use are opaque here; ``harness.framework.compile`` defines them.

    Attributes:
        layout: how inputs are grouped: None for one input, a number for that many tensors of a tuple, a tuple of dtypes
            for constants that no file shows.
        functional: whether it was called as a function: the ``.ir`` shows ``PrimFunc_``.
        absent: arguments that were left out, by name, with what the ``.ir`` shows for them.
        instance_name, cnode_attrs, primal_attrs: what the ``.ir`` prints of them, if anything.
        abstract: the requested spec, if the device has no kernel for its dtype.
        graph: the graph whose kernel it is.
        region: the region it was traced in; ``control`` the branch or loop it stands for.
        closure: the function graph it was traced in; ``inside`` the library's functions it was traced in.
        effects_before: number of effects in its closure before it.
        effect: ``memory`` or ``io`` if it has an effect; ``root`` the parameter whose memory it reads or changes.
        looped: whether a loop changes its memory: nothing else has it as its value.
        cell: scope of the cell that reads a parameter.
        cast: the reason of a Cast: ``implicit``, or what it casts.
        backward: whether it takes a result apart for a gradient.
        kept: whether it copies an input before that is overwritten.
        custom: the gradient defined by a cell itself.
        outside: whether its gradient stands in ``Default``, outside every cell.
        homeless: whether it stood in ``Default`` when its function was differentiated, and got a scope only then.
        inserted: whether kernel selection inserted it.
        fusion: the parts of a fused kernel; ``alone`` is its name without fusion.
        stream: where a random operator in a gradient outside of graphs stopped to draw; its primitive goes on there.
    """

    layout: tuple[Any, ...] = ()
    functional: bool = True
    absent: Mapping[Any, Any] = field(default_factory=dict)
    instance_name: Any = None
    cnode_attrs: Any = None
    primal_attrs: Any = None
    abstract: Spec | None = None
    graph: Any = None
    region: Any = None
    control: Any = None
    closure: Any = None
    inside: Any = None
    effects_before: int = 0
    effect: Any = None
    root: Any = None
    looped: bool = False
    cell: str | None = None
    cast: Any = None
    backward: bool = False
    kept: Node | None = None
    custom: Any = None
    outside: bool = False
    homeless: bool = False
    inserted: bool = False
    fusion: Any = None
    alone: str | None = None
    stream: dict[str, Any] | None = None


@dataclass(eq=False, slots=True)
class Node:
    """One operator of a graph.

    Attributes:
        op: primitive name without the ``PrimFunc_`` of the ``.ir`` (``MatMul``).
        inputs: arguments in the order of the ``.ir``, constants included.
        attrs: the primitive's attributes, in order.
        scope: ``Default/fc1-Dense``; the node's full name is ``{scope}/{op}-op{number}``.
        spec: the result; a ``TupleSpec`` for several outputs.
        number: the N of ``-opN`` in this process, set by ``compile.order``; -1 before.
        source: stack, outermost call first.
        related: candidates of derived nodes (gradients, passes), outermost first; their heading is ``related_kind``.
        kernel: False for Load, Depend, MakeTuple, TupleGetItem, UpdateState and Return.
        debug_name: what the ``.ir`` prints in brackets after ``%k``.
        extra: facts from tracing and compiling.
    """

    op: str
    inputs: list[Operand]
    attrs: dict[str, Any]
    scope: str
    spec: Spec
    kernel: bool = True
    number: int = -1
    source: tuple[SourceLine, ...] = ()
    related: tuple[SourceLine, ...] = ()
    related_kind: str = ""
    debug_name: str = ""
    extra: NodeExtra = field(default_factory=NodeExtra)

    @property
    def name(self) -> str:
        """Full name with scope, ``Default/fc1-Dense/MatMul-op0``."""
        return f"{self.scope}/{self.op}-op{self.number}"

    @property
    def outputs(self) -> tuple[Spec, ...]:
        """Specs of ``output.0``, ``output.1``, ..."""
        return self.spec.items if isinstance(self.spec, TupleSpec) else (self.spec,)

    def __repr__(self) -> str:
        return f"<Node {self.name}>"


Operand = Node | Const | Parameter
