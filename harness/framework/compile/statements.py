"""What rewritten statements call (see ``harness.framework.compile.rewriting``)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import TraceError
from harness.framework import frames
from harness.framework.compile import callers, joins
from harness.framework.compile.scopes import tracer
from harness.framework.compile.sides import one_way, within
from harness.framework.compile.source import where
from harness.framework.compile.structure import Structure
from harness.framework.compile.traced import Traced
from harness.framework.ops.eager import is_number
from harness.framework.tensor import Parameter, Tensor, call, current, is_eager, is_tracing, single
from harness.graph import Node, Operand, TupleSpec


class Unbound:
    """Stands for a name that only one of the ways binds."""

    def __init__(self, name: str) -> None:
        self._name = name

    def refuse(self, *_args: Any) -> Any:
        """Any use of it is an error."""
        raise TraceError(f"{self._name!r} is not bound on every way to {where()}")

    __getattr__ = __call__ = __getitem__ = __len__ = __iter__ = __bool__ = __float__ = __int__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = refuse
    __matmul__ = __rmatmul__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = refuse


class Unjoined(Unbound):
    """Stands for a name whose values on two ways cannot be joined: an error only where it is used.

    Held by tests/framework/compile/test_joins.py, measured with MindSpore 2.10.0.
    """

    def __init__(self, name: str, why: TraceError) -> None:
        super().__init__(name)
        self._why = why

    def refuse(self, *_args: Any) -> Any:
        """Any use of it is an error."""
        raise self._why

    __getattr__ = __call__ = __getitem__ = __len__ = __iter__ = __bool__ = __float__ = __int__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = refuse
    __matmul__ = __rmatmul__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = refuse


slice_of = slice


def held(scope: Mapping[str, Any], name: str) -> Any:
    """The value of a local name."""
    return scope[name] if name in scope else Unbound(name)


def put(target: Any, index: Any, value: Any) -> Any:
    """``target[index] = value``; gives what the name stands for from then on: a parameter itself, where MindSpore
    stores into it."""
    if isinstance(target, Tensor) and is_tracing():
        return target.with_items(index, value)
    if callers.another(target) is target:
        target[index] = value
        return target
    return callers.changed(target, "__setitem__", (index, value)).made


def method(target: Any, name: str) -> Callable[..., Any]:
    """``target.name``; of a list or dict of a graph what makes another one and gives ``Changed``."""
    if callers.another(target) is target:
        found: Callable[..., Any] = getattr(target, name)
        return found
    return lambda *args, **named: callers.changed(target, name, args, named)


def left(target: Any, given: Any) -> Any:
    """What a name stands for after the call of a ``method`` of ``target`` that gave ``given``."""
    return given.made if isinstance(given, callers.Changed) else target


def result(given: Any) -> Any:
    """What a graph has for what a ``method`` gave: the changed list or dict, and with it what was taken."""
    if not isinstance(given, callers.Changed):
        return given
    return given.made if given.gave is None else (given.made, given.gave)


def taken(target: Any, given: Any) -> tuple[Any, Any]:
    """What a name stands for after ``pop``, and what that took."""
    if not isinstance(given, callers.Changed):
        return target, given
    if isinstance(target, dict):
        raise TraceError(f"MindSpore mixes up what pop() takes of a dict and its name, at {where()}; use an item")
    return given.made, given.gave


own = callers.another


def put_attribute(owner: Any, name: str, value: Any, items: bool = False) -> None:
    """``owner.name`` becomes ``value``: a parameter takes it over, anything else that changed is exchanged.

    Args:
        items: whether elements of it were assigned to: of a parameter that did not store them, the name has the value
            until the graph ends.
    """
    held = getattr(owner, name)
    if held is value:
        return
    if items and (isinstance(held, Parameter) or current().has_exchanged(owner, name)):  # type: ignore[attr-defined]
        current().exchange(owner, name, value)  # type: ignore[attr-defined]
    elif isinstance(held, Parameter):
        call("Assign", held, value)
    else:
        setattr(owner, name, value)


def both(*values: Callable[[], Any]) -> Any:
    """``a and b``."""
    return _chain("LogicalAnd", True, values)


def either(*values: Callable[[], Any]) -> Any:
    """``a or b``."""
    return _chain("LogicalOr", False, values)


def _chain(op: str, start: bool, values: Sequence[Callable[[], Any]]) -> Any:
    """``and`` and ``or``: a value known now that decides ends it, as in Python; a tensor of a graph is joined with what
    follows it (measured: tests/data/programs/decided_in_place.txt)."""
    first, *others = values
    result = first()
    if not others or not (isinstance(result, Traced) or bool(result) is start):
        return result
    rest = _chain(op, start, others)
    if not isinstance(result, Traced):
        return rest
    joins.check(result, rest)
    return call(op, result, rest)


def opposite(value: Any) -> Any:
    """``not a``."""
    return call("LogicalNot", value) if isinstance(value, Traced) else not value


def choose(test: Any, first: Callable[..., Any], second: Callable[..., Any], state: tuple[Any, ...]) -> Any:
    """The result of one of two functions."""
    if not isinstance(test, Traced):
        return first(*state) if test else second(*state)
    scope, code = frames.names_of(frames.caller()), frames.code_of(frames.caller())
    given: list[Any] = []
    structures: list[Structure | None] = []

    def way(function: Callable[..., Any]) -> Any:
        with within(code), one_way(scope):
            value = function(*state)
            given.append(value)
            if len(given) == 2 and not is_eager():
                joins.check(*given)
            parts, structure = joins.apart(value)
        structures.append(structure)
        return parts

    result = current().branch(test, lambda: way(first), lambda: way(second), ())
    return joins.together(result, given[0], structures[0])


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul,
    "/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow,
}  # fmt: skip


def arithmetic(sign: str, left: Any, right: Any) -> Any:
    """``left sign right`` as a graph computes it: floats are Float32 (measured), and an int to a negative power is an
    int."""
    compute = _ARITHMETIC[sign]
    if isinstance(left, list) and sign in ("+=", "*="):
        return compute(own(left), right)
    if not (is_number(left) and is_number(right)):
        return compute(left, right)
    if not any(isinstance(each, (float, np.floating)) for each in (left, right)):
        found = compute(left, right)
        if isinstance(found, float):
            return int(found) if sign.startswith("**") else single(found)
        return found
    if sign[0] in "/%" and not right:
        return compute(left, right)  # raises Python's own error
    with np.errstate(all="ignore"):
        one, other = np.float32(left), np.float32(right)
        if sign[0] == "%" or sign[:2] == "//":
            # Of the rounded quotient, unlike Python's (measured).
            left_over = one - other * np.floor(one / other)
            found = (one - left_over) / other if sign[0] == "/" else left_over
        else:
            found = compute(one, other)
    return found.item() if isinstance(found, np.generic) else found


def member(value: Any, held: Any, negated: bool) -> Any:
    """``value in held``, or ``not in``: of a tensor in a list or tuple a tensor, by the members of its shape and dtype
    alone (measured: ``tests/data/programs/members_of_lists.txt``)."""
    if is_eager() or not isinstance(value, Tensor) or not isinstance(held, (list, tuple)):
        return (value not in held) if negated else (value in held)
    like = [
        each for each in held if isinstance(each, Tensor) and (each.shape, each.dtype) == (value.shape, value.dtype)
    ]
    if not like:
        return True if negated else Tensor(False)
    found: Any = None
    for each in like:
        equal = call("ReduceAll", call("Equal", value, each), None, False)
        found = equal if found is None else call("LogicalOr", found, equal)
    return call("LogicalNot", found) if negated else found


class _OfParameters:
    """The class that a parameter has in a graph: neither ``Parameter`` nor ``Tensor`` (measured)."""


def class_of(value: Any) -> type:
    """``type(value)``: of a traced tensor that of tensors (measured; tests/framework/compile/test_traced.py)."""
    if isinstance(value, Parameter):
        return _OfParameters
    return Tensor if isinstance(value, Traced) else type(value)


def branch(
    test: Any, first: Callable[..., Any], second: Callable[..., Any], state: tuple[Any, ...], names: Sequence[str]
) -> tuple[Any, ...]:
    """The names' values after ``if``."""
    if not isinstance(test, Traced):
        return tuple((first if test else second)(*state))
    active = tracer()
    assert active is not None
    decided, scope = active.operand(test), frames.names_of(frames.caller())
    sides = [_Side(active, function, state, scope) for function in (first, second)]
    kept = [at for at, pair in enumerate(_pairs(sides)) if _is_joined(*pair)]
    for side in sides:
        side.give(kept)
    result = active.joined(decided, sides[0].block, sides[1].block)
    given = iter(result if kept else ())
    return tuple(
        joins.rebuilt(pair[0], given) if at in kept else _apart(*pair, names[at])
        for at, pair in enumerate(_pairs(sides))
    )


