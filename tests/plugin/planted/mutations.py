"""Edits of one line of Python, JSON or CSV, of the kinds that people make by mistake."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple


class Edit(NamedTuple):
    """A change of one file.

    Attributes:
        kind: what kind of mistake it is.
        file: path in the repository.
        line: number of the first line that differs, from 1.
        text: the file's new text.
    """

    kind: str
    file: str
    line: int
    text: str


_SWAPS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,),
}  # fmt: skip
_TURNED = {ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Lt, ast.GtE: ast.Gt}
_OTHERS = {
    "mean": ("sum", "median"), "sum": ("mean",), "max": ("min",), "min": ("max",), "sin": ("cos",), "cos": ("sin",),
    "floor": ("ceil",), "std": ("var",), "var": ("std",), "exp": ("expm1",), "relu": ("gelu",), "ReLU": ("GELU",),
    "Tanh": ("Sigmoid",), "tanh": ("sigmoid", "sin"), "sqrt": ("abs",), "cumsum": ("cumprod",), "argmax": ("argmin",),
    "maximum": ("minimum",), "minimum": ("maximum",), "log1p": ("log",), "diff": ("gradient",),
    "Momentum": ("SGD",), "SGD": ("Adam",),
}  # fmt: skip
_DTYPES = {"float64": "float32", "float32": "float16", "int64": "int32"}
_AXES = ("axis", "dim")
_WRAPPERS = (
    "clip", "abs", "sort", "sqrt", "exp", "log1p", "cumsum", "relu", "softmax", "tanh", "norm", "clamp", "dropout",
    "transpose", "ascontiguousarray",
)  # fmt: skip


def python(file: str, text: str) -> Iterator[Edit]:
    """Every edit of a Python file that is known here."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)

    def replaced(kind: str, node: ast.AST, new: str) -> Iterator[Edit]:
        if node.lineno != node.end_lineno:  # type: ignore[attr-defined]
            return
        at = node.lineno - 1  # type: ignore[attr-defined]
        old = lines[at]
        raw = old.encode()
        changed = (raw[: node.col_offset] + new.encode() + raw[node.end_col_offset :]).decode()  # type: ignore[attr-defined]
        if changed != old:
            yield Edit(kind, file, at + 1, "".join([*lines[:at], changed, *lines[at + 1 :]]))

    for node in ast.walk(tree):
        source = ast.get_source_segment(text, node) or ""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield from replaced(
                "constant", node, repr(node.value + 1 if isinstance(node.value, int) else node.value * 2)
            )
            if isinstance(node.value, float):
                yield from replaced("constant", node, repr(round(node.value * 1.1, 12)))
                yield from replaced("sign", node, repr(-node.value))
        elif isinstance(node, ast.BinOp):
            left, right = (ast.get_source_segment(text, each) or "" for each in (node.left, node.right))
            for other in _SWAPS.get(type(node.op), ()):
                between = ast.unparse(ast.BinOp(ast.Name("a"), other(), ast.Name("b")))[1:-1]
                yield from replaced("operator", node, left + between + right)
            if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult)):
                between = ast.unparse(ast.BinOp(ast.Name("a"), node.op, ast.Name("b")))[1:-1]
                yield from replaced("operands exchanged", node, f"({right}){between}({left})")
            yield from replaced("part left out", node, left)
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _TURNED:
            turned = ast.unparse(ast.Compare(node.left, [_TURNED[type(node.ops[0])]()], node.comparators))
            yield from replaced("comparison", node, turned)
        elif isinstance(node, ast.Call):
            yield from _calls(node, text, replaced)
        elif isinstance(node, ast.Attribute):
            if node.attr in _DTYPES:
                yield from replaced("narrower type", node, f"{ast.unparse(node.value)}.{_DTYPES[node.attr]}")
            if node.attr == "T":
                yield from replaced("not transposed", node, ast.unparse(node.value))
        elif isinstance(node, ast.Slice):
            for bound in (node.lower, node.upper):
                if bound is not None:
                    yield from replaced("slice", bound, f"({ast.unparse(bound)} + 1)")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield from replaced("sign", node, source[1:])
    yield from _statements(file, lines, tree)


def _calls(node: ast.Call, text: str, replaced: Callable[[str, ast.AST, str], Iterator[Edit]]) -> Iterator[Edit]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = [ast.get_source_segment(text, each) or "" for each in node.args]
    if name in _OTHERS:
        head = f"{ast.unparse(node.func.value)}." if isinstance(node.func, ast.Attribute) else ""
        for other in _OTHERS[name]:
            rest = ", ".join([*given, *map(ast.unparse, node.keywords)])
            yield from replaced("another function", node, f"{head}{other}({rest})")
    if name in _WRAPPERS and given:
        yield from replaced("call left out", node, given[0])
    if len(given) == 2 and given[0] != given[1] and isinstance(node.func, ast.Name):
        yield from replaced("arguments exchanged", node, f"{ast.unparse(node.func)}({given[1]}, {given[0]})")
    for each in node.keywords:
        if each.arg in _AXES and isinstance(each.value, (ast.Constant, ast.UnaryOp)):
            yield from replaced("axis", each.value, "-1" if ast.unparse(each.value) == "0" else "0")
        if isinstance(each.value, ast.Constant) and isinstance(each.value.value, bool):
            yield from replaced("setting", each.value, str(not each.value.value))


def _statements(file: str, lines: list[str], tree: ast.Module) -> Iterator[Edit]:
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        plain = [each for each in function.body if isinstance(each, (ast.Assign, ast.AugAssign, ast.Expr))]
        plain = [each for each in plain if each.lineno == each.end_lineno]
        for one, other in pairwise(plain):
            if other.lineno == one.lineno + 1 and "super()" not in lines[one.lineno - 1]:
                at = one.lineno - 1
                yield Edit("order", file, at + 1,
                           "".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]))  # fmt: skip
        for each in plain:
            names = {
                name.id for name in ast.walk(each) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            }
            read = {name.id for name in ast.walk(each) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)}
            if names & read or isinstance(each, ast.AugAssign):
                at = each.lineno - 1
                yield Edit("line left out", file, at + 1, "".join([*lines[:at], *lines[at + 1 :]]))


def settings(file: str, text: str) -> Iterator[Edit]:
    """Edits of the numbers of a JSON file with a value a line."""
    for match in re.finditer(r"-?\d+(\.\d+)?", text):
        number = json.loads(match[0])
        new = repr(number + 1 if isinstance(number, int) else number * 2)
        changed = text[: match.start()] + new + text[match.end() :]
        yield Edit("settings file", file, text[: match.start()].count("\n") + 1, changed)


def table(file: str, text: str) -> Iterator[Edit]:
    """Edits of the numbers of a CSV file."""
    for edit in settings(file, text):
        yield edit._replace(kind="data file")


def edits(file: str, text: str) -> list[Edit]:
    """Every edit of a file that still parses."""
    by_end = {".py": python, ".json": settings, ".csv": table}
    made = by_end[file[file.rindex(".") :]](file, text)
    return [each for each in made if not file.endswith(".py") or _parses(each.text)]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
