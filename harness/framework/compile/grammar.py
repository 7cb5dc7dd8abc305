"""Statements and expressions that no graph is made of: MindSpore's parser refuses a function that holds one.

Source: MindSpore 2.10.0, measured (``tests/data/misuse/graph_calls.json``): it refuses them wherever they stand, in
functions within the function, too, and whether or not they would run. Only what an ``if`` on attributes of ``self``
leaves out is not parsed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache
from linecache import getline
from types import CodeType
from typing import Any

from harness.errors import TraceError
from harness.framework.compile.places import is_attribute
from harness.framework.compile.source import Function, function_of, is_users, syntax_tree
from harness.framework.tensor import is_eager

#: class of the syntax tree, by name (some are newer than the oldest Python supported) -> what the user wrote
_REFUSED = {
    "AsyncFunctionDef": "'async def'", "ClassDef": "'class'", "Delete": "'del'", "Import": "'import'",
    "ImportFrom": "'import'", "Match": "'match'", "NamedExpr": "':='", "Nonlocal": "'nonlocal'", "Set": "a set",
    "SetComp": "a set", "Try": "'try'", "TryStar": "'try'", "Yield": "'yield'", "YieldFrom": "'yield'",
    "For": "a loop with 'else'", "While": "a loop with 'else'",
}  # fmt: skip


def check_source(code: CodeType, owner: Any) -> None:
    """Raises ``TraceError``, from the line, if the source of a user's function holds what no graph is made of.

    Args:
        code: of the function.
        owner: what the function is a method of; None for nothing.
    """
    if is_eager() or not is_users(code.co_filename):
        return
    function = function_of(code)
    if function is None or not _may_hold(function):
        return
    found = _first(function.args.defaults, owner) or _block(function.body, owner)
    if found is not None:
        held = _REFUSED[type(found).__name__]
        place = f"{code.co_filename}:{found.lineno} ({getline(code.co_filename, found.lineno).strip()})"
        error = TraceError(f"no graph is made of a function that holds {held}, at {place}")
        error.placed = True
        _raise_at(error, code, found.lineno)


@lru_cache(maxsize=16384)
def _may_hold(function: Function) -> bool:
    return any(map(_is_refused, ast.walk(function)))


def _is_refused(node: ast.AST) -> bool:
    return type(node).__name__ in _REFUSED and (not isinstance(node, (ast.For, ast.While)) or bool(node.orelse))


def _block(statements: Iterable[ast.stmt], owner: Any) -> Any:
    """The first node of the statements that is refused; None for none."""
    for statement in statements:
        if isinstance(statement, ast.If) and is_attribute(statement.test):
            side = statement.body if _holds(statement.test, owner) else statement.orelse
            if (found := _block(side, owner)) is not None:
                return found
            if side and isinstance(side[-1], (ast.Return, ast.Raise)):
                return None
        elif (found := _first([statement], owner)) is not None:
            return found
    return None


def _first(nodes: Iterable[ast.AST], owner: Any) -> Any:
    for node in nodes:
        if _is_refused(node):
            return node
        for name, value in ast.iter_fields(node):
            members = value if isinstance(value, list) else [value]
            if name in ("annotation", "returns", "decorator_list") or not all(isinstance(m, ast.AST) for m in members):
                continue
            statements = bool(members) and all(isinstance(member, ast.stmt) for member in members)
            if (found := (_block if statements else _first)(members, owner)) is not None:
                return found
    return None


def _holds(test: ast.expr, owner: Any) -> bool:
    try:
        return bool(eval(compile(ast.Expression(test), "<test>", "eval"), {}, {"self": owner}))
    except Exception:  # it fails where it runs, too
        return False


def _raise_at(error: Exception, code: CodeType, line: int) -> None:
    """Raises an error whose traceback ends at a line of a function that does not run yet."""
    tree = syntax_tree("raise error")
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = line
    raising = compile(tree, code.co_filename, "exec").replace(co_name=code.co_name)
    exec(raising, {"error": error})