def _pairs(sides: Sequence[_Side]) -> list[tuple[Any, Any]]:
    return list(zip(*(side.values for side in sides), strict=True))


def _is_joined(one: Any, other: Any) -> bool:
    """Whether the graph decides which value a name has behind the branch."""
    if one is other or not (joins.is_carried(one) and joins.is_carried(other)):
        return False
    if is_number(one) and is_number(other) and type(one) is type(other) and one == other:
        return False
    try:
        joins.check(one, other)
    except TraceError:
        return False
    return True


def _apart(one: Any, other: Any, name: str) -> Any:
    """What a name stands for that the graph does not decide."""
    if (
        one is other
        or (isinstance(one, str) and one == other)
        or (is_number(one) and is_number(other) and one == other)
    ):
        return one
    if isinstance(one, Unbound) or isinstance(other, Unbound):
        return Unbound(name)
    try:
        joins.check(one, other)
    except TraceError as error:
        return Unjoined(name, error)
    if type(one) is type(other) and type(one) in (tuple, list, dict) and one == other:
        return one
    return Unbound(name)


class _Side:
    """One side of a branch: its block, and the values of the names at its end."""

    def __init__(
        self, active: Any, function: Callable[..., Any], state: tuple[Any, ...], scope: Mapping[str, Any]
    ) -> None:
        self.values: tuple[Any, ...] = ()
        self._active = active

        def run() -> Any:
            with one_way(scope):
                self.values = function(*state)
            carried = [leaf for value in self.values if joins.is_carried(value) for leaf in joins.leaves(value)]
            return tuple(carried) or Tensor(0)

        self.block = active.side(run)

    def members(self, at: int) -> list[Operand]:
        """The tensors and numbers of the name at ``at``."""
        counts = [len(joins.leaves(value)) if joins.is_carried(value) else 0 for value in self.values[: at + 1]]
        result: Node = self.block.result
        return result.inputs[sum(counts[:-1]) : sum(counts)]

    def give(self, kept: Sequence[int]) -> None:
        """Lets the block give the names at ``kept`` alone."""
        members = [member for at in kept for member in self.members(at)]
        if not members:
            self.block.result = self._active.operand(Tensor(0))
            return
        self.block.result.inputs[:] = members
        self.block.result.spec = TupleSpec(tuple(m.spec for m in members))


