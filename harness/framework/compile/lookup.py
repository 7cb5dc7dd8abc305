"""The order in which a function graph looks up the functions it names.

MindSpore infers a function graph depth first from its result; it looks up the function of a call before it infers the
call's arguments, and enters that function's graph after them. So in ``ops.softmax(self.cell(x))`` the cell around sees
``ops.softmax`` before the inner one does, whichever runs first (measured).

The syntax tree shows what is inferred: of the statements of one function graph (what follows an ``if`` that no
attribute decides is one of its own, and so is every turn of a ``for``), variables followed to what they were assigned.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from harness.framework import frames
from harness.framework.compile.hashed import order_of
from harness.framework.compile.places import SourcePosition, end_of, holds, is_attribute, is_fixed, place_of
from harness.framework.compile.source import Function, function_of
from harness.framework.frames import Frame, Standing
from harness.framework.tensor import Tensor

#: what each variable was assigned, with the variables known then
_Known = dict[str, tuple[ast.expr, Any]]


#: an expression, and whether its arguments are inferred: what it calls is entered then
Place = tuple[ast.expr, bool]


def looked_up(frame: Frame) -> Iterator[Place]:
    """The calls, operators and attributes of ``frame``, in the order they are looked up, up to what ``frame`` is in the
    middle of; each twice: before its arguments are inferred, and behind them, when what it calls is entered."""
    function = function_of(frames.code_of(frame))
    if function is None:
        return
    line, line_end, column, column_end = frames.span_of(frame)
    here = line, column, line_end, column_end
    body = _running(function.body, place_of(frame))
    written = _given(function) if body is function.body else []
    for node, is_entered in _Inference(frames.standing(frame)).block(body, {}, written):
        if (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == here:
            return
        yield node, is_entered


def looked_up_in(function: Standing) -> Iterator[Place]:
    """What ``looked_up`` gives of a whole function."""
    tree = function_of(function.code)
    if tree is not None:
        yield from _Inference(function).block(tree.body, {}, _given(tree))


def _given(function: Function) -> list[str]:
    """The variables of a function's first block before its first statement: its arguments and itself."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]), *arguments.kwonlyargs]
    return [*(each.arg for each in given if each.arg != "self"), function.name]


def _running(body: Sequence[ast.stmt], place: SourcePosition) -> Sequence[ast.stmt]:
    """The statements of the function graph that holds ``place``."""
    for at, statement in enumerate(body):
        if isinstance(statement, ast.For) and any(holds(s, place) for s in statement.body):
            return _running(statement.body, place)
        splits = isinstance(statement, ast.For) or (isinstance(statement, ast.If) and not is_attribute(statement.test))
        if splits and end_of(statement) <= place:
            return _running(body[at + 1 :], place)
    return body


