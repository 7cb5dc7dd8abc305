"""``msdump run --missing``: lists the MindSpore names that a script uses and that are not supported. Nothing is run."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from harness.cli.importing import REAL, place
from harness.errors import HarnessError
from harness.framework import names
from harness.reading import read_bytes
from harness.words import counted


class Missing(NamedTuple):
    """A place in a file, and the unsupported name there."""

    line: int
    told: str


#: what a name means in a scope: a dotted name of MindSpore's, or None for anything else
Scope = dict[str, str | None]
#: a larger file is not a script
_MAX_BYTES = 64 << 20
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def list_missing(paths: Sequence[str]) -> int:
    """Prints every unsupported name of the scripts (of every ``.py`` file, for a directory) with file and line.

    Returns:
        0 if there is none, 1 if there are some, 2 if a file cannot be read or is not Python.
    """
    found = files = with_some = unread = 0
    for path in _files(paths):
        files += 1
        try:
            lines = missing_of(read_bytes(path, _MAX_BYTES, HarnessError))
        except (HarnessError, SyntaxError, ValueError, RecursionError) as error:
            unread += 1
            print(_plain(f"msdump: {path}: {str(error).removeprefix(f'{path}: ')}"), file=sys.stderr)
            continue
        found, with_some = found + len(lines), with_some + bool(lines)
        for line, told in lines:
            print(_plain(f"{path}:{line}: {told}"))
    if not files:
        print("msdump: no Python file is given", file=sys.stderr)
        return 2
    print(f"{counted(found, 'unsupported name')} in {with_some} of {counted(files, 'file')}")
    return 2 if unread else 1 if found else 0


def _plain(text: str) -> str:
    """``text`` in one line, safe for a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _files(paths: Sequence[str]) -> Iterator[Path]:
    for given in paths:
        path = Path(given)
        yield from sorted(p for p in path.rglob("*.py") if p.is_file()) if path.is_dir() else (path,)


def missing_of(source: bytes) -> list[Missing]:
    """The unsupported names of a source text in the order of lines, each once per line."""
    tree = ast.parse(source)
    finder = _Finder()
    finder.scope(tree)
    return sorted(set(finder.found))


class _Finder(ast.NodeVisitor):
    """Follows imports and aliases through the scopes of a file."""

    def __init__(self) -> None:
        self.found: list[Missing] = []
        self.scopes: list[Scope] = []
        self.in_class: list[bool] = []
        self.stars: list[str] = []

    def scope(self, node: ast.AST) -> None:
        """Visits a module, class or function with the names it binds."""
        bound: Scope = {}
        self.scopes.append(bound)
        self.in_class.append(isinstance(node, ast.ClassDef))
        for inner in _own_nodes(node):
            self._bind(inner, bound)
        for child in ast.iter_child_nodes(node):
            self.visit(child)
        self.scopes.pop()
        self.in_class.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = scope

    def _bind(self, node: ast.AST, bound: Scope) -> None:
        if isinstance(node, ast.Import):
            for name in node.names:
                whole = name.asname is not None
                bound[name.asname or name.name.partition(".")[0]] = _ours(
                    name.name if whole else name.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            self._bind_from(node, bound)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, self._dotted(node.value))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.setdefault(node.id, None)
        elif isinstance(node, ast.arg):
            bound[node.arg] = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.setdefault(node.name, None)

    def _bind_from(self, node: ast.ImportFrom, bound: Scope) -> None:
        for name in node.names:
            ours = _ours(node.module) if node.module and not node.level else None
            if name.name == "*" and ours is not None:
                self.stars.append(ours)
            bound[name.asname or name.name] = f"{ours}.{name.name}" if ours is not None else None

    def _dotted(self, node: ast.AST) -> str | None:
        """The dotted MindSpore name that an expression refers to, or None."""
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value)
            return None if base is None else f"{base}.{node.attr}"
        if not isinstance(node, ast.Name):
            return None
        for bound in self._visible():
            if node.id in bound:
                return bound[node.id]
        star = [s for s in self.stars if node.id in names.members(place(s))]
        return f"{star[0]}.{node.id}" if star and not hasattr(builtins, node.id) else None

    def _visible(self) -> Iterator[Scope]:
        """The scopes to search for a name, the innermost first; a class scope counts only inside the class body."""
        last = len(self.scopes) - 1
        return (self.scopes[i] for i in range(last, -1, -1) if i == last or not self.in_class[i])

    def visit_Import(self, node: ast.Import) -> None:
        """``import mindspore.x``."""
        for name in node.names:
            if _ours(name.name) is not None:
                self._check(node.lineno, name.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """``from mindspore.x import y``."""
        ours = _ours(node.module) if node.module and not node.level else None
        if ours is not None:
            for name in node.names:
                self._check(node.lineno, ours if name.name == "*" else f"{ours}.{name.name}", ours)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """``ms.x.y``; the whole chain, once."""
        dotted = self._dotted(node)
        if dotted is None:
            self.generic_visit(node)
        else:
            self._check(node.lineno, dotted)

    def visit_Name(self, node: ast.Name) -> None:
        """A name that a star import gave."""
        if isinstance(node.ctx, ast.Load) and not any(node.id in bound for bound in self._visible()):
            dotted = self._dotted(node)
            if dotted is not None:
                self._check(node.lineno, dotted)

    def _check(self, line: int, dotted: str, module: str = "") -> None:
        told = unsupported(dotted, module)
        if told:
            self.found.append(Missing(line, told))


def _ours(name: str | None) -> str | None:
    return name if name is not None and name.partition(".")[0] == REAL else None


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of inner scopes (but with the statements that bind the inner scopes'
    names)."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)


def unsupported(dotted: str, module: str = "") -> str:
    """Says why ``mindspore.nn.Dense`` (or a longer chain of attributes) is not supported; empty if it is.

    Args:
        dotted: the dotted name.
        module: the part of it that must be a module, for ``from module import name``.
    """
    at: str | None = place(module) if module else ""
    try:
        found: object = names.load(at or "")
        for attribute in dotted.removeprefix(module or REAL).lstrip(".").split("."):
            if not attribute:
                continue
            child = None if at is None else place(f"{REAL}.{at}.{attribute}".replace("..", "."))
            if child is not None and names.is_module(child):
                found, at = names.load(child), child
                continue
            found = getattr(found, attribute)
            if names.is_absent(found):
                return names.refusal(at or "", attribute)
            at = _place_of(found)
    except (AttributeError, ModuleNotFoundError) as error:
        # An attribute of an object that is not a module may be the user's own.
        return "" if at is None else str(error)
    return ""


def _place_of(found: object) -> str | None:
    """The MindSpore module that one of our modules stands for; None for any other object."""
    ours = getattr(found, "__name__", "") if isinstance(found, ModuleType) else ""
    found_at = ours.removeprefix(names.OURS).lstrip(".")
    return found_at if ours.startswith(names.OURS) and names.is_module(found_at) else None
