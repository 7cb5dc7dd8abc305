"""Small changes of a source text, each of which should make a test fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

_COMPARE = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_BINARY = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "//", ast.LShift: ">>",
    ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&", ast.Pow: "*",
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of a module.

    Attributes:
        module: its path.
        line: where.
        old, new: what stands there, and in its place.
        start, end: offsets of bytes in the source.
    """

    module: str
    line: int
    old: str
    new: str
    start: int
    end: int

    def __str__(self) -> str:
        old, new = (" ".join(each.split())[:60] for each in (self.old, self.new))
        return f"{self.module}:{self.line}: {old} -> {new}"

    def of(self, source: bytes) -> bytes:
        """The changed source."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutants(module: str, source: bytes) -> list[Mutant]:
    """All changes of a module. Docstrings, annotations, ``__all__`` and what is imported for types stay."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Mutant] = []
    for node, new in _changes(tree):
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        old = source[start:end].decode()
        if new != old:
            found.append(Mutant(module, node.lineno, old, new, start, end))
    return found


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Nodes and the text that takes the place of each."""
    for node in _code(tree):
        yield from _of_expression(node)
        yield from _of_statement(node)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """What is run, of a tree: no annotation, no docstring, nothing for types alone."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST) and not _is_left_out(each):
                yield each
                yield from _code(each)


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    names = [each.id for each in getattr(node, "targets", ()) if isinstance(each, ast.Name)]
    return names == ["__all__"] or isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr)


def _of_expression(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    text = ast.unparse
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE and len(node.ops) == 1:
        yield node, f"({text(node.left)} {_COMPARE[type(node.ops[0])]} {text(node.comparators[0])})"
    elif isinstance(node, ast.BoolOp):
        joined = " or " if isinstance(node.op, ast.And) else " and "
        yield node, f"({joined.join(text(each) for each in node.values)})"
        yield node, f"({text(node.values[-1])})"
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        yield node, f"({text(node.left)} {_BINARY[type(node.op)]} {text(node.right)})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, f"({text(node.operand)})"
    elif isinstance(node, ast.IfExp):
        yield node, f"({text(node.body)})"
        yield node, f"({text(node.orelse)})"
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node)


def _of_constant(node: ast.Constant) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node.value, bool):
        yield node, str(not node.value)
    elif isinstance(node.value, int | float):
        yield node, f"({node.value!r} + 1)"


def _of_statement(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    text = ast.unparse
    if isinstance(node, ast.Raise | ast.AugAssign | ast.Delete | ast.Continue):
        yield node, "pass"
    elif isinstance(node, ast.Break):
        yield node, "continue"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, "pass"
    elif isinstance(node, ast.If | ast.While):
        yield node.test, f"(not ({text(node.test)}))"
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield node, "return None"