def loop(
    test: Callable[..., Any], body: Callable[..., Any], state: tuple[Any, ...], names: Sequence[str]
) -> tuple[Any, ...]:
    """The names' values after ``while``."""
    scope = frames.names_of(frames.caller())
    moving = [at for at, value in enumerate(state) if joins.is_carried(value)]

    def whole(now: Sequence[Any]) -> list[Any]:
        values, given = list(state), iter(now)
        for at in moving:
            values[at] = joins.rebuilt(state[at], given) if joins.is_container(state[at]) else next(given)
        return values

    def step(now: tuple[Any, ...]) -> tuple[Any, ...]:
        before = whole(now)
        with one_way(scope):
            values = body(*before)
        return tuple(leaf for at in moving for leaf in _next(values[at], before[at], names[at]))

    given = tuple(leaf for at in moving for leaf in joins.leaves(state[at]))
    found = whole(current().loop(lambda now: test(*whole(now)), step, given))
    return tuple(
        (joins.number(value, state[at]) if is_number(state[at]) else value) if at in moving else Unbound(names[at])
        for at, value in enumerate(found)
    )


def _next(value: Any, before: Any, name: str) -> list[Tensor]:
    """The tensors of a loop's name after a turn."""
    if not joins.is_container(before):
        return [_like(value, before, name)]
    joins.check(before, value)
    if isinstance(value, dict) and any(
        value[key] is before[other] for key in value for other in before if key != other
    ):
        raise TraceError(f"members of the dict {name!r} change places in a loop on a tensor, at {where()}; use a tuple")
    pairs = zip(joins.leaves(value), joins.leaves(before), strict=True)
    return [_like(each, one, name) for each, one in pairs]


def _like(value: Any, before: Tensor, name: str) -> Any:
    if is_number(value):
        return Tensor(value, before.dtype)
    if not isinstance(value, Tensor):
        raise TraceError(f"{name!r} is a tensor before a loop and {type(value).__name__} in it, at {where()}")
    return value
