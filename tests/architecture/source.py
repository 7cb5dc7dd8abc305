"""The input of the architecture tests: the modules of both packages and the tables of ``docs/architecture.md``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGES = ("harness", "pytest_msdump")


def table(name: str) -> list[list[str]]:
    """Rows of the table that follows ``<!-- name -->``, without its two head lines."""
    lines = PAGE.read_text(encoding="utf-8").split(f"<!-- {name} -->\n", 1)[1].splitlines()
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[2:]


def modules() -> dict[str, Path]:
    """Every module of both packages, by dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@dataclass(frozen=True)
class Import:
    """One import of a module of ours.

    Attributes:
        source: the module that imports.
        target: the module imported.
        line: where.
        lazy: inside a function.
        typing_only: under ``if TYPE_CHECKING``.
        by_string: no import statement, but a text that names the module.
    """

    source: str
    target: str
    line: int
    lazy: bool
    typing_only: bool
    by_string: bool = False

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file; each is parsed once."""
    return ast.parse(path.read_bytes())


def _targets(node: ast.Import | ast.ImportFrom, source: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        anchor = source if MODULES[source].name == "__init__.py" else source.rpartition(".")[0]
        for _ in range(node.level - 1):
            anchor = anchor.rpartition(".")[0]
        base = f"{anchor}.{base}".rstrip(".")
    for alias in node.names:
        name = f"{base}.{alias.name}"
        yield name if name in MODULES else base


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes right below ``node`` but for names and their contexts: half the time of ``ast.iter_child_nodes``."""
    for value in vars(node).values():
        for each in value if type(value) is list else (value,):
            if isinstance(each, ast.AST) and not isinstance(each, (ast.Name, ast.expr_context)):
                yield each


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Constants and imports below ``tree``; whether each stands in a function, and under ``if TYPE_CHECKING``."""
    waiting = [(tree, False, False)]
    while waiting:
        node, lazy, typing_only = waiting.pop()
        lazy = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        typing_only = typing_only or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in set(map(_name, ast.walk(node.test)))
        )
        for child in _children(node):
            if isinstance(child, (ast.Constant, ast.Import, ast.ImportFrom)):  # with nothing below them that matters
                yield child, lazy, typing_only
            else:
                waiting.append((child, lazy, typing_only))


def _name(node: ast.AST) -> str:
    """``a`` of ``a`` and of ``x.y.a``; empty for anything else."""
    return getattr(node, "attr", getattr(node, "id", ""))


_NAME = re.compile(r"(?:harness|pytest_msdump)(?:\.\w+)+")


def _named(text: str) -> str | None:
    """The module that ``harness.dtypes:float16`` or the beginning of an f-string names."""
    found = _NAME.match(text)
    name = found[0] if found and found.end() + 1 >= len(text.partition(":")[0]) else ""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name if "." in name else None


def imports_of(source: str, tree: ast.Module) -> Iterator[Import]:
    """Every import of one of our modules by the module ``source`` with this syntax tree."""
    for node, lazy, typing_only in _walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            target = _named(node.value)
            if target is not None and target != source:
                yield Import(source, target, node.lineno, lazy, typing_only, by_string=True)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for target in _targets(node, source):
                if target.partition(".")[0] in PACKAGES and target != source:
                    yield Import(source, target, node.lineno, lazy, typing_only)


@cache
def imports() -> list[Import]:
    """Every import of one of our modules by another: inside functions, for types, and by a text that names it."""
    return [found for source, path in MODULES.items() for found in imports_of(source, parsed(path))]


def computed_imports(tree: ast.Module) -> Iterator[int]:
    """Lines that import a module whose whole name no text states, so that ``imports_of`` may not see it."""
    for node in ast.walk(tree):
        called = _name(node.func) if isinstance(node, ast.Call) else ""
        if called.strip("_") in ("import_module", "import") and isinstance(node, ast.Call):
            name = node.args[0] if node.args else None
            stated = isinstance(name, ast.Constant) and isinstance(name.value, str) and not name.value.startswith(".")
            if not stated or name.value in PACKAGES:
                yield node.lineno
