"""Where a traced function computes with Python's floats, which are Float32 in a graph.

MindSpore's compiler has a scalar of 32 bits for a float: ``1 - 0.999`` is 0.00099998713 in a graph, 1.3e-5 off from
what Python computes (MindSpore 2.10.0, measured: ``tests/data/floats/floats.json``). A traced function is
Python, so such arithmetic is found in its syntax tree, by what names and attributes hold when its first operator is
traced, and is rewritten (``rewriting``). What may be a number counts as one: ``statements.arithmetic`` looks again.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from harness.framework.compile.bindings import part
from harness.framework.compile.made import at, helper, load
from harness.framework.compile.source import Function, function_of, is_users
from harness.framework.frames import captured

#: line, column, last line and last column of an expression or statement
Place = tuple[int, int, int, int]

_NOT, _INT, _MAYBE, _FLOAT = range(4)
_MISSING = object()
#: builtins that give a number, by what they give; None: what their arguments are
_CALLS: dict[str, int | None] = {
    "abs": None, "float": _FLOAT, "int": _INT, "len": _INT, "max": None, "min": None, "pow": None, "round": _MAYBE,
    "sum": None,
}  # fmt: skip
_SIZES = frozenset({"ndim", "shape", "size"})
#: arithmetic, by Python's operator
SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def place_of(node: Any) -> Place:
    """Where an expression or statement stands."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def code_of(value: Any) -> types.CodeType | None:
    """The code of a user's function or method; None for anything else."""
    function = value.__func__ if isinstance(value, types.MethodType) else value
    if not isinstance(function, types.FunctionType) or not is_users(function.__code__.co_filename):
        return None
    return function.__code__


