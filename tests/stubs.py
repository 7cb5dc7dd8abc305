"""Writes what editors and mypy know of MindSpore's names: ``stubs/harness-stubs/``, a stub package for ``harness``.

The names are found lazily at run time, so a type checker would take each for ``Any``. A stub names the module of ours
that defines it; what has no such home is told by its kind. ``python -m tests.stubs`` writes the files, and a test
compares.
"""

from __future__ import annotations

import inspect
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import harness
from harness.framework import names

FOLDER = Path(__file__).parents[1] / "stubs" / "harness-stubs"
HEAD = "# Written by `python -m tests.stubs`.\n"
_CLASS = """class {name}:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ..."""
_LAZY = ("", "amp", "common", "dataset", "mint", "nn", "numpy", "ops", "train")


def files() -> dict[str, str]:
    """Every file of the package and its text, by path below ``FOLDER``."""
    modules = [each for each in names.modules() if each.partition(".")[0] not in harness._ROOMS]
    packages = {"", *(each.rpartition(".")[0] for each in modules if "." in each)}
    found = {"py.typed": "partial\n"}
    for module in modules:
        text = "\n".join(sorted(set(_module(module, modules)), key=_order)) + "\n"
        if not text.strip() and module not in packages:
            continue
        found[_file(module, packages)] = HEAD + ("from typing import Any\n" if "Any" in text else "") + text
    for module in _LAZY:
        ours = f"{names.OURS}.{module}".rstrip(".")
        if "__getattr__" in vars(sys.modules[ours]):
            place = f"framework/{module.replace('.', '/')}".rstrip("/")
            found[f"{place}/__init__.pyi"] = HEAD + f"from harness.{module} import *\n".replace(". import", " import")
    return found


def _file(module: str, packages: set[str]) -> str:
    path = module.replace(".", "/")
    return f"{path}/__init__.pyi".lstrip("/") if module in packages else f"{path}.pyi"


def _order(line: str) -> tuple[bool, str]:
    return not line.startswith("from "), line


def _module(module: str, modules: list[str]) -> Iterator[str]:
    held = names.load(module)
    public = set(names.members(module)) | (set(dir(harness)) - set(harness._ROOMS) if not module else set())
    for name in sorted(each for each in public if each.isidentifier() and not each.startswith("_")):
        place = harness if not module else held
        try:
            value = getattr(place, name)
        except AttributeError:
            continue
        if not names.is_absent(value):
            yield from _told(module, name, value, modules)


def _told(module: str, name: str, value: Any, modules: list[str]) -> Iterator[str]:
    if isinstance(value, ModuleType):
        where = value.__name__.removeprefix(names.OURS).lstrip(".")
        lead, _, leaf = (f"harness.{where}" if where in modules else value.__name__).rpartition(".")
        if leaf and where in modules and (not module or where.startswith(f"{module}.")):
            yield f"from {lead} import {leaf} as {name}"
        return
    home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if inspect.isclass(value) or inspect.isroutine(value):
        if _is_there(value, home, own):
            yield f"from {home} import {own} as {name}"
        elif inspect.isclass(value):
            yield _CLASS.format(name=name)
        else:
            yield f"def {name}({_parameters(value)}) -> Any: ..."
        return
    kind = type(value)
    if kind.__module__ == "builtins" and kind in (int, float, str, bool):
        yield f"{name}: {kind.__name__}"
    elif _is_there(kind, kind.__module__, kind.__qualname__):
        yield f"from {kind.__module__} import {kind.__qualname__} as _{kind.__qualname__.lstrip('_')}"
        yield f"{name}: _{kind.__qualname__.lstrip('_')}"
    else:
        yield f"{name}: Any"


def _is_there(value: Any, home: str | None, own: str | None) -> bool:
    """Whether a type checker finds ``value`` in a module of ours under this name."""
    found = sys.modules.get(home or "")
    if home is None or found is None or not home.startswith("harness.") or not getattr(found, "__file__", ""):
        return False
    return vars(found).get(own or "") is value


def _parameters(function: Any) -> str:
    """The parameters of a function that is made at run time: their names, no types."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "*given: Any, **named: Any"
    lead = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parts: list[str] = []
    for each in given:
        if each.kind is each.POSITIONAL_ONLY:
            return "*given: Any, **named: Any"
        if each.kind is each.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        default = "" if each.default is each.empty else " = ..."
        parts.append(f"{lead.get(each.kind, '')}{each.name}: Any{default}")
    return ", ".join(parts)


def write() -> None:
    """Rewrites the package."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, text in files().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
