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
    """Private names that a module asks for by their text, which mypy does not see: ``getattr(x, "_y")``,
    ``vars(x)["_y"]``, ``x.__dict__.get("_y")``."""
    found = []
    for node in ast.walk(tree):
        asked: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            asked = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            asked = node.args[1] if node.func.id in ("getattr", "hasattr", "setattr", "delattr") else None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            asked = node.args[0] if node.func.attr in ("get", "pop", "setdefault", "__getattribute__") else None
        text = asked.value if isinstance(asked, ast.Constant) else None
        if isinstance(text, str) and text.startswith("_") and not text.startswith("__"):
            found.append(text)
    return found


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getattr(x, '_scope', None); getattr(x, '__call__'); getattr(x, name)", ["_scope"]),
        ("vars(x)['_scope']; x['scope']; x[0]", ["_scope"]), ("x.__dict__.get('_scope', {})", ["_scope"]),
        ("setattr(x, '_scope', 1)", ["_scope"]), ("x._scope", []), ("x.get('scope')", []),
    ],
)  # fmt: skip
def test_a_private_name_is_seen(text: str, found: list[str]) -> None:
    assert private(ast.parse(text)) == found