class _Inference:
    """Walks through the calls of a function graph in the order of inference."""

    def __init__(self, function: Standing) -> None:
        self.function = function
        self.seen: set[int] = set()

    def block(
        self, body: Sequence[ast.stmt], known: _Known, written: Sequence[str], handed: Sequence[str] | None = None
    ) -> Iterator[Place]:
        """The calls behind the result of a function graph, or behind what it hands to the one that follows it; before
        them those behind values that nothing reads, which the graph waits for (measured).

        ``written`` names the variables that the graph begins with, ``handed`` those that it hands on, in order; None:
        all.
        """
        #: the values nothing read so far, by name; those that were assigned again have lost their name
        idle: _Known = {}
        written = [*written]
        for at, statement in enumerate(body):
            for name in _read(statement):
                idle.pop(name, None)
            if isinstance(statement, (ast.If, ast.For)):
                # A value that is read later is not idle here.
                read = {name for later in body[at:] for name in _read(later)}
                yield from self._idle({name: value for name, value in idle.items() if name not in read}, written)
                if (
                    isinstance(statement, ast.If)
                    and is_attribute(statement.test)
                    and (taken := self._decided(statement.test)) is not None
                ):
                    # The side that is not taken is not parsed.
                    side = statement.body if taken else statement.orelse
                    yield from self.block([*side, *body[at + 1 :]], known, [], handed)
                else:
                    yield from self._split(statement, body[at + 1 :], known)
                return
            if isinstance(statement, ast.Return):
                yield from self._idle(idle, written)
                if statement.value is not None:
                    yield from self._expression(statement.value, known)
                return
            known = _assigned(statement, known, idle, written)
        # What a side hands on may be read behind it; a call on its own is not.
        yield from self._idle({n: v for n, v in idle.items() if handed is None or not n.isidentifier()}, written)
        for name in known if handed is None else handed:
            if name in known:
                yield from self._expression(*known[name])

    def _idle(self, values: _Known, written: Sequence[str]) -> Iterator[Place]:
        """The calls behind values that nothing reads: those that lost their name first, then in the order in which a
        map of all variables ``written`` has them."""
        for name in (*(n for n in values if not n.isidentifier()), *order_of(written)):
            if name in values:
                yield from self._expression(*values[name])

    def _split(self, statement: ast.If | ast.For, rest: Sequence[ast.stmt], known: _Known) -> Iterator[Place]:
        """The calls behind an ``if`` or a ``for``, and those of what follows: that is handed the variables which the
        statement changes, and sees the others as they are."""
        stored = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        after = dict.fromkeys(name for later in rest for name in _read(later) if name in stored)
        others = {name: value for name, value in known.items() if name not in stored}
        if isinstance(statement, ast.If):
            yield from self._expression(statement.test, known)
            for side in self._inferred(statement.test, statement.body, statement.orelse):
                yield from self.block(side, known, [], list(after))
        else:
            yield from self._expression(statement.iter, known)
            turns = list(
                dict.fromkeys(name for each in statement.body for name in _read(each) if name in stored) | after
            )
            for name in turns:
                if name in known:
                    yield from self._expression(*known[name])
            yield from self.block(statement.body, others, turns, turns)
        yield from self.block(rest, others, list(after) if isinstance(statement, ast.If) else [])

    def _expression(self, node: ast.expr, known: _Known) -> Iterator[Place]:
        if isinstance(node, ast.Name) and node.id in known:
            yield from self._expression(*known[node.id])
        if id(node) in self.seen or isinstance(node, ast.Name):
            return
        self.seen.add(id(node))
        yield node, False
        children = ast.iter_child_nodes(node)
        if isinstance(node, ast.IfExp):
            children = iter([node.test, *self._inferred(node.test, node.body, node.orelse)])
        for child in children:
            inner = child.value if isinstance(child, ast.keyword) else child
            if isinstance(inner, ast.expr):
                yield from self._expression(inner, known)
        yield node, True

    def _inferred(self, test: ast.expr, body: Any, orelse: Any) -> list[Any]:
        """The sides of a choice that are inferred: both, unless its condition is fixed."""
        taken = self._decided(test) if is_fixed(test) else None
        return [body, orelse] if taken is None else [body if taken else orelse]

    def _decided(self, test: ast.expr) -> bool | None:
        """Whether a condition on attributes of ``self`` holds: the user's own expression, which has no calls. None if
        it computes with a tensor, whose value the graph alone knows; ``self.mask is None`` does not."""
        if any(isinstance(self._value(operand), Tensor) for operand in _operands(test)):
            return None
        return bool(self._value(test))

    def _value(self, expression: ast.expr) -> Any:
        code = compile(ast.Expression(expression), self.function.code.co_filename, "eval")
        return eval(code, {"__builtins__": {}}, {"self": self.function.names.get("self")})


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """The attributes whose values a condition computes with."""
    if isinstance(test, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops):
        return
    if isinstance(test, ast.Attribute):
        yield test
        return
    for child in ast.iter_child_nodes(test):
        if isinstance(child, ast.expr):
            yield from _operands(child)


@lru_cache(maxsize=16384)
def _read(statement: ast.stmt) -> tuple[str, ...]:
    """The names a statement reads."""
    names = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.append(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    return tuple(names)


def _assigned(statement: ast.stmt, known: _Known, idle: _Known, written: list[str]) -> _Known:
    """``known`` after a statement; what has not been read yet goes to ``idle``, the names to ``written``."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(statement, ast.Assign):
        pairs = [(target, statement.value) for target in statement.targets]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        pairs = [(statement.target, statement.value)]
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        before = ast.Name(statement.target.id, ast.Load())
        sum_of_both = ast.copy_location(ast.BinOp(before, statement.op, statement.value), statement)
        pairs = [(statement.target, sum_of_both)]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        idle[f"{len(idle)} "] = statement.value, known
    names = {n.id: value for target, value in pairs for n in ast.walk(target) if isinstance(n, ast.Name)}
    written += names
    for name, value in names.items():
        if name in idle:
            idle[f"{len(idle)} "] = idle.pop(name)
        if not isinstance(value, (ast.Name, ast.Attribute, ast.Constant)):
            idle[name] = value, known
    return known | {name: (value, known) for name, value in names.items()}
