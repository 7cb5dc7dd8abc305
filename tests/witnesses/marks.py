"""Facts that the code says were measured, wherever they stand: in a docstring, or in a comment at a statement."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.architecture.source import MODULES, parsed

#: packages whose "measured" is a fact about MindSpore; elsewhere the word is about what a comparison does
ROOMS = (
    "harness.backends", "harness.capture", "harness.compare.unwritten", "harness.devices", "harness.dump",
    "harness.framework", "harness.graph", "harness.log", "harness.memory", "harness.rdr", "harness.recording.operands",
    "harness.stats.printed", "harness.stats.statistics",
)  # fmt: skip
_FACT = re.compile(
    r"(?<!not )(?<!were )(?<!device was )\b[Mm]easured\b(?! graphs)|\bwas recorded from|\bas recorded\b|\(recorded:"
)
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Mark(NamedTuple):
    """One fact that is said to be measured.

    Attributes:
        module: by its dotted name.
        place: the definition or the constant that it is about, and ``#2`` for a second one there; empty for the module.
        node: what says it in code: the definition, or the statement.
        line: of the docstring's definition, or of the comment.
    """

    module: str
    place: str
    node: ast.AST
    line: int

    @property
    def is_table(self) -> bool:
        """Whether it is about a constant of a module or a class."""
        return isinstance(self.node, (ast.Assign, ast.AnnAssign)) and "#" not in self.place and _is_constant(self)


def _is_constant(mark: Mark) -> bool:
    return any(node is mark.node for _, node in _constants(parsed(MODULES[mark.module])))


def says(text: str) -> bool:
    """Whether a comment or a docstring says that something was measured."""
    return _FACT.search(" ".join(text.split())) is not None


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Classes and functions below ``tree`` by their qualified names, as code objects have them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield f"{prefix}{node.name}", node
            yield from definitions(node, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", node
            yield from definitions(node, f"{prefix}{node.name}.<locals>.")
        else:
            yield from definitions(node, prefix)


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Assignments at the level of the module or of its classes, by their qualified names."""
    levels: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    levels += [(f"{name}.", node.body) for name, node in definitions(tree) if isinstance(node, ast.ClassDef)]
    for prefix, body in levels:
        for node in body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and getattr(node, "value", None) is not None:
                yield f"{prefix}{target.id}", node


def _comments(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Blocks of comments: first and last line, the text, whether each stands alone in its line."""
    block: tuple[int, int, str, bool] | None = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, alone = token.start[0], token.line.lstrip().startswith("#")
        words = token.string.lstrip("#: ")
        if block is not None and alone and block[3] and block[1] == line - 1:
            block = (block[0], line, f"{block[2]} {words}", True)
            continue
        if block is not None:
            yield block
        block = (line, line, words, alone)
    if block is not None:
        yield block


def _statement(tree: ast.Module, first: int, last: int, alone: bool) -> ast.stmt | None:
    """The statement a comment is about: the one it stands in or beside, else the next."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    inside = [
        node for node in statements if node.lineno <= first <= (node.end_lineno or 0) and not hasattr(node, "body")
    ]
    heads = [
        node
        for node in statements
        if not alone and hasattr(node, "body") and node.lineno <= first < node.body[0].lineno
    ]  # fmt: skip
    for found in (inside, heads):
        if found:
            return max(found, key=lambda node: node.lineno)
    after = [node for node in statements if node.lineno > last]
    return min(after, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


def said(text: str, tree: ast.Module) -> Iterator[str]:
    """The docstrings and the comments of a module."""
    yield from (ast.get_docstring(node) or "" for node in (tree, *(node for _, node in definitions(tree))))
    yield from (words for _, _, words, _ in _comments(text))


def marks_of(module: str, text: str, tree: ast.Module) -> Iterator[Mark]:
    """The facts of one module, in the order of its lines."""
    found: list[tuple[int, str, ast.AST]] = []
    named: list[tuple[str, Definition]] = [("", tree), *definitions(tree)]
    for name, node in named:
        if says(ast.get_docstring(node) or ""):
            found.append((getattr(node, "lineno", 1), name, node))
    constants = list(_constants(tree))
    for first, last, words, alone in _comments(text):
        if not says(words):
            continue
        statement = _statement(tree, first, last, alone)
        assert statement is not None, f"{module}:{first}: a comment about nothing"
        around = [name for name, node in constants if node is statement]
        around += [
            name for name, node in reversed(named[1:]) if node.lineno <= statement.lineno <= (node.end_lineno or 0)
        ]
        found.append((first, around[0] if around else "", statement))
    counted: Counter[str] = Counter()
    for line, name, node in sorted(found, key=lambda each: (each[0], each[1])):
        counted[name] += 1
        yield Mark(module, f"{name} #{counted[name]}" if counted[name] > 1 else name, node, line)


@cache
def marks() -> list[Mark]:
    """Every fact of both packages that is said to be measured."""
    found = []
    for module, path in MODULES.items():
        text = path.read_text(encoding="utf-8")
        if f"{module}.".startswith(tuple(f"{room}." for room in ROOMS)) and says(text):
            found += marks_of(module, text, parsed(path))
    return found
