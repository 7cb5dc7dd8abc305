"""Nodes of a graph: constants, parameters and operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.graph.spec import IOMONAD, UMONAD, OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One frame of the stack in which a node was written.

    Attributes:
        path: source file as Python knows it.
        line, line_end: first and last line (equal for one line), from 1.
        column, column_end: from 0; None where unknown.
        text: the first line of the source, with its leading blanks.
    """

    path: str
    line: int
    line_end: int
    column: int | None
    column_end: int | None
    text: str


@dataclass(eq=False, slots=True)
class Const:
    """A value known at compile time.

    Attributes:
        value: bool, int, float, str, None, a ``DType``, a tuple of such, an array (tensor constant), or the text
            ``"U"`` / ``"IO"`` of a monad (then ``spec`` tells).
        spec: type of the value.
        late: whether it becomes known only after constants are folded, so that nothing is computed from it (measured).
    """

    value: Any
    spec: Spec
    late: bool = False


@dataclass(eq=False, slots=True)
class Parameter:
    """A parameter of the graph: a weight, an optimizer's state, or a data input.

    Attributes:
        name: name in dump files (``fc1.weight``, ``inputs0``, ``x``).
        spec: its tensor (``ref_key`` set for weights).
        is_weight: False for data inputs.
        handle: the object that owns the array at run time (opaque to the graph).
        is_inplace: whether a node of the graph updates it.
        is_member: it is a member of a tuple, list or dict, for which a dump has no file.
    """

    name: str
    spec: Spec
    is_weight: bool
    handle: Any = None
    is_inplace: bool = False
    is_member: bool = False


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


def constant(value: Any) -> Const:
    """Wraps a Python value, a dtype, or an array as a ``Const``.

    An int becomes Int64, a float Float32, as MindSpore prints scalars of a graph; an array becomes a tensor constant.
    """
    if isinstance(value, Const):
        return value
    return Const(value, spec_of(value))


def spec_of(value: Any) -> Spec:
    """The spec of a Python value as a graph constant; ``TypeError`` if a graph cannot hold it."""
    if isinstance(value, (bool, np.bool_)):
        return ScalarSpec(dtypes.bool_)
    if isinstance(value, (int, np.integer)):
        return ScalarSpec(dtypes.int64)
    if isinstance(value, (float, np.floating)):
        return ScalarSpec(dtypes.float32)
    if isinstance(value, np.ndarray):
        return TensorSpec(dtypes.from_numpy(value.dtype), value.shape)
    if isinstance(value, (tuple, list)):
        return TupleSpec(tuple(spec_of(v) for v in value))
    if isinstance(value, str):
        return OpaqueSpec("String")
    if isinstance(value, DType):
        return OpaqueSpec("Type")
    if value is None:
        return OpaqueSpec("None")
    raise TypeError(f"a graph cannot hold a constant of type {type(value).__name__}: {value!r}")


U = Const("U", UMONAD)
IO = Const("IO", IOMONAD)
