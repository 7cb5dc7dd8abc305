"""Sizes, docstrings, and words that the source must not contain."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.architecture.source import MODULES, ROOT, parsed, table

LINES_OF_A_FILE = 600
LINES_OF_A_FUNCTION = 40
EXCEPTIONS = {where.strip("`"): int(lines) for where, lines, _ in table("budget")}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def functions(path: Path) -> dict[str, int]:
    """Lines of every function of a file, without its docstring, by ``file:name``."""
    sizes = {}
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                size -= (first.end_lineno or first.lineno) - first.lineno + 1
            sizes[f"{relative(path)}:{node.name}"] = size
    return sizes


def test_files_and_functions_keep_to_the_budget() -> None:
    wrong = []
    for path in MODULES.values():
        lines = len(path.read_bytes().splitlines())
        if lines > EXCEPTIONS.get(relative(path), LINES_OF_A_FILE):
            wrong.append(f"{relative(path)}: {lines} lines")
        wrong += [
            f"{where}: {size} lines"
            for where, size in functions(path).items()
            if size > EXCEPTIONS.get(where, LINES_OF_A_FUNCTION)
        ]
    assert not wrong, "\n".join(wrong)


def test_exceptions_of_the_budget_are_needed() -> None:
    sizes = {relative(path): len(path.read_bytes().splitlines()) for path in MODULES.values()}
    for path in MODULES.values():
        sizes |= functions(path)
    for where, allowed in EXCEPTIONS.items():
        limit = LINES_OF_A_FUNCTION if ":" in where else LINES_OF_A_FILE
        assert limit < sizes.get(where, 0) <= allowed, f"{where} needs no exception, or is gone"


def test_modules_say_what_they_are_for() -> None:
    silent = [name for name, path in MODULES.items() if not ast.get_docstring(parsed(path))]
    assert not silent, f"without a docstring: {silent}"


def test_nothing_is_unpickled() -> None:
    wrong = []
    for name, path in MODULES.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == "pickle" for alias in node.names):
                wrong.append(f"{name}:{node.lineno} imports pickle")
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pickle":
                wrong.append(f"{name}:{node.lineno} imports from pickle")
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
                wrong.append(f"{name}:{node.value.lineno} allows pickles")
    assert not wrong, "\n".join(wrong)


def test_no_unfinished_work_is_marked_in_the_source() -> None:
    words = ("TO" + "DO", "FIX" + "ME", "X" + "XX")
    wrong = [
        f"{name}:{number}"
        for name, path in MODULES.items()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if any(word in line for word in words)
    ]
    assert not wrong, wrong
