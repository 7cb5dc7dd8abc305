"""Syntax that calls what rewritten statements call (``harness.framework.compile.statements``)."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

#: the module whose functions are called; the compiler says where it is
_HELPERS = f"{__package__}.statements"

T = TypeVar("T", bound=ast.AST)


def helper(name: str, args: list[Any]) -> ast.expr:
    """A call of a function of that module."""
    module = ast.Subscript(
        ast.Attribute(ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant("sys")], []), "modules", ast.Load()),
        ast.Constant(_HELPERS),
        ast.Load(),
    )
    return ast.Call(ast.Attribute(module, name, ast.Load()), args, [])


def load(name: str) -> ast.expr:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def at(node: T, where: ast.AST) -> T:
    """``node``, with the places of ``where`` for parts that have none."""
    for each in ast.walk(node):
        if isinstance(each, (ast.stmt, ast.expr, ast.arg)) and not hasattr(each, "lineno"):
            ast.copy_location(each, where)
    return node
