"""Frames and closures are read in one module of the framework; what its own wrappers know is handed over."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source import MODULES, parsed

#: what only ``harness.framework.frames`` asks of a frame, a traceback or a closure
OF_FRAMES = frozenset(
    {
        "_getframe", "__closure__", "cell_contents", "currentframe", "f_back", "f_builtins", "f_code", "f_globals",
        "f_lasti", "f_lineno", "f_locals", "tb_frame", "tb_lasti", "tb_lineno", "tb_next",
    }
)  # fmt: skip
READER = "harness.framework.frames"


def read(tree: ast.AST) -> set[str]:
    """What a module asks of frames, as an attribute or by its name in a text."""
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return found & OF_FRAMES


def private(tree: ast.AST) -> list[str]:
    """Private names that a module asks for by their text, which mypy does not see."""
    return [
        node.args[1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value.startswith("_")
        and not node.args[1].value.startswith("__")
    ]


def test_one_module_of_the_framework_reads_frames() -> None:
    there = {name for name, path in MODULES.items() if name.startswith("harness.framework") and read(parsed(path))}
    assert there == {READER}


def test_the_compiler_asks_for_no_private_name_by_its_text() -> None:
    wrong = {
        name: found
        for name, path in MODULES.items()
        if name.startswith(("harness.framework.compile", "harness.framework.tensor.dispatch"))
        and (found := private(parsed(path)))
    }
    assert not wrong


@pytest.mark.parametrize(
    ("text", "found"),
    [("x.f_locals", {"f_locals"}), ("getattr(x, 'f_back')", {"f_back"}), ("x.f()", set()), ("f_back = 1", set())],
)
def test_a_read_is_seen(text: str, found: set[str]) -> None:
    assert read(ast.parse(text)) == found


def test_a_private_name_is_seen() -> None:
    assert private(ast.parse("getattr(x, '_scope', None); getattr(x, '__call__'); getattr(x, name)")) == ["_scope"]
