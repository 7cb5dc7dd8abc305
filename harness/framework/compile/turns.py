"""A ``for`` that a condition on a tensor leaves by ``return``: each turn as a function that ends with the next one."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def turns(
    node: ast.For, rest: Sequence[ast.stmt], names: Sequence[str], held: list[ast.expr]
) -> tuple[ast.stmt, ast.FunctionDef, ast.stmt]:
    """What makes the tuple of items; the function of a turn, whose parameters are the turn's number and ``names``; its
    first call.

    Args:
        node: the loop, which has no ``break``, ``continue`` or ``else``.
        rest: the statements behind it.
        names: what the loop and ``rest`` assign.
        held: what reads these names in front of the loop.
    """
    turn, items, at = (f"<{kind} {node.lineno}>" for kind in ("turn", "items", "at"))

    def load(name: str) -> ast.Name:
        return ast.Name(name, ast.Load())

    left = ast.Subscript(load(items), ast.Slice(load(at)), ast.Load())
    behind = [*rest, ast.Return(ast.Constant(None))]
    item = ast.Subscript(load(items), load(at), ast.Load())
    following = ast.BinOp(load(at), ast.Add(), ast.Constant(1))
    body: list[ast.stmt] = [
        ast.If(ast.UnaryOp(ast.Not(), left), behind, []),
        ast.Assign([node.target], item),
        *node.body,
        ast.Return(ast.Call(load(turn), [following, *map(load, names)], [])),
    ]
    every = ast.Tuple([ast.Starred(node.iter, ast.Load())], ast.Load())
    parameters = ast.arguments([], [ast.arg(at), *map(ast.arg, names)], None, [], [], None, [])
    made = ast.FunctionDef(name=turn, args=parameters, body=body, decorator_list=[])
    first = ast.Return(ast.Call(load(turn), [ast.Constant(0), *held], []))
    return ast.Assign([ast.Name(items, ast.Store())], every), made, first
