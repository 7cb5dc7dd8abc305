"""What rewritten statements call (see ``harness.framework.compile.rewriting``)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import TraceError
from harness.framework import frames
from harness.framework.compile.scopes import tracer
from harness.framework.compile.sides import one_way
from harness.framework.compile.source import where
from harness.framework.compile.traced import Traced, tensors_of
from harness.framework.ops.eager import is_number
from harness.framework.tensor import Parameter, Tensor, call, current, is_tracing, single
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


slice_of = slice


def held(scope: Mapping[str, Any], name: str) -> Any:
    """The value of a local name."""
    return scope[name] if name in scope else Unbound(name)


def put(target: Any, index: Any, value: Any) -> Any:
    """``target[index] = value``; gives what the name stands for from then on."""
    if isinstance(target, Tensor) and is_tracing():
        return target.with_items(index, value)
    target[index] = value
    return target


def put_attribute(owner: Any, name: str, value: Any) -> None:
    """``owner.name`` becomes ``value``: a parameter takes it over, anything else that changed is exchanged."""
    held = getattr(owner, name)
    if isinstance(held, Parameter):
        call("Assign", held, value)
    elif held is not value:
        setattr(owner, name, value)


def both(*values: Callable[[], Any]) -> Any:
    """``a and b``."""
    return _chain("LogicalAnd", True, values)


def either(*values: Callable[[], Any]) -> Any:
    """``a or b``."""
    return _chain("LogicalOr", False, values)


def _chain(op: str, start: bool, values: Sequence[Callable[[], Any]]) -> Any:
    """``and`` and ``or``: a value known now that decides ends it, as in Python; tensors of a graph are joined."""
    result: Any = start
    for value in values:
        result = _joined(op, result, value())
        if not isinstance(result, Traced) and bool(result) is not start:
            return result
    return result


def _joined(op: str, before: Any, now: Any) -> Any:
    return call(op, before, now) if isinstance(before, Traced) and isinstance(now, Tensor) else now


def opposite(value: Any) -> Any:
    """``not a``."""
    return call("LogicalNot", value) if isinstance(value, Traced) else not value


def choose(test: Any, first: Callable[..., Any], second: Callable[..., Any], state: tuple[Any, ...]) -> Any:
    """The result of one of two functions."""
    if not isinstance(test, Traced):
        return first(*state) if test else second(*state)
    scope = frames.names_of(frames.caller())

    def way(function: Callable[..., Any]) -> Any:
        with one_way(scope):
            return _plain(function(*state))

    return current().branch(test, lambda: way(first), lambda: way(second), ())


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


def _plain(value: Any) -> Any:
    return Tensor(value) if is_number(value) else value


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
    ways = [_way(*pair) for pair in zip(*(side.values for side in sides), strict=True)]
    kept = [at for at, way in enumerate(ways) if way]
    for at in kept:
        one, other = (tensors_of(side.member(at).spec) for side in sides)
        if one != other:
            raise TraceError(f"{names[at]!r} differs on two ways, at {where()}: {one[0]} and {other[0]}; accepted: "
                             "equal shapes and dtypes")  # fmt: skip
    for side in sides:
        side.give(kept)
    result = active.joined(decided, sides[0].block, sides[1].block)
    given = iter(result if kept else ())
    return tuple(next(given) if way else _apart(sides, at, names) for at, way in enumerate(ways))


def _way(one: Any, other: Any) -> bool:
    """Whether a name is a tensor behind the branch."""
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return one is not other and not isinstance(one, Unbound) and not isinstance(other, Unbound)
    return is_number(one) and is_number(other) and (type(one) is not type(other) or one != other)


def _apart(sides: Sequence[_Side], at: int, names: Sequence[str]) -> Any:
    one, other = (side.values[at] for side in sides)
    same = one is other or (is_number(one) and is_number(other)) or (isinstance(one, str) and one == other)
    return one if same else Unbound(names[at])


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
            return tuple(_plain(v) for v in self.values if isinstance(v, Tensor) or is_number(v)) or Tensor(0)

        self.block = active.side(run)

    def member(self, at: int) -> Operand:
        """The value of the name at ``at``: a tensor or a number."""
        before = sum(isinstance(v, Tensor) or is_number(v) for v in self.values[:at])
        result: Node = self.block.result
        return result.inputs[before]

    def give(self, kept: Sequence[int]) -> None:
        """Lets the block give the names at ``kept`` alone."""
        members = [self.member(at) for at in kept]
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
    moving = [at for at, value in enumerate(state) if isinstance(value, Tensor) or is_number(value)]

    def whole(now: tuple[Any, ...]) -> list[Any]:
        values = list(state)
        for at, value in zip(moving, now, strict=True):
            values[at] = value
        return values

    def step(now: tuple[Any, ...]) -> tuple[Any, ...]:
        with one_way(scope):
            values = body(*whole(now))
        return tuple(_like(values[at], each, names[at]) for at, each in zip(moving, now, strict=True))

    given = tuple(_plain(state[at]) for at in moving)
    values = whole(current().loop(lambda now: test(*whole(now)), step, given))
    return tuple(v if at in moving else Unbound(names[at]) for at, v in enumerate(values))


def _like(value: Any, before: Tensor, name: str) -> Any:
    if is_number(value):
        return Tensor(value, before.dtype)
    if not isinstance(value, Tensor):
        raise TraceError(f"{name!r} is a tensor before a loop and {type(value).__name__} in it, at {where()}")
    return value