def names_when_called(value: Any, args: Sequence[Any] = ()) -> dict[str, Any]:
    """What the names of a function or method hold when it is called with ``args``."""
    function = value.__func__ if isinstance(value, types.MethodType) else value
    code, scope = function.__code__, {**function.__globals__, **captured(function)}
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    scope.update(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    owner = [value.__self__] if isinstance(value, types.MethodType) else []
    scope.update(zip(names, [*owner, *args], strict=False))
    return scope


def found_in(code: types.CodeType, scope: Mapping[str, Any]) -> Iterator[tuple[types.CodeType, frozenset[Place]]]:
    """A user's function, and those it calls by name, each with the places of its arithmetic of floats; but for those
    that compute as Python does and whose names are as Python's (``bindings``).

    Args:
        code: of the function.
        scope: what its names hold.
    """
    seen: set[types.CodeType] = set()
    stack = [(code, scope)]
    while stack:
        code, scope = stack.pop()
        function = function_of(code)
        if code in seen or function is None or not is_users(code.co_filename):
            continue
        seen.add(code)
        numbers = _Numbers(function, scope)
        places = frozenset(numbers.places()) if _may_hold(function) else frozenset[Place]()
        if places or part(function):
            yield code, places
        stack += numbers.called()


@lru_cache(maxsize=16384)
def _may_hold(function: Function) -> bool:
    """Whether a function holds arithmetic, asks for a class or for a member, at all."""
    arithmetic = (ast.BinOp, ast.AugAssign)
    return any(
        (isinstance(node, arithmetic) and type(node.op) in SIGNS) or asks_for_class(node) or asks_for_member(node)
        for node in ast.walk(function)
    )


def asks_for_class(node: ast.AST) -> bool:
    """Whether an expression is ``type(x)``: of a traced tensor that is the class of tensors."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"):
        return False
    return len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


def asks_for_member(node: ast.AST) -> bool:
    """Whether an expression is ``x in y`` or ``x not in y``, where ``y`` is not written out as constants."""
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn))):
        return False
    held = node.comparators[0]
    members = held.elts if isinstance(held, (ast.Tuple, ast.List, ast.Set)) else [held]
    return not all(isinstance(each, ast.Constant) for each in members)


class _Numbers:
    """What the expressions of one function are, as far as its names tell."""

    def __init__(self, function: Function, scope: Mapping[str, Any]) -> None:
        self._function = function
        self._scope = scope
        self._stored: dict[str, list[ast.expr]] = {}
        self._asked: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._store(target, node.value)
            elif isinstance(node, ast.AugAssign):
                self._store(node.target, ast.BinOp(node.target, node.op, node.value))
            elif isinstance(node, (ast.For, ast.comprehension)):
                self._store(node.target, node.iter)

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._stored.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
            for at, member in enumerate(target.elts):
                self._store(member, values[at] if values else value)

    def places(self) -> Iterator[Place]:
        """Where two numbers are joined, and one may be a float; and where a class or a member is asked for."""
        for node in ast.walk(self._function):
            if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
                pair, divides = (node.left, node.right), isinstance(node.op, (ast.Div, ast.Pow))
            elif isinstance(node, ast.AugAssign) and type(node.op) in SIGNS and isinstance(node.target, ast.Name):
                pair, divides = (node.target, node.value), isinstance(node.op, (ast.Div, ast.Pow))
            elif asks_for_member(node):
                yield place_of(node)
                continue
            elif isinstance(node, ast.Compare) and len(node.ops) == 1:
                pair, divides = (node.left, node.comparators[0]), False
            elif asks_for_class(node) and self._scope.get("type", type) is type:
                yield place_of(node)
                continue
            else:
                continue
            kinds = [self.kind(each) for each in pair]
            if _NOT not in kinds and (divides or max(kinds) > _INT):
                yield place_of(node)

    def called(self) -> Iterator[tuple[types.CodeType, Mapping[str, Any]]]:
        """The users' functions that it calls by name, and what their names hold."""
        for node in ast.walk(self._function):
            if isinstance(node, ast.Call) and (code := code_of(value := self._value(node.func))) is not None:
                yield code, names_when_called(value)

    def kind(self, node: ast.expr) -> int:
        """Whether an expression is not a number, an int, a float, or may be either."""
        if isinstance(node, ast.Constant):
            return _kind(node.value)
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Attribute):
            return _INT if node.attr in _SIZES else _kind(self._value(node))
        if isinstance(node, ast.Subscript):
            return self._member(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return _joined([self.kind(each) for each in node.elts])
        if isinstance(node, ast.UnaryOp):
            return self.kind(node.operand)
        if isinstance(node, ast.IfExp):
            return _joined([self.kind(node.body), self.kind(node.orelse)])
        if isinstance(node, ast.BinOp):
            kinds = [self.kind(node.left), self.kind(node.right)]
            if _NOT in kinds:
                return _NOT
            return _FLOAT if isinstance(node.op, (ast.Div, ast.Pow)) else max(kinds)
        return self._call(node) if isinstance(node, ast.Call) else _NOT

    def _name(self, name: str) -> int:
        if name in self._asked:
            return _INT  # what it is made of decides
        self._asked.add(name)
        try:
            kinds = [self.kind(value) for value in self._stored.get(name, ())]
        finally:
            self._asked.discard(name)
        if (held := self._scope.get(name, _MISSING)) is not _MISSING:
            kinds.append(_kind(held))
        elif not kinds:
            return _MAYBE if any(a.arg == name for a in ast.walk(self._function) if isinstance(a, ast.arg)) else _NOT
        return _joined(kinds)

    def _member(self, node: ast.Subscript) -> int:
        if isinstance(node.value, ast.Attribute) and node.value.attr in _SIZES:
            return _INT
        held = self._value(node)
        if held is _MISSING and isinstance(held := self._value(node.value), (tuple, list)):
            return _joined([_kind(each) for each in held])
        return _kind(held)

    def _call(self, node: ast.Call) -> int:
        named = node.func.id if isinstance(node.func, ast.Name) and node.func.id not in self._scope else ""
        if named in _CALLS:
            given = _CALLS[named]
            return _joined([self.kind(each) for each in node.args]) if given is None else given
        if named == "range":
            return _INT
        function = self._value(node.func)
        if isinstance(function, types.BuiltinFunctionType):
            return _FLOAT if getattr(function, "__module__", "") == "math" else _NOT
        code = code_of(function)
        inner = None if code is None else function_of(code)
        if code is None or inner is None or code.co_name in self._asked:
            return _NOT
        numbers = _Numbers(inner, names_when_called(function))
        numbers._asked = {*self._asked, code.co_name}
        results = [each.value for each in ast.walk(inner) if isinstance(each, ast.Return) and each.value is not None]
        return _joined([numbers.kind(each) for each in results])

    def _value(self, node: ast.expr) -> Any:
        """What a name, an attribute or an element holds now, without running anything of the user's."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._scope.get(node.id, getattr(builtins, node.id, _MISSING))
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            return _MISSING if owner is _MISSING else _attribute(owner, node.attr)
        if isinstance(node, ast.Subscript):
            owner, key = self._value(node.value), self._value(node.slice)
            if type(owner) in (tuple, list, dict) and isinstance(key, (int, str)):
                try:
                    return owner[key]
                except (LookupError, TypeError):
                    return _MISSING
        return _MISSING


def _attribute(owner: Any, name: str) -> Any:
    found = inspect.getattr_static(owner, name, _MISSING)
    if isinstance(found, types.FunctionType) and not isinstance(owner, (type, types.ModuleType)):
        return types.MethodType(found, owner)
    return _MISSING if hasattr(type(found), "__get__") and not isinstance(found, types.FunctionType) else found


def _kind(value: Any) -> int:
    if isinstance(value, (float, np.floating)):
        return _FLOAT
    return _INT if isinstance(value, _NUMBERS) else _NOT


def _joined(kinds: list[int]) -> int:
    """The kind of what is one of several."""
    if not kinds or max(kinds) == _NOT:
        return _NOT
    return _MAYBE if _NOT in kinds else max(kinds)


_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class Floats(ast.NodeTransformer):
    """Rewrites the arithmetic at ``places``."""

    def __init__(self, places: frozenset[Place]) -> None:
        self._places = places

    def _joined(self, node: Any, sign: str, left: ast.expr, right: ast.expr) -> ast.expr:
        return at(helper("arithmetic", [ast.Constant(sign), left, right]), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """See ``ast.NodeTransformer``."""
        place = place_of(node)
        self.generic_visit(node)
        return self._joined(node, SIGNS[type(node.op)], node.left, node.right) if place in self._places else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """See ``ast.NodeTransformer``."""
        place = place_of(node)
        self.generic_visit(node)
        sign = _COMPARISONS.get(type(node.ops[0]))
        if place not in self._places:
            return node
        if asks_for_member(node):
            negated = ast.Constant(isinstance(node.ops[0], ast.NotIn))
            return at(helper("member", [node.left, node.comparators[0], negated]), node)
        if sign is None:
            return node
        return self._joined(node, sign, node.left, node.comparators[0])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """See ``ast.NodeTransformer``."""
        place = place_of(node)
        self.generic_visit(node)
        return at(helper("class_of", node.args), node) if place in self._places and asks_for_class(node) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """See ``ast.NodeTransformer``."""
        place = place_of(node)
        self.generic_visit(node)
        if place not in self._places or not isinstance(node.target, ast.Name):
            return node
        value = self._joined(node, f"{SIGNS[type(node.op)]}=", load(node.target.id), node.value)
        return at(ast.Assign([node.target], value), node)
