"""Adds the gradient of a traced function to the graph.

The rules of scope and order are those of MindSpore 2.10.0's graphs, measured:

* gradient nodes stand in ``Gradients/{scope}/Grad_{Op}``, where ``scope`` is that of the first forward node, walking
  depth first from the result, that uses an equal primitive;
* contributions to one value are summed by one ``AddN`` in ``Gradients/{scope of the value}``, in forward order of
  the users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from harness.errors import DecidedLateError, TraceError
from harness.framework.compile import custom_backward, reshapes
from harness.framework.compile.arguments import ARGUMENT
from harness.framework.compile.complex_gradient import prepared
from harness.framework.compile.inline import inlining_order
from harness.framework.compile.reads import read_scope, reads
from harness.framework.compile.scopes import scope
from harness.framework.compile.source import where
from harness.framework.compile.trace import Tracer
from harness.framework.compile.traced import Traced
from harness.framework.ops.base import OPERATORS, Backward
from harness.framework.tensor import Tensor, call, is_eager
from harness.graph import Const, Node, Operand, Parameter, TensorSpec, TupleSpec, printed_order

GRADIENTS = "Gradients/"

#: operators of several results whose gradients of an unused result are shown as computed (measured)
LATE_ZEROS = frozenset({"ReduceStd"})
#: operators whose results are summed each by itself, however many of them are used (measured)
UNPACKED = frozenset({"SplitWithSize"})
#: operators that pass zeros on as gradients, so that their inputs are differentiated too
#: (measured: ``tests/framework/compile/test_zero_gradients.py``); other operators end the walk
ZERO_GRADIENTS = frozenset(
    {
        "Argmax", "BatchNormGrad", "Ceil", "Equal", "FloorDiv", "Gather", "Greater",
        "GreaterEqual", "InplaceFloorDivide", "InplaceFloorDivides", "IsFinite", "IsInf", "IsNan", "LayerNormGrad",
        "Less", "LessEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "NotEqual", "OneHot", "OnesLikeExt",
        "ReluGrad", "Round", "Select", "Sign", "ZerosLikeExt",
    }
)  # fmt: skip


#: operators whose gradients stand in ``Default`` wherever they are used (measured)
IN_DEFAULT = frozenset({"AdaptiveMaxPool2D"})
#: the same, where a function of the library holds them (measured: ``tests/data/graphs/nets/trained_shrinks.py``)
OF_FUNCTIONS_IN_DEFAULT = frozenset({"HShrink", "SoftShrink"})
#: operators whose gradient ends in a ``Reshape`` that stands in ``Default`` where a function of the library holds them
#: (measured: ``tests/data/graphs/nets/trained_shrinks.py``)
RESHAPED_IN_DEFAULT = frozenset({"BroadcastTo"})


def gradient(
    tracer: Tracer,
    out: Any,
    sens: Any,
    wrt: Sequence[Operand],
    homes: Mapping[int, str] = MappingProxyType({}),
    readers: Sequence[Node] | None = None,
    before: Sequence[Node] = (),
) -> list[Any]:
    """Traced gradients of ``out`` for each operand of ``wrt``.

    Args:
        tracer: the tracer in force.
        out: traced result, or a (nested) tuple of results.
        sens: gradient of the result (same structure); None takes ones.
        wrt: parameters or nodes; one that ``out`` does not depend on gets zeros.
        homes: scope in which the contributions to an argument of the function are summed, by the ``id`` of its operand.
        readers: what reads parameters outside of gradients, in program order; None: the function itself.
        before: nodes that are not the function's: no gradient flows through them.
    """
    return _Gradient(tracer, out, wrt, homes, readers, before).run(None if sens is None else _tensors(sens, out))


class _Gradient:
    def __init__(
        self,
        tracer: Tracer,
        out: Any,
        wrt: Sequence[Operand],
        homes: Mapping[int, str],
        readers: Sequence[Node] | None,
        before: Sequence[Node],
    ) -> None:
        self.homes, self.readers = homes, readers
        self.before = {id(node) for node in before}
        self.tracer = tracer
        self.wrt = list(wrt)
        roots = [self._root(each) for each in _tensors(out, out)]
        tracer.closures.finish()
        behind = [node for root in roots for node in printed_order(root.operand)]
        self.nested = self._holds_gradient(behind)
        self.merged = reshapes.Merged((root.operand for root in roots), self.before)
        self.roots = [Traced(self.merged.of(r.operand), r.spec) for r in roots]
        self.order: list[Node] = []
        seen: set[int] = set()
        for root in self.roots:
            for node in printed_order(root.operand):
                if id(node) not in seen:
                    seen.add(id(node))
                    self.order.append(node)
        self.position = {id(n): i for i, n in enumerate(self.order)}
        self.needed = self._needed()
        self.scopes = self._scopes()
        # contributions: operand -> [(position of the user, argument, traced gradient)]
        self.parts: dict[int, list[tuple[int, int, Any]]] = {}

    def _holds_gradient(self, behind: Sequence[Node]) -> bool:
        """Whether a gradient was made within the function whose nodes are ``behind`` its results."""
        own = {id(node) for node in behind if id(node) not in self.before}
        return any(id(node) in own for nodes, _scopes in self.tracer.looked_up for node in nodes)

    def _root(self, value: Any) -> Traced:
        """A result as a value of the graph: one that depends on nothing is a constant; memory that was changed in
        place is what the last change gave."""
        if isinstance(value, Traced):
            name = self.tracer.states.latest(value.operand)
            return value if name is value.operand else Traced(name, value.spec)
        operand = self.tracer.operand(value)
        return Traced(operand, operand.spec)

    def _needed(self) -> set[int]:
        needed = {id(w) for w in self.wrt}
        for node in self.order:
            if id(node) in self.before:
                continue
            if node.op == "Switch" and _depends(node, needed):
                what = "control flow (ops.cond, ops.while_loop)"
                raise DecidedLateError(f"cannot differentiate through {what} in {node.scope}, at {where()}")
            if node.op != "UpdateState" and any(id(i) in needed for i in _flow(node)):
                needed.add(id(node))
        return needed

    def _scopes(self) -> dict[Any, str]:
        """For each distinct primitive, the scope of its first node: in the order in which the function graphs were put
        into each other, and within one of them depth first from the result."""
        walked: list[Node] = []
        seen: set[int] = set()
        stack: list[Operand] = [r.operand for r in reversed(self.roots)]
        while stack:
            node = stack.pop()
            if not isinstance(node, Node) or id(node) in seen or id(node) in self.before:
                continue
            seen.add(id(node))
            if node.kernel:
                walked.append(node)
            stack.extend(reversed(_flow(node) if node.op == custom_backward.CUSTOM else node.inputs))
        order, idle = inlining_order(self.order, [r.operand for r in self.roots], self.tracer.created)
        self.tracer.spread.place(order)
        rank = {closure: at for at, closure in enumerate(order)}
        found: dict[Any, str] = {}
        for nodes, scopes in self.tracer.looked_up:
            # What a gradient within the function looked up first stays so for the gradient of it (measured).
            if any(id(node) in self.position and id(node) not in self.before for node in nodes):
                found = {**scopes, **found}
        used = {_written(node) for node in walked}
        idle = [node for node in idle if _written(node) in used]
        for node in sorted([*walked, *idle], key=lambda n: (_is_gradient(n), rank.get(n.extra.closure, len(rank)))):
            found.setdefault(_primitive(node), "Default" if node.extra.homeless else node.scope)
        return found

    def run(self, sens: Sequence[Any] | None) -> list[Any]:
        end, made = len(self.order), len(self.tracer.created)
        for root, seed in zip(self.roots, sens or [None] * len(self.roots), strict=True):
            self._give(root.operand, end, 0, seed if seed is not None else self._ones(root))
        for node in reversed(self.order):
            if id(node) in self.needed and id(node) in self.parts and id(node) not in self.before:
                self._back(node)
        grads = [self._total(w) if id(w) in self.parts else self._zeros(w) for w in self.wrt]
        self.merged.restore()
        self.tracer.looked_up.append((self.tracer.created[made:], self.scopes))
        return grads

    def _back(self, node: Node) -> None:
        at = self.position[id(node)]
        if node.op == "TupleGetItem":
            part = node, self._contributions(node)
            self.parts.setdefault(id(node.inputs[0]), []).append((at, node.inputs[1].value, part))  # type: ignore[union-attr]
            return
        if node.op in ("Depend", ARGUMENT):
            self._give(node.inputs[0], at, 0, self._total(node))
            return
        if node.op == custom_backward.CUSTOM:
            for operand, argument, part in custom_backward.parts(self.tracer, node, *self._results(node)):
                self._give(operand, at, argument, part)
            return
        if not node.kernel:
            raise TraceError(f"cannot differentiate through {node.op} in {node.scope}")
        out, dout = self._results(node)
        inputs = grouped(node, [as_value(i) for i in node.inputs])
        if node.extra.kept is not None:
            inputs[0] = as_value(node.extra.kept)
        needs = tuple(
            any(id(m) in self.needed for m in group) if isinstance(group, tuple) else id(group) in self.needed
            for group in grouped(node, list(node.inputs))
        )
        saved = self.tracer.source, self.tracer.marks
        self.tracer.source = ("forward node", node.source or node.related)
        self.tracer.marks = {"dump": node.attrs["dump"]} if "dump" in node.attrs else {}
        with scope(f"{GRADIENTS}{self._first_scope(node)}/Grad_{node.op}"):
            grads = OPERATORS.get(node.op).gradient(Backward(*prepared(node.op, inputs, out), dout, node.attrs, needs))
        self.tracer.source, self.tracer.marks = saved
        _leave_cell(node, grads)
        for argument, (group, grad) in enumerate(zip(grouped(node, list(node.inputs)), grads, strict=False)):
            members = group if isinstance(group, tuple) else (group,)
            if grad is None and node.op in ZERO_GRADIENTS and id(group) in self.needed:
                grad = self._zeros(group)
            if grad is None:
                continue
            parts = grad if isinstance(group, tuple) else (grad,)
            for member, part in zip(members, parts, strict=True):
                if part is not None:
                    self._give(member, at, argument, part)

    def _first_scope(self, node: Node) -> str:
        of_function = node.extra.outside or (node.op in OF_FUNCTIONS_IN_DEFAULT and node.extra.inside)
        # A function gave its primitive ``random_cache`` when the graph was traced: that one stands in no cell.
        of_function = of_function or "random_cache" in node.attrs
        return "Default" if of_function or node.op in IN_DEFAULT else self.scopes[_primitive(node)]

    def _results(self, node: Node) -> tuple[Any, Any]:
        """Traced result(s) of a node and the gradient of each."""
        if not isinstance(node.spec, TupleSpec):
            return Traced(node, node.spec), self._total(node)
        with scope(f"{GRADIENTS}{self.scopes.get(_primitive(node), node.scope)}/Grad_{node.op}"):
            out = self.tracer.unpack(node)
        for item in out:
            item.operand.extra.backward = True
        douts: list[Any] = [None] * len(node.spec.items)
        items = sorted(self.parts[id(node)], key=lambda p: p[0])
        # The sum of tuples takes in the sum of a result's gradients that comes first or last in it, which then stands
        # where that one does; unless a result is changed in place (measured: ``tests/data/graphs/nets/unpacked.py``).
        changed = any(self.tracer.states.is_changed(item) for _user, _slot, (item, _parts) in items)
        apart = len(items) == 1 or node.op in UNPACKED or changed
        by_slot: dict[int, list[Any]] = {}
        for at, (_user, slot, (item, parts)) in enumerate(items):
            taken_in = not apart and at in (0, len(items) - 1)
            by_slot.setdefault(slot, []).append(self._sum(parts, "Default" if taken_in else GRADIENTS + item.scope))
        for slot, parts in by_slot.items():
            douts[slot] = self._sum(parts, GRADIENTS + node.scope if apart else "Default")
        for slot, spec in enumerate(node.spec.items):
            if douts[slot] is None and isinstance(spec, TensorSpec):
                douts[slot] = self._filled(spec, 0, late=node.op in LATE_ZEROS)
        return out, tuple(douts)

    def _give(self, target: Operand, user: int, argument: int, part: Any) -> None:
        if isinstance(target, Node) and target.op == "Load":
            target = target.inputs[0]
        if id(target) in self.needed:
            self.parts.setdefault(id(target), []).append((user, argument, part))

    def _contributions(self, target: Operand) -> list[Any]:
        return [p for _u, _a, p in sorted(self.parts[id(target)], key=lambda p: p[:2])]

    def _total(self, target: Operand) -> Any:
        return self._sum(self._contributions(target), GRADIENTS + self._scope_of(target))

    def _scope_of(self, target: Operand) -> str:
        """Where the contributions to a value are summed: where it stands; an argument's, where the function stands, but
        in ``Default`` if the function takes it as one of ``*args``; a parameter's, in the cell that reads it outside of
        gradients, and in ``Default`` if none does; but where the read stands, if a gradient was made within the
        function and one function graph reads the parameter (measured)."""
        if id(target) in self.homes:
            return self.homes[id(target)]
        if isinstance(target, Node) and target.op != ARGUMENT:
            return target.scope
        if self.nested and isinstance(target, Parameter):
            within = {id(n.extra.closure): n for n in reversed(self._readers(target))}
            if len(within) == 1:
                return read_scope(*within.values())
        readers = self.order if self.readers is None else self.readers
        found = (n.scope if n.extra.cell is None else n.extra.cell for n in readers if reads(n, target))
        return next(found, "Default")

    def _readers(self, target: Parameter) -> list[Node]:
        """The operators of the function, used or not, that read a parameter."""
        own = (n for n in self.tracer.created if id(n) not in self.before and not _is_gradient(n))
        return [n for n in own if n.kernel and reads(n, target)]

    def _sum(self, parts: list[Any], where: str) -> Any:
        if len(parts) == 1:
            return parts[0]
        saved = self.tracer.source
        self.tracer.source = ("forward node", ())
        with scope(where):
            total = call("AddN", tuple(parts))
        self.tracer.source = saved
        return total

    def _ones(self, root: Traced) -> Any:
        if not isinstance(root.spec, TensorSpec):
            raise TraceError(f"only a tensor can be differentiated, got {root.spec}")
        return call("OnesLike", root) if -1 in root.spec.shape else self._filled(root.spec, 1)

    def _zeros(self, target: Operand) -> Any:
        assert isinstance(target.spec, TensorSpec)
        if -1 in target.spec.shape:
            return call("ZerosLike", as_value(target))
        return self._filled(target.spec, 0, late=True)

    def _filled(self, spec: TensorSpec, value: int, late: bool = False) -> Traced:
        const = self.tracer.constants.of_array(np.full(spec.shape, value, spec.dtype.numpy), late)
        return Traced(const, spec.tensor)


def _leave_cell(node: Node, grads: Sequence[Any]) -> None:
    """Moves the operators of ``RESHAPED_IN_DEFAULT`` to their scope."""
    if node.op not in RESHAPED_IN_DEFAULT or not node.extra.closure.of_library:
        return
    for grad in grads:
        last = grad.operand if isinstance(grad, Traced) else None
        if isinstance(last, Node) and last.op == "Reshape" and last.scope.endswith(f"/Grad_{node.op}"):
            last.scope = f"{GRADIENTS}Default/Grad_{node.op}"


def _is_gradient(node: Node) -> bool:
    """Whether a node was written for a gradient within the function that is differentiated."""
    return node.scope.startswith(GRADIENTS)


def _flow(node: Node) -> list[Operand]:
    """Inputs through which a gradient flows."""
    if node.op == custom_backward.CUSTOM:
        return node.inputs[1:]
    return node.inputs[:1] if node.op in ("Depend", "Load", "TupleGetItem") else node.inputs


def _depends(switch: Node, wanted: set[int]) -> bool:
    """Whether a branch or loop computes something from one of the operands whose ids are ``wanted``."""
    stack: list[Operand | None] = [switch]
    seen: set[int] = set()
    while stack:
        operand = stack.pop()
        if id(operand) in wanted:
            return True
        if isinstance(operand, Node) and id(operand) not in seen:
            seen.add(id(operand))
            stack.extend(operand.inputs)
            if operand.op == "Switch":
                control = operand.extra.control
                stack += [*control.init, control.first.result, control.second.result]
    return False


def _primitive(node: Node) -> Any:
    return node.op, tuple(sorted((k, repr(v)) for k, v in node.attrs.items()))


def _written(node: Node) -> Any:
    """What equal nodes of several calls of one function graph have in common."""
    return _primitive(node), node.scope, tuple(repr(i.spec) for i in node.inputs)


def as_value(operand: Operand) -> Any:
    """An operand as a rule sees it: a Python value where it is a plain constant, else a traced tensor."""
    if isinstance(operand, Const) and not isinstance(operand.value, np.ndarray):
        return operand.value
    spec = operand.spec
    return Traced(operand, spec.tensor if isinstance(spec, TensorSpec) else spec)


def grouped(node: Node, flat: list[Any]) -> list[Any]:
    """The arguments of the operator's call, with tuples of tensors put together again."""
    groups: list[Any] = []
    at = 0
    for count in node.extra.layout:
        if count is None:
            groups.append(flat[at])
            at += 1
        else:
            groups.append(tuple(flat[at : at + count]))
            at += count
    return groups


def _tensors(value: Any, like: Any) -> list[Any]:
    """The members of ``value``, a result or its gradient, where the result ``like`` has tensors: what else a function
    gives has no gradient (measured: ``tests/data/programs/gradients_of_mixed_results.txt``)."""
    if isinstance(like, dict):
        value, like = (tuple(each.values()) if isinstance(each, dict) else each for each in (value, like))
    if isinstance(like, (tuple, list)):
        return [each for part, its in zip(value, like, strict=True) for each in _tensors(part, its)]
    if isinstance(like, Tensor):
        return [value]
    if isinstance(like, (np.ndarray, np.generic)):
        raise TraceError(
            f"cannot differentiate a result that is a numpy {type(like).__name__}: a number of numpy's on the "
            "left of a tensor makes an array, which has no gradient. Write float(number) * tensor, or make it a Tensor"
        )
    if callable(like) and not isinstance(like, type) and not is_eager():
        raise TraceError(f"cannot differentiate a result of type {type(like).__name__}")
    return []
