"""A plugin of pytest (``-p tests.witnesses.seen --facts-seen FILE``): notes which tests run the code of which facts."""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import MODULES, parsed
from tests.witnesses.changes import install, lines_of, parsed_anew
from tests.witnesses.marks import Mark, definitions, marks

_HITS: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--facts-seen", default=None)


def users_of(name: str) -> dict[str, set[str]]:
    """Functions that mention ``name``, by their modules."""
    found: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        if name in path.read_text(encoding="utf-8"):
            for qualified, node in definitions(parsed(path)):
                if any(getattr(each, "id", getattr(each, "attr", None)) == name for each in ast.walk(node)):
                    found.setdefault(module, set()).add(qualified)
    return found


def wanted() -> dict[str, set[str]]:
    """Of each module the functions whose runs are noted; an empty text for all of them."""
    found: dict[str, set[str]] = {}
    for mark in marks():
        if mark.is_table:
            for module, names in users_of(mark.place.rpartition(".")[2]).items():
                found.setdefault(module, set()).update(names)
        else:
            found.setdefault(mark.module, set()).add(mark.place.partition(" #")[0])
    return found


def instrument() -> None:
    """Has the functions and statements of facts say that they run."""
    builtins.__dict__["__fact_runs__"] = _HITS.add
    statements: dict[str, list[Mark]] = {}
    for mark in marks():
        if isinstance(mark.node, ast.stmt) and not isinstance(mark.node, (ast.ClassDef, ast.FunctionDef)):
            statements.setdefault(mark.module, []).append(mark)
    functions = wanted()
    for module in functions:  # those that are loaded when they are used first, too
        with suppress(ImportError):  # needs a package that is not here
            importlib.import_module(module)
    for module, names in functions.items():
        tree = parsed_anew(module)
        for mark in statements.get(module, ()):
            _before(tree, mark)
        for name, node in definitions(tree):
            is_asked = "" in names or name in names or any(name.startswith(f"{each}.") for each in names)
            if is_asked and not isinstance(node, ast.ClassDef):
                node.body.insert(0, _say(f"{module}: {name}", node.body[0]))
        if not install(tree, MODULES[module]):
            print(f"nothing of {module} is instrumented")


def _say(key: str, at: ast.stmt) -> ast.stmt:
    call = ast.parse(f"__fact_runs__({key!r})").body[0]
    for node in ast.walk(call):
        ast.copy_location(node, at)
    return call


def _before(tree: ast.Module, mark: Mark) -> None:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and not isinstance(node, (ast.Module, ast.ClassDef)):
                for at, each in enumerate(body):
                    if lines_of(each) == lines_of(mark.node) and type(each) is type(mark.node):
                        body.insert(at, _say(f"{mark.module}: {mark.place} @", each))
                        return


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Once everything is imported."""
    if session.config.getoption("--facts-seen"):
        instrument()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Notes one test: its id, its seconds, what of the facts it ran."""
    path = item.config.getoption("--facts-seen")
    _HITS.clear()
    begun = time.monotonic()
    done = yield
    if path and _HITS:
        with Path(path).open("a") as out:
            out.write(json.dumps([item.nodeid, round(time.monotonic() - begun, 3), sorted(_HITS)]) + "\n")
    return done
