"""Small changes of running code, in memory: a condition turned around, a statement left out, another number, another
order."""

from __future__ import annotations

import ast
import gc
import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from tests.architecture.source import MODULES
from tests.witnesses.marks import definitions

_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Add, ast.Mod: ast.Add, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Pow: ast.Mult,
}  # fmt: skip
_LAST = ast.parse("lambda *given, **named: given[-1]", mode="eval").body
#: the place of a change of what stands in no function: it is made before the module is imported, in another process
AT_IMPORT = "at import"


class Change(NamedTuple):
    """A change of one decision of a module's code.

    Attributes:
        function: the function it is in, by its qualified name; ``AT_IMPORT`` for what runs when the module is imported.
        text: the code before and after, which tells it from the other changes of that function.
        make: makes it in the syntax tree that it is of.
        weight: small for those that say more.
    """

    function: str
    text: str
    make: Callable[[], None]
    weight: int


def _set(node: ast.AST, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


def _left_out(node: ast.AST) -> Callable[[], None]:
    def make() -> None:
        node.__class__ = ast.Pass

    return make


def _without_last(node: ast.Dict) -> Callable[[], None]:
    keys, values = node.keys[:-1], node.values[:-1]

    def make() -> None:
        node.keys, node.values = keys, values

    return make


def _backwards(items: ast.expr) -> ast.expr:
    """An expression for the same items in the other order."""
    listed = ast.Call(ast.Name("list", ast.Load()), [items], [])
    return ast.Subscript(listed, ast.Slice(step=ast.Constant(-1)), ast.Load())


def _target(node: ast.Assign | ast.AnnAssign) -> ast.expr:
    return node.targets[0] if isinstance(node, ast.Assign) else node.target


def _is_of_parts(target: ast.expr) -> bool:
    """Whether something is assigned to parts of objects alone."""
    if isinstance(target, ast.Tuple):
        return all(map(_is_of_parts, target.elts))
    return isinstance(target, (ast.Attribute, ast.Subscript))


def _alternatives(node: ast.AST) -> Iterator[tuple[str, Callable[[], None], int]]:
    """What else a node could be: the text of the change, what makes it, its weight."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        test = ast.unparse(node.test)
        yield f"if {test} -> never", _set(node, "test", ast.Constant(False)), 0
        yield f"if {test} -> always", _set(node, "test", ast.Constant(True)), 1
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield f"if {ast.unparse(node.ifs[0])} -> always", _set(node, "ifs", node.ifs[1:]), 1
    elif isinstance(node, ast.Compare):
        other = _OTHER[type(node.ops[0])]
        yield f"{ast.unparse(node)} -> {other.__name__}", _set(node, "ops", [other(), *node.ops[1:]]), 2
    elif isinstance(node, (ast.BoolOp, ast.BinOp, ast.AugAssign)) and type(node.op) in _OTHER:
        other = _OTHER[type(node.op)]
        yield f"{ast.unparse(node)} -> {other.__name__}", _set(node, "op", other()), 3
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield f"{ast.unparse(node)} -> plain", _set(node, "op", ast.UAdd()), 3
    elif (
        isinstance(node, (ast.Raise, ast.AugAssign, ast.Delete))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or (isinstance(node, ast.Assign) and _is_of_parts(node.targets[0]))
    ):
        yield f"{ast.unparse(node)} -> left out", _left_out(node), 4
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str)):
        value = node.value
        other_value = not value if isinstance(value, bool) else value + ("_" if isinstance(value, str) else 1)  # type: ignore[operator]
        yield f"{value!r} -> {other_value!r}", _set(node, "value", other_value), 5
        if isinstance(value, str) and (found := re.search(r"\b\d+\b", value)):
            counted = f"{value[: found.start()]}{int(found[0]) + 1}{value[found.end() :]}"
            yield f"{value!r} -> {counted!r}", _set(node, "value", counted), 5
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and isinstance(_target(node), ast.Name):
        yield f"{ast.unparse(node)} -> None", _set(node, "value", ast.Constant(None)), 8
    elif isinstance(node, ast.Dict) and node.keys:
        yield f"{ast.unparse(node)} -> without its last", _without_last(node), 6
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield f"{ast.unparse(node.iter)} -> backwards", _set(node, "iter", _backwards(node.iter)), 4
    elif isinstance(node, (ast.List, ast.Tuple)) and node.elts and isinstance(node.ctx, ast.Load):
        yield f"{ast.unparse(node)} -> without its last", _set(node, "elts", node.elts[:-1]), 6
        if len(node.elts) > 1:
            yield f"{ast.unparse(node)} -> backwards", _set(node, "elts", node.elts[::-1]), 6
    if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
        yield f"{ast.unparse(node)} -> None", _set(node, "value", ast.Constant(None)), 7
    if isinstance(node, ast.Call) and node.keywords:
        yield f"{ast.unparse(node)} -> without its last keyword", _set(node, "keywords", node.keywords[:-1]), 6
    if isinstance(node, ast.Call) and node.args and not isinstance(node.args[-1], ast.Starred):
        yield f"{ast.unparse(node)} -> its last argument", _set(node, "func", _LAST), 9


def _decisions(node: ast.AST, head: bool = False) -> Iterator[ast.AST]:
    """Nodes below ``node`` that something is decided by, not those of texts, types and decorators."""
    yield node
    for name, value in ast.iter_fields(node):
        skipped = name in ("annotation", "returns", "decorator_list", "type_comment", "args") and not isinstance(
            node, ast.Call
        )
        if skipped or isinstance(node, (ast.Raise, ast.JoinedStr)) or (head and name in ("body", "orelse")):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST) and not _is_text(each):
                yield from _decisions(each)


def _is_text(node: ast.AST) -> bool:
    """Whether it is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def changes(tree: ast.Module, about: ast.AST | None = None, only: str | None = None) -> list[Change]:
    """The changes of the code in functions, the telling ones first.

    Args:
        tree: of the module; ``make`` changes it.
        about: the definition or the statement whose changes are asked for, as in any tree of the module; of a statement
            that others stand below, those of its head. None for the whole module.
        only: the name of the function that is asked for.
    """
    found: list[Change] = []
    asked = None if about is None or isinstance(about, ast.Module) else _asked(tree, about)
    for name, node in [*definitions(tree), (AT_IMPORT, tree)]:
        if isinstance(node, ast.ClassDef) or (only is not None and name != only):
            continue
        if node is tree and asked is None and only is None:
            continue  # a function says more of a module than what stands around it
        inside = [each for _, each in definitions(node) if node is not tree or not isinstance(each, ast.ClassDef)]
        nested = {id(each) for inner in inside for each in ast.walk(inner)}
        seen: Counter[str] = Counter()
        statements = [each for each in node.body if not _is_text(each)]
        for decision in (each for statement in statements for each in _decisions(statement)):
            if id(decision) in nested:
                continue
            for text, make, weight in _alternatives(decision):
                seen[text] += 1
                if asked is None or id(decision) in asked:
                    counted = f"{text} ({seen[text]})" if seen[text] > 1 else text
                    found.append(Change(name, counted, make, weight))
    return sorted(found, key=lambda change: change.weight)


def _asked(tree: ast.Module, about: ast.AST) -> set[int]:
    """The decisions of a definition, or of a statement's head."""
    node = next(each for each in ast.walk(tree) if type(each) is type(about) and lines_of(each) == lines_of(about))
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return {id(each) for each in ast.walk(node)}
    return {id(each) for each in _decisions(node, head=True)}


def functions_of(path: str) -> dict[tuple[str, int], list[FunctionType]]:
    """The functions there are whose code is of a file, by their qualified names and first lines."""
    return _functions().get(path, {})


@cache
def _functions() -> dict[str, dict[tuple[str, int], list[FunctionType]]]:
    gc.unfreeze()  # what is frozen is not listed
    found: dict[str, dict[tuple[str, int], list[FunctionType]]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType:
            code = each.__code__
            found.setdefault(code.co_filename, {}).setdefault((code.co_qualname, code.co_firstlineno), []).append(each)
    return found


def install(tree: ast.Module, path: Path) -> int:
    """Gives the functions of a module the code of a changed syntax tree; how many functions changed."""
    count = 0
    live = functions_of(str(path))
    for code in _codes(compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)):
        for function in live.get((code.co_qualname, code.co_firstlineno), ()):
            if function.__code__.co_freevars == code.co_freevars and function.__code__ != code:
                function.__code__ = code
                count += 1
    return count


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def planted(module: str, function: str, text: str) -> int:
    """Makes a change for the rest of the process; how many functions have it.

    Raises:
        ValueError: the module has no such decision, or nobody uses the function.
    """
    for each in vars(importlib.import_module(module)).values():
        if hasattr(each, "cache_clear"):  # what earlier tests asked for came from the function without the change
            each.cache_clear()
    tree = parsed_anew(module)
    for change in changes(tree, only=function):
        if change.text == text:
            change.make()
            count = install(tree, MODULES[module])
            if not count:  # the module was imported after the functions were listed
                _functions.cache_clear()
                count = install(tree, MODULES[module])
            if count:
                return count
    raise ValueError(f"{module}: {function} has no {text!r}")


def parsed_anew(module: str) -> ast.Module:
    """The syntax tree of a module, for one change."""
    return ast.parse(MODULES[module].read_bytes())


def lines_of(node: ast.AST) -> tuple[int, int]:
    """The first and the last line of a definition or a statement; all of a module."""
    return getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 10**9
